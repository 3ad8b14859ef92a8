"""Tests whole runs of the generator: determinism, unchanged files, edited and superfluous files, failing targets."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen import discover, pipeline
from codegen.definitions import Definitions
from codegen.errors import DefinitionError, TargetError
from codegen.target import Output, Target
from tests.codegen.conftest import FIXTURES, REPOSITORY


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Returns a repository with the fixture definitions only."""
    shutil.copytree(FIXTURES, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(autouse=True)
def _without_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disables the check of names.yaml files, which name records that the fixtures lack."""
    monkeypatch.setattr("codegen.names.Names.check", lambda self, definitions: None)


def files_below(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "generated" in path.parts
    }


def times_below(root: Path) -> dict[str, int]:
    return {path: (root / path).stat().st_mtime_ns for path in files_below(root)}


@pytest.mark.parametrize("definitions", [FIXTURES, REPOSITORY], ids=["fixtures", "project"])
def test_two_runs_give_the_same_bytes(definitions: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from codegen import names, pipeline; from pathlib import Path\n"
    )
    code += "names.Names.check = lambda self, definitions: None\n"
    code += "result = pipeline.run(Path(sys.argv[2])); assert not result.failures, result.failures"
    for seed in ("1", "2"):
        root = tmp_path / seed
        shutil.copytree(definitions / "opdefs", root / "opdefs")
        subprocess.run(
            [sys.executable, "-c", code, str(REPOSITORY), str(root)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
    assert files_below(tmp_path / "1") == files_below(tmp_path / "2")


def test_second_run_writes_nothing(root: Path) -> None:
    assert pipeline.run(root).changes
    before = times_below(root)
    result = pipeline.run(root)
    assert result.was_current
    assert not result.changes
    assert times_below(root) == before


def test_changed_record_rewrites_only_files_that_mention_it(root: Path) -> None:
    pipeline.run(root)
    before = times_below(root)
    path = root / "opdefs" / "arithmetic.yaml"
    path.write_text(path.read_text().replace("tanh(0.7978", "tanh(0.7979"))
    changed = {change.path for change in pipeline.run(root).changes}
    assert changed
    assert all("gelu" in (root / path).read_text() for path in changed)
    untouched = before.keys() - changed - {"codegen/generated/manifest.json"}
    assert {path: time for path, time in times_below(root).items() if path in untouched} == {
        path: before[path] for path in untouched
    }
    assert len(untouched) > len(changed)


def test_edited_file_is_reported_and_restored(root: Path) -> None:
    path = root / pipeline.run(root).changes[0].path
    expected = path.read_text()
    path.write_text(expected + "edited\n")
    (change,) = pipeline.run(root, write=False).changes
    assert change.word == "stale"
    assert "-edited" in change.diff()
    assert path.read_text() != expected
    pipeline.run(root)
    assert path.read_text() == expected


def test_missing_file_is_written_again(root: Path) -> None:
    path = root / pipeline.run(root).changes[0].path
    path.unlink()
    (change,) = pipeline.run(root, write=False).changes
    assert change.word == "missing"
    pipeline.run(root)
    assert path.exists()


def test_superfluous_files_are_removed(root: Path) -> None:
    pipeline.run(root)
    (root / "opdefs" / "reduction.yaml").unlink()
    removed = [change.path for change in pipeline.run(root).changes if change.word == "superfluous"]
    assert any(path.endswith("max.md") for path in removed)
    assert not [path for path in removed if (root / path).exists()]


def test_nothing_is_written_for_invalid_definitions(root: Path) -> None:
    pipeline.run(root)
    before = times_below(root)
    path = root / "opdefs" / "arithmetic.yaml"
    path.write_text(path.read_text().replace("elementwise:", "elementwize:"))
    with pytest.raises(DefinitionError):
        pipeline.run(root)
    assert times_below(root) == before


def test_run_of_a_single_target_writes_only_its_files(root: Path) -> None:
    name = discover.names()[0]
    expected = {change.path for change in pipeline.run(root, [name]).changes}
    everything = {change.path for change in pipeline.run(root).changes}
    assert expected
    assert everything
    assert not expected & everything


def test_error_of_an_unknown_target_has_a_suggestion(root: Path) -> None:
    with pytest.raises(TargetError, match=r"unknown target 'manul'; did you mean 'manual'\?"):
        pipeline.run(root, ["manul"])


class Toy(Target):
    """A target that yields the files that a test sets."""

    files: tuple[Output, ...] = ()

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        yield from self.files


GOOD = Output("toy/generated/a.txt", "# generated from x by codegen, do not edit\n")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ([Output("toy/generated/a.txt", "hello\n")], "the first line of toy/generated/a.txt must say"),
        ([Output("toy/a.txt", GOOD.text)], "toy/a.txt is not in a folder 'generated'"),
        ([Output("../generated/a.txt", GOOD.text)], "../generated/a.txt is not in a folder 'generated'"),
        ([Output("toy/generated/a.txt", GOOD.text.strip())], "toy/generated/a.txt does not end with a newline"),
        ([GOOD, GOOD], "toy/generated/a.txt is generated twice"),
    ],
)
def test_target_with_invalid_output_fails_without_affecting_others(
    files: list[Output], says: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = discover.target
    monkeypatch.setattr(Toy, "files", tuple(files))
    monkeypatch.setattr(discover, "names", lambda: ["manual", "toy"])
    monkeypatch.setattr(
        discover,
        "target",
        lambda name, definitions: Toy(name, root, definitions) if name == "toy" else real(name, definitions),
    )
    monkeypatch.setattr(discover, "languages", lambda definitions: [])
    result = pipeline.run(root)
    assert says in result.failures["toy"]
    assert set(result.failures) == {"toy"}
    assert (root / "docs/generated/reference/add.md").exists()
    assert not list(root.glob("toy/**/*.txt"))
