"""Tests that the programs of pages print, in each language, what their comments say.

The comments are those on lines of their own or, if there are none, those at the ends of lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/files.md", "docs/graphs.md", "docs/onnx.md", "docs/passes.md"]
MODELS = ROOT / "tests" / "data" / "onnx"  # the programs find them in their folder
COMMANDS = {
    "python": [str(ROOT / ".venv" / "bin" / "python"), "-c"],
    "javascript": ["node", "-e"],
    "ruby": ["ruby", f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}", "-e"],
}


@pytest.mark.parametrize("language", COMMANDS)
@pytest.mark.parametrize("page", PAGES)
def test_example_prints_its_comments(page: str, language: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    (program,) = [text for name, text in blocks if name == language]
    expected = re.findall(r"^ *(?:#|//) (.*)\n", program, re.MULTILINE) or re.findall(r"(?:#|//) (.*)\n", program)
    assert expected
    shutil.copytree(MODELS, tmp_path, dirs_exist_ok=True)
    environment = {**os.environ, "NODE_PATH": str(ROOT / "build" / "node_modules")}
    done = subprocess.run([*COMMANDS[language], program], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected
