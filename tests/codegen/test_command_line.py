"""Tests the command line: generate, check, list, explain and new."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codegen.command_line import main
from codegen.errors import DefinitionError
from codegen.explain import new_text
from codegen.kinds import KINDS
from codegen.load import load_text
from tests.codegen.conftest import FIXTURES


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(FIXTURES, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr("codegen.names.Names.check", lambda self, definitions: None)
    return tmp_path


def run(root: Path, *arguments: str) -> int:
    return main(["--root", str(root), *arguments])


def test_generate_prints_changed_files(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "generate") == 0
    first = capsys.readouterr().out
    assert "new docs/generated/reference/gelu.md" in first
    assert run(root, "generate") == 0
    assert "0 changed" in capsys.readouterr().out


def test_check_fails_with_a_diff_until_generate_ran(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "check") == 1
    assert "generated files are not up to date" in capsys.readouterr().out
    assert run(root, "generate") == 0
    assert run(root, "check") == 0
    capsys.readouterr()
    page = root / "docs/generated/reference/gelu.md"
    page.write_text(page.read_text().replace("# gelu", "# glue"))
    assert run(root, "check") == 1
    out = capsys.readouterr().out
    assert "-# glue\n+# gelu" in out
    assert "1 generated file is not up to date" in out


def test_mistakes_in_definitions_are_printed_with_their_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root / "opdefs" / "arithmetic.yaml"
    path.write_text(path.read_text().replace('"gelu(Tensor input', '"gelu(Tenosr input'))
    assert run(root, "generate") == 1
    error = capsys.readouterr().err
    assert error == (
        "opdefs/arithmetic.yaml:18:20: unknown type 'Tenosr'; did you mean 'Tensor'?\n"
        "      signature: \"gelu(Tenosr input, *, str approximate='none') -> Tensor\"\n"
        "                       ^~~~~~\n"
        "1 error; nothing was written\n"
    )
    assert not (root / "docs").exists()


def test_list_prints_records(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "list") == 0
    out = capsys.readouterr().out
    assert "gelu                   elementwise  gelu(Tensor input, *, str approximate='none') -> Tensor" in out
    assert out.endswith("11 records\n")
    assert run(root, "list", "--kind", "view") == 0
    assert capsys.readouterr().out.endswith("1 record\n")
    assert run(root, "list", "--by-kind") == 0
    assert "view (1)\n  slice\n" in capsys.readouterr().out
    assert run(root, "list", "--kind", "veiw") == 1
    assert capsys.readouterr().err == "unknown kind 'veiw'; did you mean 'view'?\n"


def test_explain_prints_derived_facts(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(root, "generate")
    capsys.readouterr()
    assert run(root, "explain", "gelu") == 0
    out = capsys.readouterr().out
    for part in (
        "gelu(Tensor input, *, str approximate='none') -> Tensor",
        "opdefs/arithmetic.yaml:17:3",
        "elementwise",
        "approximate tanh",
        "0.5 * input * (1 + erf(input * 0.7071067811865476))",
        "floating-point types",
        "function, method, in place, out",
        "torch.nn.functional.gelu",
        "docs/generated/reference/gelu.md (manual)",
    ):
        assert part in out


def test_explain_takes_overloads_and_public_names(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "explain", "max.dim") == 0
    overload = capsys.readouterr().out
    assert run(root, "explain", "max") == 0
    assert capsys.readouterr().out == overload
    assert run(root, "explain", "doubled") == 0
    assert "double_slice" in capsys.readouterr().out
    assert run(root, "explain", "gellu") == 1
    assert capsys.readouterr().err == "unknown operator 'gellu'; did you mean 'gelu'?\n"


def test_explain_prints_classes_and_their_members(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "explain", "Counter") == 0
    out = capsys.readouterr().out
    for part in (
        "opdefs/counters.yaml:9:3",
        "of_counter, of_counter_retain() and of_counter_release() count references",
        "use an object one at a time",
        "counter.add(amount?: Integer): this",
        "where counter_run_all_work says so",
        "flow.count.Counter(start: int = 0)",
        "OneFlow::Count::Counter.new(?Integer start) -> Counter",
        "counter.runAllAsync(fn: (...args: any[]) => any, {upTo}): Promise<Step[]>",
        "int before",
    ):
        assert part in out
    assert run(root, "explain", "count.tally") == 0
    tally = capsys.readouterr().out
    assert tally.startswith("count.tally\n  Counts counters.\n")
    assert "flow.count.tally(*counters: Counter, path: str | None = None) -> Tally" in tally
    assert run(root, "explain", "Counter.add") == 0
    assert capsys.readouterr().out.rstrip("\n") in out
    assert run(root, "explain", "Countr") == 1
    assert capsys.readouterr().err == "unknown operator 'Countr'; did you mean 'Counter'?\n"


def test_explain_says_where_a_class_is_implemented(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "Generator"]) == 0
    assert "of_generator_seed, runtime/capi/generators.cpp" in capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
def test_new_record_has_only_problems_of_empty_fields(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "foo", "--kind", kind]) == 0
    text = capsys.readouterr().out
    assert text == new_text("foo", kind)
    with pytest.raises(DefinitionError) as caught:
        load_text(text)
    for problem in caught.value.problems:
        assert problem.text in (
            "expected a string, got nothing",
            "expected an expression, got nothing",
            "expected a program, got nothing",
        )


EXP = """\
- op: exp
  signature: "exp(Tensor input) -> Tensor"
  summary: e to the power of each element.
  elementwise: "exp(input)"
  dtype: {accepts: floating}
  oracle: torch.exp
  examples:
    - call: "exp([0.0])"
      gives: [1.0]
  errors:
    - call: "exp('a')"
      raises: TypeMismatch
      says: "exp: input must be {Tensor}, got {str}"
"""
FILLED = {
    "elementwise": [('elementwise: ""', 'elementwise: "input"')],
    "generator": [('value: ""', 'value: "index"')],
    "gather": [('source: ""', 'source: "i"')],
    "view": [('view: ""', 'view: "swap(input, 0, 1)"')],
    "composite": [('composite: ""', 'composite: "exp(input)"')],
    "collective": [('pattern: ""', "pattern: local.all_gather")],
    "native": [('infer: ""', "infer: foo"), ('why: ""', "why: it is one"), ('shape: ""', "shape: that of input")],
}


@pytest.mark.parametrize("kind", KINDS)
def test_completed_new_record_is_valid(kind: str) -> None:
    text = new_text("foo", kind).replace('summary: ""', "summary: Does something.")
    for empty, filled in FILLED.get(kind, []):
        assert empty in text
        text = text.replace(empty, filled)
    op, _ = load_text(text + EXP).ops
    assert op.kind.key == kind


def test_new_rejects_invalid_names_and_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "Foo"]) == 1
    assert capsys.readouterr().err == "'Foo' is not a name in snake_case\n"
    assert main(["new", "foo", "--kind", "reducton"]) == 1
    assert capsys.readouterr().err == "unknown kind 'reducton'; did you mean 'reduction'?\n"
