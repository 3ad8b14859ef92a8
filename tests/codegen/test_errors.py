"""Tests invalid definitions: every mistake is found and located, with a text that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.dtypes import DTypeSet
from codegen.errors import DefinitionError
from codegen.load import load, load_text

GOOD = """\
- op: halve
  signature: "halve(Tensor input, *, str mode='up') -> Tensor"
  summary: Half of each element.
  elementwise: "input * 0.5"
  dtype: {accepts: floating, result: same}
  oracle: numpy.halve
  examples:
    - call: "halve([1.0])"
      gives: [0.5]
  errors:
    - call: "halve('a')"
      raises: TypeMismatch
      says: "halve: input must be {Tensor}, got {str}"
"""

FOLD = """\
- op: total
  signature: "total(Tensor input, dim[]? dim=None, bool keepdim=False) -> Tensor"
  summary: Adds up.
  reduction:
    dims: dim
    keepdim: keepdim
    state: {total: "0"}
    pre: {total: "input"}
    combine: {total: "a.total + b.total"}
    post: "total"
  dtype: {accepts: any, result: accumulate}
  oracle: numpy.sum
  examples:
    - call: "total([1.0])"
      gives: 1.0
  errors:
    - call: "total([1.0], 1)"
      raises: IndexOutOfRange
      says: "total: dim must be between -1 and 0 for a tensor with 1 dimension, got 1"
