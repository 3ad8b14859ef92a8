"""What each target makes of the fixture definitions, whole files, compared with committed ones.

`pytest tests/codegen/test_golden.py --update-golden` writes them anew; the difference is then for people to read.
"""

from __future__ import annotations

import shutil

import pytest

from codegen import discover, emit
from codegen.model import Definitions
from tests.codegen.conftest import GOLDEN


@pytest.mark.parametrize("target", discover.names())
def test_the_files_of_a_target(target: str, fixtures: Definitions, request: pytest.FixtureRequest) -> None:
    files = emit.render(discover.language(target, fixtures), fixtures)
    # Neither git (which ignores `generated`) nor pytest nor the linters shall take them for the real ones.
    wanted = {path.replace("/generated/", "/").replace("/", "_") + ".golden": text for path, text in files.items()}
    folder = GOLDEN / target
    if request.config.getoption("--update-golden"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, text in wanted.items():
            (folder / name).write_text(text, encoding="utf-8")
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert sorted(found) == sorted(wanted)
    for name, text in wanted.items():
        assert found[name] == text, name
