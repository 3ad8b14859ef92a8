"""The examples of data-parallel training: the same losses in each language, in a job of several, and in one process."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import pytest

from tests.processes.jobs import BUILD, DEADLINE, INTERPRETERS, ROOT

FOLDER = ROOT / "examples" / "parallel"
NAMES = {"python": "digits.py", "js": "digits.js", "ruby": "digits.rb"}
PROGRAMS = {language: [*INTERPRETERS[language], str(FOLDER / name)] for language, name in NAMES.items()}


def _losses(arguments: Sequence[str]) -> list[float]:
    """Runs a job, and returns the losses of its epochs and the accuracy."""
    done = subprocess.run(
        [str(BUILD / "lib" / "oneflow-run"), *arguments],
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