"""


def problems(text: str) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        load_text(text, "x.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_unchanged_records_are_valid() -> None:
    assert [op.full_name for op in load_text(GOOD + FOLD).ops] == ["halve", "total"]


# Each row changes one part of a valid record: the old text, the new text, and the problems that follow.
HALVE = [
    # the record
    ("  summary: Half of each element.\n", "", "x.yaml:1:3: missing key 'summary'"),
    ("  summary:", "  sumary:", "x.yaml:1:3: missing key 'summary'\nx.yaml:3:3: unknown key 'sumary'; did you mean 'summary'?"),
    ("Half of each element.", "''", "x.yaml:3:12: expected a string, got nothing"),
    ("Half of each element.", "[a]", "x.yaml:3:12: expected a string, got a list"),
    ("  oracle:", "  sumary: 1\n  oracle:", "x.yaml:6:3: unknown key 'sumary'"),
    ("  oracle:", "  op: halve\n  oracle:", "x.yaml:6:3: duplicate key 'op'"),
    ("- op: halve", "- op: half", "x.yaml:2:15: the signature has the name 'halve', but the record has the name 'half'"),
    ("numpy.halve", "", "x.yaml:1:3: halve has no oracle: it needs 5 examples and cases, it has 1\nx.yaml:6:10: expected a string, got nothing"),
    ("  oracle: numpy.halve\n", "", "x.yaml:1:3: halve has no oracle: it needs 5 examples and cases, it has 1"),
    # the signature
    ("Tensor input", "Tenosr input", "x.yaml:2:21: unknown type 'Tenosr'; did you mean 'Tensor'?"),
    ("-> Tensor", "-> ", "x.yaml:2:56: expected a type, got the end"),
    ("Tensor input,", "Tensor(a!) input,", "x.yaml:2:15: a name must end in '_' if and only if a required argument is written to, as in Tensor(a!)\nx.yaml:2:21: an elementwise operator cannot share memory with an argument or write to one\nx.yaml:2:21: elementwise operators cannot write to an argument"),
    ("-> Tensor", "-> Tensor(a)", "x.yaml:2:56: an elementwise operator cannot share memory with an argument or write to one\nx.yaml:2:56: no argument has the alias 'a' of this result"),
    ("*, str mode='up'", "*, str out='up'", "x.yaml:2:38: 'out' is reserved for the tensor that results are written to"),
    ("-> Tensor", "-> Tensor mode", "x.yaml:2:38: 'mode' is also the name of a result"),
    ("  oracle:", "  overload: By Two\n  oracle:", "x.yaml:6:13: 'By Two' is not a name in snake_case"),
    ("  oracle:", "  offered_as: [halve]\n  oracle:", "x.yaml:6:16: 'halve' is a name of this record already"),
    ("  oracle:", "  offered_as: [a.b, a.b]\n  oracle:", "x.yaml:6:21: 'a.b' is a name of this record already"),
    ("  oracle:", "  offered_as: [halve.twice]\n  oracle:", "x.yaml:1:3: 'halve' is already the namespace of halve.twice"),
    # the kind
    ('  elementwise: "input * 0.5"\n', "", "x.yaml:1:3: no kind: expected one of the keys collective, composite, contraction, elementwise, gather, generator, native, reduction, scan, view"),
    ("  elementwise:", "  elementwise: 1\n  composite:", "x.yaml:5:3: a second kind 'composite', after 'elementwise'"),
    ("  elementwise:", "  elementwize:", "x.yaml:1:3: no kind: expected one of the keys collective, composite, contraction, elementwise, gather, generator, native, reduction, scan, view\nx.yaml:4:3: unknown key 'elementwize'; did you mean 'elementwise'?"),
    ("input * 0.5", "inptu * 0.5", "x.yaml:4:17: unknown name 'inptu'; did you mean 'input'?"),
    ("input * 0.5", "input * sqr(2)", "x.yaml:4:25: unknown function 'sqr'; did you mean 'sqrt'?"),
    ("input * 0.5", "input * sqrt(2, 3)", "x.yaml:4:25: sqrt takes 1 argument, got 2"),
    ("input * 0.5", "input * mode", "x.yaml:4:25: expected a number, got a string"),
    ("input * 0.5", "mode", "x.yaml:4:17: expected a number, got a string"),
    ("input * 0.5", "input & 1", "x.yaml:4:17: '&' is not allowed here: it requires integers: accept integral or bool"),
    ("input * 0.5", "input if given(index) else 0", "x.yaml:4:32: expected the name of an argument"),
    ("input * 0.5", "input *", "x.yaml:4:17: cannot parse the expression 'input *': invalid syntax"),
    ("input * 0.5", "", "x.yaml:4:17: expected an expression, got nothing"),
    ('"input * 0.5"', "{match: mide, up: input}", "x.yaml:4:24: unknown argument 'mide'; did you mean 'mode'?"),
    ('"input * 0.5"', "{match: input, up: input}", "x.yaml:4:24: argument 'input' must be a str, a bool or optional, it is Tensor"),
    ('"input * 0.5"', "{match: mode, down: input}", "x.yaml:4:16: no expression for 'up', the default of mode"),
    ('"input * 0.5"', "{mtach: mode, up: input}", "x.yaml:4:16: missing key 'value'"),
    ('"input * 0.5"', "[input, input]", "x.yaml:4:16: 2 expressions for 1 result"),
    # the dtype columns
    ("accepts: floating", "accepts: floatin", "x.yaml:5:20: unknown dtype set 'floatin'; did you mean 'floating'?"),
    ("accepts: floating", "accepts: {inptu: any}", "x.yaml:5:21: unknown tensor argument 'inptu'; did you mean 'input'?"),
    ("accepts: floating", "accepts: {mode: any}", "x.yaml:5:21: unknown tensor argument 'mode'"),
    ("result: same", "result: smae", "x.yaml:5:38: unknown result rule 'smae'; did you mean 'same'?"),
    ("result: same", "result: [same, int64]", "x.yaml:1:3: the dtype column has 2 results, the signature has 1"),
    ("result: same", "result: []", "x.yaml:5:38: expected a result rule, got nothing"),
    ("result: same", "reslut: same", "x.yaml:5:30: unknown key 'reslut'; did you mean 'result'?"),
    ("result: same", "result: same, override: mode", "x.yaml:5:54: argument 'mode' must be a dtype, it is str"),
    # the devices
    ("oracle: ", "from_any_device: mode\n  oracle: ", "x.yaml:6:20: argument 'mode' must be a tensor, it is str"),
    ("oracle: ", "from_any_device: input\n  oracle: ", "x.yaml:2:15: from_any_device is for operators that copy input"),
    # examples and error cases
    ('halve([1.0])"', 'havle([1.0])"', "x.yaml:8:14: unknown operator 'havle'; did you mean 'halve'?"),
    ('halve([1.0])"', 'halve([1.0], 2)"', "x.yaml:8:27: halve takes at most 1 positional argument"),
    ('halve([1.0])"', 'halve(1.0)"', "x.yaml:8:20: halve: input must be Tensor"),
    ('halve([1.0])"', 'halve([1.0], mide=\'up\')"', "x.yaml:8:32: halve: unknown argument 'mide'; did you mean 'mode'?"),
    ('halve([1.0])"', 'halve()"', "x.yaml:8:14: halve: missing argument input"),
    ('halve([1.0])"', 'halve([1.0], input=[2.0])"', "x.yaml:8:33: halve: argument input given twice"),
    ('halve([1.0])"', 'halve(tensor([1], dtype=flaot32))"', "x.yaml:8:38: unknown dtype 'flaot32'; did you mean 'float32'?"),
    ('halve([1.0])"', 'halve([1.0 + 1])"', "x.yaml:8:21: expected a number, a string, a list or a call"),
    ('halve([1.0])"', 'halve"', "x.yaml:8:14: expected a call of an operator"),
    ("      gives: [0.5]\n", "", "x.yaml:8:7: missing key 'gives'"),
    ("gives: [0.5]", "gives: [0.5, x]", "x.yaml:9:20: expected numbers, got 'x'"),
    ("gives: [0.5]", "gives: 1:30", "x.yaml:9:14: expected numbers, got '1:30'"),
    ("gives: [0.5]", "gives: {a: 1}", "x.yaml:9:14: expected numbers, got a mapping"),
    ('halve([1.0])"', "halve(['a'])\"", "x.yaml:8:21: expected numbers or booleans as the elements of a tensor"),
    ("gives: [0.5]", "give: [0.5]", "x.yaml:8:7: missing key 'gives'"),
    ("TypeMismatch", "TypeMissmatch", "x.yaml:12:15: unknown error class 'TypeMissmatch'; did you mean 'TypeMismatch'?"),
    ("{Tensor}", "{Tenosr}", "x.yaml:11:14: unknown type 'Tenosr'; did you mean 'Tensor'?"),
    ('says: "halve:', 'says: "half:', "x.yaml:11:14: an error text must begin with 'halve: '"),
    # YAML itself
    ("- op: halve", "- op: 'halve", "x.yaml:2:48: not YAML: did not find expected key"),
    ("accepts: floating", "accepts: [floating", "x.yaml:5:43: not YAML: did not find expected ',' or ']'"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), HALVE)
def test_mistake_in_an_elementwise_record(old: str, new: str, expected: str) -> None:
    assert old in GOOD
    assert problems(GOOD.replace(old, new, 1)) == expected.split("\n")


TOTAL = [
    ("    dims: dim\n", "    dims: dmi\n", "x.yaml:5:11: unknown argument 'dmi'; did you mean 'dim'?"),
    ("    dims: dim\n", "    dims: keepdim\n", "x.yaml:5:11: argument 'keepdim' must be a dim or a list of them, it is bool"),
    ("keepdim: keepdim", "keepdim: keepdmi", "x.yaml:6:14: unknown argument 'keepdmi'; did you mean 'keepdim'?"),
    ('state: {total: "0"}', "state: {}", "x.yaml:7:12: a state must have at least one part"),
    ('state: {total: "0"}', 'state: {total: "0", n: "0"}', "x.yaml:8:10: no expression for state 'n'"),
    ('pre: {total: "input"}', 'pre: {totl: "input"}', "x.yaml:8:11: unknown state 'totl'; did you mean 'total'?"),
    ("a.total + b.total", "a.total + b.totl", "x.yaml:9:33: unknown state 'totl'; did you mean 'total'?"),
    ("a.total + b.total", "total", "x.yaml:9:23: unknown name 'total'"),
    ('post: "total"', 'post: ["total", "total"]', "x.yaml:10:11: 2 expressions for 1 result"),
    ('post: "total"', 'post: "totl"', "x.yaml:10:12: unknown name 'totl'; did you mean 'total'?"),
    ("    post:", "    allows_empty: maybe\n    post:", "x.yaml:10:19: expected true or false, got 'maybe'"),
    ("    post:", "    allow_empty: true\n    post:", "x.yaml:10:5: unknown key 'allow_empty'; did you mean 'allows_empty'?"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), TOTAL)
def test_mistake_in_a_reduction(old: str, new: str, expected: str) -> None:
    assert old in FOLD
    assert problems(FOLD.replace(old, new, 1)) == [expected]


def record(signature: str, kind: str, *, dtype: str = "{result: same}", call: str = "f([1.0])") -> str:
    return f"""\
