"""Tests the operator language: syntax, types, the records that calls select, and the printed C++."""

from __future__ import annotations

import pytest

from codegen import base_types
from codegen.answers import Gives, RulePrograms
from codegen.definitions import Definitions
from codegen.errors import Location, TextError
from codegen.model import Op, OperatorCall, called_in
from codegen.program import Program, parse
from codegen.program_functions import INTEGERS, TENSOR, TENSORS
from codegen.resolve import Scope, resolve
from codegen.targets.runtime.programs import function_of
from codegen.types import Type
from tests.codegen.conftest import REPOSITORY

AT = Location("x.yaml", 1, 1)
NAMES = {
    "input": TENSOR,
    "others": TENSORS,
    "n": Type(base_types.INT),
    "dim": Type(base_types.DIM),
    "dims": INTEGERS,
    "m": Type(base_types.INT, optional=True),
    "mode": Type(base_types.STR),
    "keep": Type(base_types.BOOL),
    "p": Type(base_types.FLOAT),
}


@pytest.fixture(scope="module")
def known() -> Definitions:
    from codegen.load import definition_files, load

    return load(definition_files(REPOSITORY), REPOSITORY)


def resolved(text: str, definitions: Definitions, *results: Type) -> Program:
    return resolve(parse(text, AT), Scope(NAMES, definitions.overloads, frozenset(NAMES)), results or (TENSOR,))


@pytest.mark.parametrize(
    ("text", "offset", "says"),
    [
        ("exp(inptu)", 4, "unknown name 'inptu'; did you mean 'input'?"),
        ("a, b = exp(input)\nreturn a", 7, "exp has 1 result, not 2"),
        ("a, b = n + 1\nreturn a", 7, "expected a call of an operator with 2 results"),
        ("exp(sort(input))", 4, "expected one value, but sort has 2 results"),
        ("[exp(input) for i in n]", 21, "expected a list, got int"),
        ("exp(input) if keep else n", 0, "an if statement chooses between tensors"),
        ("roll(input, n if keep else mode)", 12, "the values of a conditional have the types int and str"),
        ("for x in others: check(n, ShapeError, 'x')\nreturn exp(input)", 23, "expected bool, got int"),
        ("for dim in dims: check(keep, ShapeError, 'x')\nreturn exp(input)", 11, "'dim' is a name already"),
        ("roll(input, 1 if n else 2)", 17, "expected bool, got int"),
        ("sum(input, dim / 2)", 11, "'/' is not allowed between int and int"),
        ("flatten(input, m)", 15, "start_dim of flatten must be dim"),
        ("narrow(input, dim, m + 1, n)", 19, "expected an integer or a float, got int?"),
        ("sizes(n)", 6, "expected Tensor, got int"),
        ("range(1, 2, 3, 4)", 0, "range takes 1 to 3 arguments"),
        ("given(others[0])", 0, "given takes the name of an argument"),
        ("exp(None)", 4, "input of exp must be Tensor"),
        ("x = None\nreturn exp(input)", 4, "None is allowed only as an argument of an operator"),
        ("check(mode == 1, ShapeError, 'x')\nreturn exp(input)", 6, "cannot compare str with int"),
        ("check(keep, ShapeError, 'got {nn}')\nreturn exp(input)", 0, "unknown name 'nn'; did you mean 'n'?"),
        ("if keep:\n  return exp(input)", 0, "the program does not end in a return"),
        ("return exp(input), exp(input)", 7, "returns 2 values for 1 result"),
        ("return others", 7, "expected a result of type Tensor, got Tensor[]"),
        ("[1, input]", 0, "the items of a list must have the same type"),
        ("for i in dims: pass", 15, "'pass' is not a statement of a program"),
        ("x = n\nx = 2\nreturn exp(input)", 10, "'x' is a name already"),
        ("x = n\nif keep:\n  x = 2.5\nreturn exp(input)", 21, "'x' is int, and cannot become float"),
        ("if keep:\n  x = n\nreturn roll(input, x)", 36, "'x' has a value in only one branch of the if statement"),
        (
            "if keep:\n  x = n\nelif n > 1:\n  y = 1\nelse:\n  x = 2\nreturn roll(input, x)",
            70,
            "'x' has a value in only one branch of the if statement",
        ),
        (
            "if keep:\n  x = n\nelse:\n  x = 2.5\nreturn mul(input, x)",
            51,
            "'x' has no value after the if statement, whose branches give it int and float",
        ),
        (
            "if keep:\n  x = m\nelse:\n  x = m\nreturn roll(input, x)",
            50,
            "'x' has no value after the if statement, whose branches give it int?",
        ),
        ("if given(m) or keep:\n  return roll(input, m)\nreturn input", 42, "shifts of roll must be int[]"),
        ("if keep:\n  x = 1\nelse:\n  x = 2\nx = 3\nreturn roll(input, x)", 35, "'x' is a name already"),
    ],
)
def test_mistakes_are_located(text: str, offset: int, says: str, known: Definitions) -> None:
    with pytest.raises(TextError) as caught:
        resolved(text, known)
    assert (caught.value.text, caught.value.offset) == (says, offset)


def test_calls_hold_the_overload_that_their_arguments_select(known: Definitions) -> None:
    program = resolved("add(max(input), sum(split(input, [n, 2])[0], dims))", known)
    assert [op.full_name for op in called_in(program)] == ["add", "max", "split.sizes", "sum"]
    outer = next(program.results)[0]
    assert isinstance(outer, OperatorCall)
    assert outer.op is known.by_name["add"]
    inner = outer.values[1]
    assert isinstance(inner, OperatorCall)
    assert inner.values[2] is None


def test_an_optional_argument_is_not_null_where_it_was_tested(known: Definitions) -> None:
    text = "if given(m):\n  return narrow(input, 0, m, n)\nreturn narrow(input, 0, m if given(m) else 0, n)"
    assert [op.full_name for op in called_in(resolved(text, known))] == ["narrow"]


PRINTED = [
    (
        "if given(m):\n  return narrow(input, 0, m, n)\nreturn narrow(input, 0, m + 1 if given(m) else 0, n)",
        (TENSOR,),
        """\
OF_COMPACT void f(ProgramBody& body) {
  const Tensor& input = body.tensor(0);
  const Integer n = body.integer(2);
  if (body.is_given(5)) {
    return body.give(body.call(narrow, input, 0, body.integer(5), n));
  }
  return body.give(body.call(narrow, input, 0, (body.is_given(5) ? body.integer(5) + 1 : Integer(0)), n));
}""",
    ),
    (
        "check(n >= 1, InvalidArgument, 'n must be at least 1, got {n}')\n"
        "length = size(input, dim)\n"
        "return [narrow(input, dim, start, min(n, length - start)) for start in range(0, length, n)]",
        (TENSORS,),
        """\
OF_COMPACT void f(ProgramBody& body) {
  const Tensor& input = body.tensor(0);
  const Integer n = body.integer(2);
  const Integer dim = body.integer(3);
  if (n < 1)
    fail_with(OF_INVALID_ARGUMENT, "n must be at least 1, got {}", n);
  const Integer length = size(input, dim);
  TensorList list;
  for (const Integer start : list.reserve_for(range(0, length, n)))
    list.push_back(body.call(narrow, input, dim, start, min(n, length - start)));
  return body.give(std::move(list));
}""",
    ),
    (
        "values, indices = sort(input, dim)\n"
        "for other in others:\n"
        "  check(sizes(other) == dims, ShapeError, 'got {sizes(other)}')\n"
        "if keep and not mode == 'x':\n"
        "  return cat([values, input], dim), indices\n"
        "else:\n"
        "  return values, indices",
        (TENSOR, TENSOR),
        """\
OF_COMPACT void f(ProgramBody& body) {
  const Tensor& input = body.tensor(0);
  const TensorSpan others = body.tensors(1);
  const Integer dim = body.integer(3);
  const Sizes dims = body.integers(4);
  const std::string_view mode = body.string(6);
  const bool keep = body.boolean(7);
  const auto [values, indices] = body.call<2>(sort, input, dim);
  for (const auto& other : others) {
    if (!same(sizes(other), dims))
      fail_with(OF_SHAPE_ERROR, "got {}", sizes(other));
  }
  if (keep && !(mode == "x")) {
    return body.give(body.call(cat, tensor_list(values, input), dim), std::move(indices));
  } else {
    return body.give(std::move(values), std::move(indices));
  }
}""",
    ),
    (
        "check(p > 0.5, InvalidArgument, 'p must be positive, got {p}')\n"
        "x = exp(input)\n"
        "if keep:\n"
        "  x = input\n"
        "return mul(x, 1.0 / p)",
        (TENSOR,),
        """\
OF_COMPACT void f(ProgramBody& body) {
  const Tensor& input = body.tensor(0);
  const bool keep = body.boolean(7);
  const double p = body.real(8);
  if (p <= 0.5)
    fail_with(OF_INVALID_ARGUMENT, "p must be positive, got {}", p);
  TensorRef x = body.call(exp, input);
  if (keep) {
    x = share(input);
  }
  return body.give(body.call(mul, std::move(x), 1.0 / p));
}""",
    ),
    (
        "check(given(m) and p > 0, InvalidArgument, 'm must be given')\n"
        "if n == 0:\n"
        "  length = m\n"
        "  x = input\n"
        "  unused = 1\n"
        "elif keep:\n"
        "  length = 2\n"
        "  x = exp(input)\n"
        "  unused = 2\n"
        "else:\n"
        "  length = n\n"
        "  x, places = sort(input)\n"
        "  x = exp(x)\n"
        "return narrow(x, 0, length, m)",
        (TENSOR,),
        """\
OF_COMPACT void f(ProgramBody& body) {
  const Tensor& input = body.tensor(0);
  const Integer n = body.integer(2);
  const bool keep = body.boolean(7);
  const double p = body.real(8);
  if (!(body.is_given(5) && p > 0))
    fail_with(OF_INVALID_ARGUMENT, "m must be given");
  Integer length;
  TensorRef x;
  if (n == 0) {
    length = body.integer(5);
    x = share(input);
    const Integer unused = 1;
  } else {
    if (keep) {
      length = 2;
      x = body.call(exp, input);
      const Integer unused = 2;
    } else {
      length = n;
      TensorRef places;
      assign(body.call<2>(sort, input), x, places);
      x = body.call(exp, x);
    }
  }
  return body.give(body.call(narrow, std::move(x), 0, std::move(length), body.integer(5)));
}""",
    ),
]


@pytest.mark.parametrize(("text", "results", "printed"), PRINTED)
def test_printed_functions(text: str, results: tuple[Type, ...], printed: str, known: Definitions) -> None:
    from dataclasses import replace

    from codegen.types import Argument

    def constant(op: Op) -> str:
        return op.full_name

    op = known.by_name["exp"]
    arguments = tuple(Argument(name, type_) for name, type_ in NAMES.items())
    op = replace(op, signature=replace(op.signature, arguments=arguments))
    programs = RulePrograms(Gives.RESULTS, (resolved(text, known, *results),), ("body",))
    assert function_of(op, programs, constant, "f").text == printed
