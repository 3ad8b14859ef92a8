"""The examples of data-parallel training: the same losses in each language, in a job of several, and in one process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

import pytest

from tests.processes.jobs import DEADLINE, ROOT

FOLDER = ROOT / "examples" / "parallel"
PROGRAMS = {
    "python": [sys.executable, str(FOLDER / "digits.py")],
    "js": [shutil.which("node") or "node", str(FOLDER / "digits.js")],
    "ruby": [shutil.which("ruby") or "ruby", f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}", str(FOLDER / "digits.rb")],
}


def _losses(arguments: Sequence[str]) -> list[float]:
    """Runs a job, and returns the losses of its epochs and the accuracy."""
    done = subprocess.run(
        [str(ROOT / "build" / "lib" / "oneflow-run"), *arguments],
        env={**os.environ, "NODE_PATH": str(ROOT / "build" / "node_modules")},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.removeprefix("[0] ") for line in done.stdout.splitlines()]
    assert len(lines) == 4, done.stdout
    return [float(line.split()[3]) for line in lines[:3]] + [float(lines[3].split()[1])]


def test_the_examples_agree() -> None:
    epochs = ["--epochs", "3"]
    alone = _losses(["-n", "1", *PROGRAMS["python"], *epochs])
    assert alone[2] < alone[0] / 2
    jobs = [["-n", "2", *program, *epochs] for program in PROGRAMS.values()]
    python, js, ruby = ([*PROGRAMS[name], *epochs] for name in ("python", "js", "ruby"))
    jobs.append(["-n", "1", *js, ":", "-n", "1", *ruby, ":", "-n", "1", *python])
    for job in jobs:
        assert _losses(job) == pytest.approx(alone, abs=2e-3), job
