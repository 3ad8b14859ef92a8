"""Tests that the example in README.md prints, in each language, what its comments say."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "python": [str(ROOT / ".venv" / "bin" / "python"), "-c"],
    "javascript": ["node", "-e"],
    "ruby": ["ruby", f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}", "-e"],
}
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("language", COMMANDS)
def test_example_prints_its_comments(language: str) -> None:
    (program,) = [text for name, text in BLOCKS if name == language]
    expected = re.findall(r"(?:#|//) (.*)\n", program)
    assert expected
    environment = {**os.environ, "NODE_PATH": str(ROOT / "build" / "node_modules")}
    done = subprocess.run([*COMMANDS[language], program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected
