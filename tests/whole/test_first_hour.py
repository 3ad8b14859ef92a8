"""Tests that the programs of examples/first_hour print what the comments at the ends of their lines say."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "from_numpy.py": [str(ROOT / ".venv" / "bin" / "python")],
    "from_tfjs.js": ["node"],
    "from_numo.rb": ["ruby", f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_first_hour(name: str) -> None:
    program = ROOT / "examples" / "first_hour" / name
    comments = re.findall(r"^ *(?:p|print|show)\b.*? (?:#|//) (.*)$", program.read_text(), re.MULTILINE)
    expected = [line for comment in comments for line in comment.split(" | ")]
    assert len(expected) > 10
    environment = {**os.environ, "NODE_PATH": str(ROOT / "build" / "node_modules")}
    done = subprocess.run([*COMMANDS[name], str(program)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected
