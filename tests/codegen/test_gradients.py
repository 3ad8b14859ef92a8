"""Tests the derivation of gradients: derivatives of scalar expressions, programs by kind, and the column `gradient`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from codegen.as_program import OperatorTable
from codegen.definitions import Definitions
from codegen.derivative import UnknownDerivative, derivative
from codegen.derive.gradients import From, gradient_lines, gradient_rules, saved_names
from codegen.derive.report import How, how, report
from codegen.errors import DefinitionError
from codegen.expression import Variable, parse_node
from codegen.kernels import ElementwiseKernel
from codegen.kinds.elementwise import Elementwise
from codegen.load import definition_files, load, load_text
from codegen.model import Op
from codegen.program import Program
from codegen.targets.cpu.printing import CpuPrinter
from codegen.types import Argument
from tests.codegen.conftest import REPOSITORY
from tests.codegen.test_intrinsics import evaluate


@pytest.fixture(scope="module")
def known() -> Definitions:
    return load(definition_files(REPOSITORY), REPOSITORY)


@pytest.mark.parametrize(
    "text",
    [
        "exp(2 * x)", "log(x) * y", "x / y", "y / x", "pow(x, y)", "x * x - y * x", "sin(x) * cos(y)", "tan(x + y)",
        "sqrt(x * y)", "rsqrt(x)", "atan2(x, y)", "tanh(x * y)", "sigmoid(x - y)", "expm1(x) / log1p(y)", "erf(x)",
        "erfc(x)", "asin(x / 3)", "acos(x / 3)", "atan(x)", "sinh(x)", "cosh(x)", "asinh(x)", "acosh(x + 1)",
        "atanh(x / 3)", "log2(x) + log10(x)", "exp2(x)", "x if x > y else y * y", "maximum(x, y) * minimum(x, y)",
        "abs(x - y)", "fmod(x, y)", "remainder(x, y)", "copysign(x, -y)", "-x * -y", "x + x + x", "floor(x) * x",
        "erfinv(x / 3)", "lgamma(x * y)", "digamma(x)", "zeta(3, x)", "i0(x) + i1(y)",
    ],
)  # fmt: skip
def test_derivatives_are_slopes(text: str) -> None:
    root = parse_node(text)
    for name in "xy":
        for x, y in ((0.7, 1.3), (1.9, 0.4)):
            found = derivative(root, name, "result")
            result = evaluate(root, {"x": x, "y": y})
            slope = evaluate(found, {"x": x, "y": y, "result": result})
            step = 1e-6
            high, low = ({"x": x, "y": y} | {name: {"x": x, "y": y}[name] + d} for d in (step, -step))
            expected = (evaluate(root, high) - evaluate(root, low)) / (2 * step)
            assert slope == pytest.approx(expected, rel=1e-6, abs=1e-8), (name, x, y)


def test_the_result_takes_the_place_of_the_whole_expression() -> None:
    assert derivative(parse_node("exp(x)"), "x", "result") == Variable("result")
    assert derivative(parse_node("1 / x"), "x", "result") == parse_node("-result / x")


def test_an_unknown_derivative_names_the_function() -> None:
    with pytest.raises(UnknownDerivative, match="the derivative of 'zeta' is not known"):
        derivative(parse_node("zeta(x, 2)"), "x")


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("sin", ["input: mul(grad, cos(input))"]),
        ("tan", ["input: mul(grad, add(1, mul(result, result)))"]),
        ("floor", ["input: zeros_like(grad)"]),
        ("where", ["input: where(condition, grad, 0)", "other: where(condition, 0, grad)"]),
        ("mean", ["input:", "  kept = kept_sizes(input, dim)", "  count = numel(input) // max(product(kept), 1)",
                  "  return expand(reshape(div(grad, count), kept), sizes(input))"]),
        ("cumsum", ["input: flip(cumsum(flip(grad, [dim]), dim), [dim])"]),
        ("argmax", ["none: no result depends smoothly on an argument"]),
        ("kron", ["that of the operators that it calls"]),
    ],
)  # fmt: skip
def test_gradients_by_kind(known: Definitions, name: str, lines: list[str]) -> None:
    assert list(gradient_lines(known.by_name[name], known)) == lines


def test_every_gradient_is_known(known: Definitions) -> None:
    missing = {
        op.full_name: dict(known.gradients[op.full_name].missing)
        for op in known.ops
        if known.gradients[op.full_name].missing and not op.kind.has_body
    }
    assert not missing


def test_only_what_is_read_is_kept(known: Definitions) -> None:
    (rule,) = gradient_rules(known.by_name["sum"], known)
    assert [(each.source, each.position, each.needs_elements) for each in rule.inputs] == [
        (From.GRADIENT, 0, True),
        (From.ARGUMENT, 0, False),
        (From.ARGUMENT, 1, False),
    ]


def test_numbers_may_take_the_place_of_tensors_where_a_program_allows_it(known: Definitions) -> None:
    product, power = known.gradients["mul"].ops["input"], known.gradients["pow"].ops["input"]
    assert str(product.signature.argument("other").type) == "Tensor|Number"  # type: ignore[union-attr]
    assert str(power.signature.argument("other").type) == "Tensor"  # type: ignore[union-attr]


def test_several_calls_over_elements_are_also_one_kernel(known: Definitions) -> None:
    tangent, sine, softmax = (known.gradients[name].ops["input"] for name in ("tan", "sin", "softmax"))
    (kernel,) = tangent.kind.kernels(tangent, CpuPrinter)
    assert isinstance(kernel, ElementwiseKernel)
    assert [each.value for each in kernel.results] == ["grad * (T(1) + result_ * result_)"]
    assert kernel.types == ("float", "double")
    assert not list(softmax.kind.kernels(softmax, CpuPrinter))
    elu = known.gradients["elu"].ops["input"]
    (kernel,) = elu.kind.kernels(elu, CpuPrinter)  # its program has a name for a value
    assert isinstance(kernel, ElementwiseKernel)
    assert [each.value for each in kernel.results] == [
        "maths::select(input > T(0), grad, grad * alpha * maths::exp(input > T(0) ? T(0) : input))"
    ]
    assert sine.kind.is_fused
    assert not known.gradients["mul"].ops["input"].kind.is_fused, "it is a single call"


@pytest.mark.parametrize(
    ("name", "saved"), [("sin", ["input"]), ("exp", ["result"]), ("mul", ["other", "input"]), ("add", []), ("sum", [])]
)
def test_what_a_call_keeps(known: Definitions, name: str, saved: list[str]) -> None:
    assert list(saved_names(known.by_name[name], known)) == saved


def test_the_report_has_a_reason_for_every_record(known: Definitions) -> None:
    found = Counter(how(op, known) for op in known.ops)
    assert found[How.UNKNOWN] == 0
    assert found[How.DETACHED] <= 20
    assert len(list(report(known))) == len(known.ops) + 1 + len(found)


RECORD = """\
- op: twice
  signature: "twice(Tensor input) -> Tensor"
  summary: Doubles each element.
  elementwise: "input + input"
  gradient:
{}
  dtype: {{accepts: floating, result: same}}
  oracle: torch.exp
  examples: [{{call: "twice([1.0])", gives: [2.0]}}]
  errors: [{{call: "twice([1])", raises: DTypeError, says: "twice: input must be a floating-point tensor, got int64"}}]
"""


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ("    why: none\n    inptu: grad", "unknown tensor argument 'inptu'; did you mean 'input'?"),
        ("    input: grad", "missing key 'why'"),
        ('    why: a test\n    input: "twice(grda)"', "unknown name 'grda'; did you mean 'grad'?"),
        ('    why: a test\n    input: "sizes(grad)"', "expected a result of type Tensor, got int[]"),
        ("    why: a test\n    input: {none: grad}", "the gradient of input must have one program, got those of none"),
    ],
)
def test_mistakes_in_the_column(column: str, says: str) -> None:
    with pytest.raises(DefinitionError) as found:
        load_text(RECORD.format(column))
    assert says in str(found.value)


def test_the_column_replaces_what_is_derived() -> None:
    definitions = load_text(RECORD.format('    why: a test\n    input: "twice(grad)"'))
    assert list(gradient_lines(definitions.by_name["twice"], definitions)) == ["input: twice(grad)"]


def test_kinds_are_asked_once_for_each_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    derived = Elementwise.adjoint

    def adjoint(kind: Elementwise, op: Op, argument: Argument, table: OperatorTable) -> Mapping[str | None, Program]:
        asked.append((op.full_name, argument.name))
        return derived(kind, op, argument, table)

    monkeypatch.setattr(Elementwise, "adjoint", adjoint)
    load(definition_files(REPOSITORY))
    assert ("atan2", "other") in asked
    assert len(asked) == len(set(asked))