- op: f
  signature: "{signature}"
  summary: Does something.
{kind}
  dtype: {dtype}
  oracle: numpy.f
  examples:
    - call: "{call}"
      gives: [0.5]
  errors:
    - call: "f()"
      raises: TypeMismatch
      says: "f: missing argument input"
"""


OTHERS = [
    ("f(Tensor(a) input) -> Tensor(a)", "  view: 'swop(input, 0, 1)'", "x.yaml:4:10: unknown operator 'swop'; did you mean 'swap'?"),
    ("f(Tensor(a) input) -> Tensor(a)", "  view: 'rank(input)'", "x.yaml:4:10: expected a result of type Tensor, got int"),
    ("f(Tensor(a) input) -> Tensor(a)", "  view: 'select(input, 0, given(input))'", "x.yaml:4:27: expected int, got bool"),
    ("f(Tensor input, dim[] dims=[]) -> Tensor", "  gather: {dims: dim, source: i}", "x.yaml:4:18: unknown argument 'dim'; did you mean 'dims'?"),
    ("f(Tensor input, dim[] dims=[]) -> Tensor", "  gather: {dims: dims, source: j}", "x.yaml:4:32: unknown name 'j'"),
    ("f(Tensor input, dim dim=0) -> Tensor", "  scan: {dim: dim}", "x.yaml:4:9: missing key 'combine'"),
    ("f(Tensor input, Tensor other) -> Tensor", '  contraction: "ij->i"', "x.yaml:4:16: the equation has 1 operand, the signature has 2"),
    ("f(Tensor input) -> Tensor", '  contraction: "ij->k"', "x.yaml:4:16: label 'k' of the result does not appear in any operand"),
    ("f(Tensor input) -> Tensor", '  contraction: "ij->ii"', "x.yaml:4:16: a label appears twice in the result"),
    ("f(Tensor input) -> Tensor", '  contraction: "i1->i"', "x.yaml:4:16: 'i1->i' is not an equation like 'ij,jk->ik'"),
    ("f(Tensor input, Tensor b) -> Tensor", '  contraction: {equation: "i,j->ij", plus: b}', "x.yaml:4:27: the equation has 2 operands, the signature has 1"),
    ("f(Tensor input, int b=1) -> Tensor", '  contraction: {equation: linear, plus: b}', "x.yaml:4:41: argument 'b' must be a Tensor, it is int"),
    ("f(Tensor input) -> Tensor", '  contraction: {plus: input}', "x.yaml:4:16: missing key 'equation'"),
    ("f(Tensor input) -> Tensor", '  contraction: "No rule"', "x.yaml:4:16: 'No rule' is not an equation, an argument or a rule"),
    ("f(Tensor input) -> Tensor", '  composite: "g(input)"', "x.yaml:4:15: unknown operator 'g'"),
    ("f(Tensor input) -> Tensor", '  composite: "f(inptu)"', "x.yaml:4:17: unknown name 'inptu'; did you mean 'input'?"),
    ("f(Tensor input) -> Tensor", '  composite: "f(input, 1)"', "x.yaml:4:15: f takes at most 1 positional argument"),
    ("f(Tensor input) -> Tensor", '  composite: "f(1)"', "x.yaml:4:17: input of f must be Tensor"),
    ("f(Tensor input) -> Tensor", '  composite: "input + 1"', "x.yaml:4:15: expected an integer or a float, got Tensor"),
    ("f(Tensor input) -> Tensor", '  composite: "f(input + 1)"', "x.yaml:4:17: expected an integer or a float, got Tensor"),
    ("f(Tensor input) -> Tensor", '  composite: "f(input)"', "x.yaml:1:3: a composite must not call itself: f -> f"),
    ("f(Tensor input) -> Tensor", "  composite: input", "x.yaml:4:14: the result is the argument input: call an operator, or write Tensor(a) in the signature"),
    ("f(Tensor input) -> Tensor", "  composite: |\n    input = f(input)\n    return f(input)", "x.yaml:5:13: 'input' is a name already"),
    ("f(Tensor input) -> Tensor", "  composite: |\n    x = f(input)", "x.yaml:5:5: the program does not end in a return"),
    ("f(Tensor input) -> Tensor", "  composite: |\n    n = rank(input)\n    if n > 1:\n      return f(input)\n    check(n < 1, NoError, 'x')\n    return f(input)", "x.yaml:8:18: unknown error class 'NoError'"),
    ("f(Tensor input) -> Tensor", "  composite: |\n    n = rank(input)\n    return f(n)", "x.yaml:6:14: input of f must be Tensor"),
    ("f(Tensor input) -> Tensor", "  composite: |\n    while True: pass", "x.yaml:5:5: 'while True: pass' is not a statement of a program"),
    ("f(Tensor input, int? n=None) -> Tensor", "  composite: |\n    m = n + 1\n    return f(input, m)", "x.yaml:5:9: expected an integer or a float, got int?"),
    ("f(Tensor input) -> Tensor", '  elementwise: "input"\n  complex: f(inptu)', "x.yaml:5:14: unknown name 'inptu'; did you mean 'input'?"),
    ("f(Tensor input) -> Tensor", '  elementwise: "input"\n  complex: input', "x.yaml:5:12: the result is the argument input: call an operator, or write Tensor(a) in the signature"),
    ("f(Tensor input) -> Tensor", '  elementwise: "input"\n  complex: same', "x.yaml:1:3: complex: elementwise operators do not support 'same'"),
    ("f(Tensor input, Tensor[] more=[]) -> Tensor", "  native: {infer: f, why: so, shape: one}\n  complex: parts", "x.yaml:1:3: complex: native operators do not support 'parts'\nx.yaml:1:3: complex: operators that take a list of tensors support only 'same'"),
    ("f(Tensor(a) input, int? n=None) -> Tensor(a)", "  view: 'select(input, 0, n)'", "x.yaml:4:27: expected int, got int?"),
    ("f(Tensor input, dim[] dims=[]) -> Tensor", "  gather: {dims: dims, source: 'dims[i]'}", "x.yaml:4:33: a list has one item per dimension: dims[k]"),
    ("f(Tensor input, dim[] dims=[]) -> Tensor", "  gather: {dims: dims, source: 'input[i]'}", "x.yaml:4:33: an index tensor can be read only at [i] or at [...]"),
    ("f(Tensor input, dim[]? dims=[]) -> Tensor", "  gather: {dims: dims, source: i}", "x.yaml:2:31: the dimensions of a gather must not be optional: dims"),
    ("f(Tensor input, dim[] dims=[], int i=0) -> Tensor", "  gather: {dims: dims, source: i}", "x.yaml:2:46: 'i' is a reserved name in a gather"),
    ("f(Tensor input) -> Tensor", "  contraction: matmull", "x.yaml:4:16: unknown rule 'matmull'; did you mean 'matmul'?"),
    ("f(Tensor input) -> Tensor", "  elementwise: sqrt(input)", "x.yaml:4:16: 'sqrt' is not allowed here: it requires floating-point types, and the record also computes in int32, int64 and bool"),
    ("f(Tensor input, Tensor other) -> Tensor", "  elementwise: input / other", "x.yaml:4:16: '/' is not allowed here: it requires floating-point types, and the record also computes in int32, int64 and bool"),
    ("f(Tensor input) -> Tensor", "  native: {infer: Big Name, why: so, shape: its own}", "x.yaml:4:19: 'Big Name' is not the name of a function"),
    ("f(Tensor input) -> Tensor", "  native: {infer: f, why: so, shpae: its own}", "x.yaml:4:11: missing key 'shape'\nx.yaml:4:31: unknown key 'shpae'; did you mean 'shape'?"),
    ("f(size[] size=[1], *, Generator? generator=None) -> Tensor", "  generator: {sizes: size, random: 1, value: uniform(1)}", "x.yaml:4:46: uniform(1) needs random: 2, it is 1"),
    ("f(size[] size=[1]) -> Tensor", "  generator: {sizes: size, random: 1, value: uniform(0)}", "x.yaml:2:15: a random operator needs the argument 'Generator? generator=None', after '*'"),
    ("f(Tensor input) -> Tensor", "  native: {infer: f, why: so, shape: one, random: true}", "x.yaml:2:15: a random operator needs the argument 'Generator? generator=None', after '*'"),
    ("f(size[] size=[1], Generator? generator=None) -> Tensor", "  generator: {sizes: size, random: 1, value: uniform(0)}", "x.yaml:2:34: the generator must be 'Generator? generator=None', after '*'"),
    ("f(size[] size=[1], *, Generator? source=None) -> Tensor", "  generator: {sizes: size, random: 1, value: uniform(0)}", "x.yaml:2:37: the generator must be 'Generator? generator=None', after '*'"),
    ("f(size[] size=[1], *, Generator? generator=None) -> Tensor", "  generator: {sizes: size, value: index}", "x.yaml:2:37: only a random operator takes a generator"),
    ("f(Tensor input, size[] size=[1]) -> Tensor", "  generator: {sizes: size, random: -1, value: index}", "x.yaml:4:36: expected a non-negative integer, got '-1'"),
    ("f(Tensor input, Tensor other) -> Tensor", "  generator: {sizes: sizes(input), value: index}", "x.yaml:2:31: a generator takes at most 1 tensor"),
    ("f(Tensor input) -> Tensor", "  generator: {sizes: sizes(input), value: input}", "x.yaml:4:43: unknown name 'input'"),
    ("f(size[] size=[1]) -> Tensor", "  generator: {sizes: sise, value: index}", "x.yaml:4:22: unknown name 'sise'; did you mean 'size'?"),
    ("f(Tensor input) -> Tensor", "  elementwise: {let: {x: abs(inptu), y: -x}, value: y * z}", "x.yaml:4:30: unknown name 'inptu'; did you mean 'input'?"),
    ("f(Tensor input) -> Tensor", "  elementwise: {let: {x: abs(input), y: -x}, value: y * z}", "x.yaml:4:57: unknown name 'z'"),
    ("f(Tensor input) -> Tensor", "  elementwise: {let: {y: -x, x: abs(input)}, value: x}", "x.yaml:4:23: no expression reads 'y'"),
    ("f(Tensor input) -> Tensor", "  elementwise: {let: {y: -x, x: abs(input)}, value: x * y}", "x.yaml:4:27: unknown name 'x'"),
    ("f(Tensor input) -> Tensor", "  elementwise: {let: {input: 1, abs: 2}, value: input * abs}", "x.yaml:4:23: 'input' is an argument\nx.yaml:4:33: 'abs' is a function"),
    ("f(Tensor input) -> Tensor", "  elementwise: {let: {X: input}, value: X}", "x.yaml:4:23: 'X' is not a name in snake_case"),
    ("f(Tensor input) -> Tensor", "  composite: |\n    if rank(input) > 1:\n      x = f(input)\n    return f(x)", "x.yaml:7:14: 'x' has a value in only one branch of the if statement"),
    ("f(Tensor input, bool up=True) -> Tensor", "  elementwise: {match: up, true: input, flase: input}", "x.yaml:4:41: unknown value of up 'flase'; did you mean 'false'?"),
    ("f(Tensor input, bool up=True) -> Tensor", "  elementwise: {match: up, true: input}", "x.yaml:4:16: no expression for up: false"),
    ("f(Tensor input, int? up=None) -> Tensor", "  elementwise: {match: up, given: input}", "x.yaml:4:16: no expression for up: none"),
]  # fmt: skip


@pytest.mark.parametrize(("signature", "kind", "expected"), OTHERS)
def test_mistake_in_a_record_of_another_kind(signature: str, kind: str, expected: str) -> None:
    call = (
        "f([1.0], [2.0])" if "other" in signature else "f([1.0])" if "Tensor" in signature.split("->")[0] else "f([1])"
    )
    dtype = "{result: floating}" if "generator" in kind else "{result: same}"
    assert problems(record(signature, kind, dtype=dtype, call=call)) == expected.split("\n")


def test_five_mistakes_in_one_file_are_all_found() -> None:
    text = GOOD.replace("Tensor input", "Tenosr input").replace("  summary:", "  sumary:")
    text += FOLD.replace("a.total +", "a.totl +").replace("result: accumulate", "result: acumulate")
    text = text.replace("raises: IndexOutOfRange", "raises: IndexOutOfRang")
    assert problems(text) == [
        "x.yaml:1:3: missing key 'summary'",
        "x.yaml:2:21: unknown type 'Tenosr'; did you mean 'Tensor'?",
        "x.yaml:3:3: unknown key 'sumary'; did you mean 'summary'?",
        "x.yaml:24:33: unknown result rule 'acumulate'; did you mean 'accumulate'?",
        "x.yaml:31:15: unknown error class 'IndexOutOfRang'; did you mean 'IndexOutOfRange'?",
    ]


def test_two_records_with_the_same_name() -> None:
    assert problems(GOOD + GOOD) == ["x.yaml:14:3: record 'halve' is already defined at x.yaml:1:3"]


def test_a_file_is_a_list_of_mappings() -> None:
    assert problems("op: halve\n") == ["x.yaml:1:1: expected a list, got a mapping"]
    assert problems("- halve\n") == ["x.yaml:1:3: expected a mapping, got a string"]
    assert load_text("").ops == ()


def test_expression_of_several_lines_is_located_at_its_start() -> None:
    text = GOOD.replace('"input * 0.5"', '"input *\n    inptu"')
    assert problems(text) == ["x.yaml:4:17: unknown name 'inptu'; did you mean 'input'?"]


RECORDS = [
    ("f(Tensor x) -> Tensor", REDUCTION := "  reduction: {state: {t: '0'}, pre: {t: '1'}, combine: {t: a.t}, post: t}", "x.yaml:2:17: the first argument of a reduction must be `Tensor input`"),
    ("f(Tensor input, Tensor other) -> Tensor", REDUCTION, "x.yaml:2:31: a reduction takes at most 1 tensor"),
    ("f(Tensor input, int t=0) -> Tensor", REDUCTION, "x.yaml:2:31: 't' is a reserved name in a reduction"),
    ("f(dim dim, Tensor input) -> Tensor", "  elementwise: input", "x.yaml:2:17: dim is a dim, but no tensor precedes it"),
    ("f(Tensor input) -> (Tensor a, Tensor b)", "  elementwise: input", "x.yaml:4:16: 1 expression for 2 results"),
    ("f(int n) -> Tensor", "  elementwise: n", "x.yaml:1:3: the dtype column says 'same', but there is no tensor argument\nx.yaml:2:15: an elementwise operator needs a tensor argument that is not optional"),
]  # fmt: skip


@pytest.mark.parametrize(("signature", "kind", "expected"), RECORDS)
def test_signature_that_does_not_fit_its_kind(signature: str, kind: str, expected: str) -> None:
    text = record(signature, kind).replace('    - call: "f([1.0])"\n      gives: [0.5]\n', "    []\n")
    found = [each for each in problems(text) if "has no example" not in each]
    assert found == expected.split("\n")


def test_name_collisions() -> None:
    def named(name: str) -> str:
        return GOOD.replace("halve", name)

    overload = named("max").replace("  summary", "  overload: dim\n  summary", 1)
    assert problems(overload + named("max_dim")) == [
        "x.yaml:15:3: 'max_dim' would be the name of both max_dim and max.dim",
        "x.yaml:15:3: 'max_dim_' would be the name of both max_dim and max.dim",
        "x.yaml:15:3: 'max_dim_out' would be the name of both max_dim and max.dim",
    ]
    assert problems(named("max") + overload) == [
        "x.yaml:15:15: max.dim takes the same types as max, which max tries first"
    ]
    assert (
        problems(named("tensor"))[0]
        == "x.yaml:1:3: 'tensor' is reserved: it creates tensors in examples and in every language"
    )


def test_recursive_composites() -> None:
    one = record("f(Tensor input) -> Tensor", "  composite: g(input)")
    two = record("f(Tensor input) -> Tensor", "  composite: f(input)")
    two = two.replace("f(Tensor", "g(Tensor").replace("op: f", "op: g").replace('"f', '"g')
    assert [text for text in problems(one + two) if "circle" in text or "itself" in text] == [
        "x.yaml:1:3: a composite must not call itself: f -> g -> f",
        "x.yaml:14:3: a composite must not call itself: g -> f -> g",
    ]


def test_invalid_yaml_and_utf8(tmp_path: Path) -> None:
    assert problems(GOOD.replace("Half", "H\0lf")) == ["x.yaml:3:13: not YAML: character 0x0000 is not allowed"]
    assert problems(GOOD.replace("[0.5]", "[" * 100_000)) == ["x.yaml:9:110: not YAML: nested too deeply"]
    says = "not YAML: a value with an anchor must not have an alias in it"
    assert problems(GOOD.replace("[0.5]", "&a [*a]")) == [f"x.yaml:9:18: {says}"]
    assert problems(GOOD.replace("[0.5]", "&-a [*-a]")) == [f"x.yaml:9:19: {says}"]
    assert problems(GOOD.replace("[0.5]", "[&a [0.5], &b [[*a], *a]]")) == [f"x.yaml:9:30: {says}"]
    assert problems(GOOD.replace("[0.5]", "*a")) == ["x.yaml:9:14: not YAML: found undefined alias"]
    path = tmp_path / "x.yaml"
    path.write_bytes(b"- op: \xff\n")
    with pytest.raises(DefinitionError, match=r"x\.yaml:1:1: not UTF-8 at byte 6"):
        load([path], tmp_path)


def test_mistakes_in_a_shared_value_are_reported_once() -> None:
    dtype = "{accepts: floating, result: same}"
    one, two = GOOD.replace(dtype, f"&floats {dtype}"), GOOD.replace("halve", "other").replace(dtype, "*floats")
    assert [op.dtype.accepts for op in load_text(one + two).ops] == [{"": DTypeSet.FLOATING}] * 2
    assert problems(one.replace("floating", "flaoting") + two) == [
        "x.yaml:5:28: unknown dtype set 'flaoting'; did you mean 'floating'?"
    ]


def test_expression_that_is_too_deep() -> None:
    assert problems(GOOD.replace("input * 0.5", "-" * 30_000 + "input")) == [
        "x.yaml:4:17: the expression is nested too deeply"
    ]


@given(
    st.lists(
        st.tuples(
            st.floats(0, 1, exclude_max=True), st.integers(0, 12), st.text("az0 _.,:'\"()[]{}!?*&|>-=\n", max_size=4)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_invalid_file_gives_located_problems(edits: list[tuple[float, int, str]]) -> None:
    """Loading must raise nothing but DefinitionError, and each problem must have a line of the file."""
    text = GOOD + FOLD
    for fraction, removed, added in edits:
        at = int(fraction * len(text))
        text = text[:at] + added + text[at + removed :]
    try:
        load_text(text, "x.yaml")
    except DefinitionError as error:
        found = [problem.location.line for problem in error.problems]
    else:
        found = []
    assert all(1 <= line <= text.count("\n") + 2 for line in found)


@pytest.mark.parametrize(
    ("namespace", "error"),
    [
        ("- {namespace: nn, offers: [havle]}", "x.yaml:14:28: unknown function 'havle'; did you mean 'halve'?"),
        ("- {namespace: nn, offers: [halve, halve]}", "x.yaml:14:35: 'nn.halve' is a function already"),
        ("- {namespace: halve, offers: [halve]}", "x.yaml:1:3: 'halve' is already the namespace of halve.halve"),
        ("- {namespace: nn, offres: [halve]}", "x.yaml:14:19: unknown key 'offres'; did you mean 'offers'?"),
        ("- {namespace: N, offers: [halve]}", "x.yaml:14:15: 'N'"),
        ("- functions: {half: havle}", "x.yaml:14:21: unknown function 'havle'; did you mean 'halve'?"),
        ("- functions: {halve: halve}", "x.yaml:14:15: 'halve' is a function already"),
        ("- functions: {Half: halve}", "x.yaml:14:15: 'Half' is not a name in snake_case"),
        ("- {functions: {half: halve}, argument: 1}", "x.yaml:14:30: unknown key 'argument'"),
        ("- arguments: {inptu: [x]}", "x.yaml:14:15: unknown argument 'inptu'; did you mean 'input'?"),
        ("- arguments: {halve.input: [X]}", "x.yaml:14:29: 'X'"),
        ("- words: [no_grad, NoGrad]", "x.yaml:14:20: 'NoGrad'"),
        ("- {elsewhere: classes, names: {}}", "x.yaml:14:15: unknown value 'classes'"),
        ("- {elsewhere: methods, name: {}}", "x.yaml:14:3: missing key 'names'"),
    ],
)
def test_other_names(namespace: str, error: str) -> None:
    (found,) = problems(GOOD + namespace)
    assert found.startswith(error)


def test_arguments_have_the_other_names_that_are_free() -> None:
    (op,) = load_text(GOOD + "- arguments: {input: [x, mode, a], halve.mode: [a, how]}").ops
    assert [each.other_names for each in op.signature.arguments] == [("x", "a"), ("how",)]


def test_a_namespace_offers_all_overloads() -> None:
    other = GOOD.replace("- op: halve", "- op: halve\n  overload: down").replace("*, str mode='up'", "*, int mode")
    text = GOOD + other.replace("halve('a')", "halve('a', mode=1)") + "- {namespace: nn.more, offers: [halve]}"
    offered = load_text(text).overloads["nn.more.halve"]
    assert [each.full_name for each in offered] == ["halve", "halve.down"]
