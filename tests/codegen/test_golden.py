"""Compares the files that each target generates for the fixture definitions with committed golden files.

`pytest tests/codegen/test_golden.py --update-golden` writes the golden files; review their changes before a commit.
"""

from __future__ import annotations

import shutil

import pytest

from codegen import discover, emit
from codegen.definitions import Definitions
from tests.codegen.conftest import GOLDEN


@pytest.mark.parametrize("target", discover.names())
def test_generated_files_match_golden_files(target: str, fixtures: Definitions, request: pytest.FixtureRequest) -> None:
    files = emit.render(discover.target(target, fixtures), fixtures)
    # Renamed, because git ignores folders `generated`, and pytest and linters would treat the files as code.
    expected = {path.replace("/generated/", "/").replace("/", "_") + ".golden": text for path, text in files.items()}
    folder = GOLDEN / target
    if request.config.getoption("--update-golden"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, text in expected.items():
            (folder / name).write_text(text, encoding="utf-8")
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert sorted(found) == sorted(expected)
    for name, text in expected.items():
        assert found[name] == text, name
