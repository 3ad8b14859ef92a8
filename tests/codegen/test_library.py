"""Tests how the records of libraries of operators are read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from codegen import discover
from codegen.errors import DefinitionError, TargetError
from codegen.library.build import check_targets
from codegen.load import Library, load_library
from codegen.templates import banner
from tests.codegen.conftest import FIXTURES

GOOD = """
- op: twice
  signature: "twice(Tensor input) -> Tensor"
  summary: Doubles each element.
  composite: "add(input, input)"
  dtype: {accepts: numeric, result: same}

- op: add
  signature: "add(Tensor input, Tensor other) -> Tensor"
  summary: Adds with a name that another operator has.
  elementwise: "input + other"
  dtype: {accepts: numeric, result: promote}
  examples:
    - call: "add([1.0], [2.0])"
      gives: [3.0]
  errors:
    - call: "add('x', [1.0])"
      raises: TypeMismatch
      says: "add: input must be {Tensor}, got {str}"
"""


def read(folder: Path, **files: str) -> Library:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return load_library(folder, FIXTURES)


def problems(folder: Path, text: str) -> list[str]:
    """Returns what is wrong with a file of records, without its path."""
    with pytest.raises(DefinitionError) as caught:
        check_targets(read(folder, records=text))
    return [str(each).removeprefix(f"{folder}/records.yaml:") for each in caught.value.problems]


def test_records_get_the_namespace(tmp_path: Path) -> None:
    library = read(tmp_path / "my_ops", records=GOOD)
    twice, add = library.definitions.ops
    assert (library.space, twice.name, add.full_name) == ("my_ops", "my_ops.twice", "my_ops.add")
    assert add.signature.name == "my_ops.add"
    assert [op.full_name for op in twice.kind.called] == ["my_ops.add"]
    assert add.examples[0].call.op == "my_ops.add"
    assert add.errors[0].says == "my_ops.add: input must be {Tensor}, got {str}"
    gradient = library.definitions.gradients["my_ops.add"].ops["input"]
    assert gradient.full_name == "my_ops.add.gradient_input"
    check_targets(library)


def test_derived_gradients_call_the_operators_of_oneflow(tmp_path: Path) -> None:
    text = GOOD.replace("input + other", "input + 3 * other").replace(
        "- op: twice",
        """- op: mul
  signature: "mul(Tensor input, Tensor other) -> Tensor"
  summary: Has the name of what derived gradients call.
  elementwise: "input * other + input"
  dtype: {accepts: numeric, result: promote}

- op: stated
  signature: "stated(Tensor input) -> Tensor"
  summary: States a gradient.
  elementwise: "input * input"
  gradient: {why: It calls an operator of the library., input: "mul(grad, input)"}
  dtype: {accepts: numeric, result: promote}

- op: twice""",
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "records.yaml").write_text(text, encoding="utf-8")
    gradients = load_library(tmp_path / "mine", Path(__file__).parents[2]).definitions.gradients
    names = {
        function: {called.full_name for called in gradients[f"mine.{function}"].ops["input"].kind.called}
        for function in ("mul", "stated")
    }
    assert names == {"mul": {"add", "mul"}, "stated": {"mine.mul"}}


def test_ids_are_those_of_the_names_with_the_namespace(tmp_path: Path) -> None:
    first, second = (read(tmp_path / name, records=GOOD).definitions.ops[0] for name in ("a", "b"))
    assert first.signature_id != second.signature_id
    assert first.signature_id == read(tmp_path / "a", records=GOOD).definitions.ops[0].signature_id


def test_a_namespace_that_is_given(tmp_path: Path) -> None:
    assert read(tmp_path / "My-Ops", records=f"- namespace: mine\n{GOOD}").space == "mine"
    folder = tmp_path / "several"
    assert read(folder, a="- namespace: mine\n", b=GOOD).space == "mine"
    two = problems(tmp_path / "two", f"- namespace: a\n- namespace: b\n{GOOD}")
    assert two == [f"2:3: a second namespace, after that at {tmp_path}/two/records.yaml:1:3"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("add", "the namespace 'add' is a name of built-in operators"),
        ("comm", "the namespace 'comm' is a name of built-in operators"),
        ("My-Ops", "the namespace 'My-Ops' is not a name in snake_case: give one by an item `namespace:`"),
        ("lambda", "'lambda' is a reserved word of Python"),
    ],
)
def test_bad_namespaces(tmp_path: Path, name: str, text: str) -> None:
    assert problems(tmp_path / name, GOOD) == [f"1:1: {text}"]


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    bad = """
- op: first
  signature: "first(Tensor input) -> Tensor"
  summary: A call of nothing.
  composite: "addd(input, 0.5)"
  dtype: {accepts: floating, result: same}

- op: second
  signature: "second(Tensor input) -> Tensor"
  summary: No kernel.
  native: {infer: x, why: It needs one., shape: any}
  dtype: {accepts: floating, result: same}

- op: third.inner
  signature: "third.inner(Tensor input) -> Tensor"
  summary: A name with a dot.
  composite: "add(input, 0.5)"
  dtype: {accepts: floating, result: same}

- rule: x
- class: X
"""
    assert problems(tmp_path / "bad", bad) == [
        "5:15: unknown operator 'addd'; did you mean 'add'?",
        "8:3: a library of operators has no native operators: they need functions written by hand",
        "14:7: names in a library of operators have no dots: its namespace precedes them",
        "20:3: a library of operators has no item 'rule', only records and its namespace",
        "21:3: a library of operators has no classes, only records and its namespace",
    ]


def test_examples_are_checked_but_not_required(tmp_path: Path) -> None:
    bad = GOOD.replace('call: "add([1.0], [2.0])"', 'call: "add([1.0], [2.0], 3)"')
    assert problems(tmp_path / "bad", bad) == ["14:32: bad.add takes at most 2 positional arguments"]


def test_promise_variants_have_names_of_their_own(tmp_path: Path) -> None:
    both = GOOD + GOOD.replace("twice", "twice_async").partition("- op: add")[0]
    text = "21:3: 'bad.twice_async' and 'bad.twice' have the same name in Node.js: bad.twiceAsync"
    assert problems(tmp_path / "bad", both) == [text]


def test_stubs_of_odd_names_and_texts(tmp_path: Path) -> None:
    text = GOOD.replace("op: twice", "op: tuple").replace("twice(Tensor input)", "tuple(Tensor input)")
    text = text.replace("Doubles each element.", 'Doubles """ each \\')
    library = read(tmp_path / "my_ops", records=text)
    for language in discover.languages(library.whole):
        stub = language.library_stub(library.definitions).text
        assert "generated from my_ops/records.yaml by codegen, do not edit" in stub.splitlines()[0]
        if language.name == "python":
            assert {"tuple_", "add"} == {
                each.name for each in ast.parse(stub).body if isinstance(each, ast.FunctionDef)
            }
    assert banner([f"{tmp_path}/my_ops/a.yaml", f"{tmp_path}/my_ops/b.yaml"]).startswith("generated from my_ops by")


def test_folders_without_records(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(TargetError, match=r"has no definition files \(\*\.yaml\)$"):
            load_library(folder, FIXTURES)
