"""Starts jobs of several processes, and reads what they print."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.launch.conftest import BUILD, ROOT, restore_signals

HERE = Path(__file__).parent
# A busy machine takes its time.
DEADLINE = 120
# How programs in each language are run, and what their names end in.
INTERPRETERS = {
    "python": [sys.executable],
    "js": ["env", f"NODE_PATH={BUILD / 'node_modules'}", shutil.which("node") or "node"],
    "ruby": [shutil.which("ruby") or "ruby", f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}"],
}
SUFFIXES = {"python": "py", "js": "mjs", "ruby": "rb"}
LANGUAGES = tuple(INTERPRETERS)


def command(language: str, program: str, *arguments: str) -> list[str]:
    """Returns the command that runs a program of this folder: `driver` for `driver.py` in Python."""
    return [*INTERPRETERS[language], str(HERE / f"{program}.{SUFFIXES[language]}"), *arguments]


def faults(scenario: str, languages: Sequence[str] = LANGUAGES) -> list[list[str]]:
    """Returns the commands of a job in which something goes wrong."""
    return [command(language, "faults", scenario) for language in languages]


@dataclass
class Rank:
    """A rank that has ended."""

    number: int
    status: int
    output: str
    errors: str

    @property
    def results(self) -> list[Any]:
        """Returns the lines of JSON that it has printed, if it has ended well."""
        assert self.status == 0, f"rank {self.number}: status {self.status}\n{self.output}\n{self.errors}"
        return [json.loads(line) for line in self.output.splitlines()]


class Job:
    """The processes of a job, which a `with` block ends."""

    def __init__(
        self,
        commands: Sequence[Sequence[str]],
        variables: Mapping[str, str] | None = None,
        size: int | None = None,
        of_last: Mapping[str, str] | None = None,
    ) -> None:
        """Starts a rank for each command, of a job of `size` ranks. `of_last` are further variables of the last one."""
        self._outputs = tempfile.mkdtemp(prefix="oneflow-test-")
        self._folder = tempfile.mkdtemp(prefix="oneflow-test-")
        size = size or len(commands)
        self.processes = [
            subprocess.Popen(
                each,
                env={
                    **os.environ,
                    "ONEFLOW_RANK": str(rank),
                    "ONEFLOW_WORLD_SIZE": str(size),
                    "ONEFLOW_LOCAL_RANK": str(rank),
                    "ONEFLOW_LOCAL_WORLD_SIZE": str(size),
                    "ONEFLOW_MEETING": f"file:{self._folder}",
                    "ONEFLOW_SECRET": "test",
                    "ONEFLOW_NUM_THREADS": "1",
                    "TEST_FOLDER": self._outputs,
                    **(variables or {}),
                    **(of_last or {} if rank == len(commands) - 1 else {}),
                },
                # Not pipes: a rank that fills one waits for its reader, and others for the rank.
                stdout=self._file(rank, "out").open("w", encoding="utf-8"),
                stderr=self._file(rank, "err").open("w", encoding="utf-8"),
                preexec_fn=restore_signals,
            )
            for rank, each in enumerate(commands)
        ]

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.processes:
            each.kill()
            each.wait()
        for folder in (self._folder, self._outputs):
            shutil.rmtree(folder, ignore_errors=True)

    def _file(self, rank: int, kind: str) -> Path:
        return Path(self._outputs, f"{rank}.{kind}")

    def wait_for(self, rank: int) -> Rank:
        """Waits until a rank has ended."""
        status = self.processes[rank].wait(timeout=DEADLINE)
        output, errors = (self._file(rank, kind).read_text(encoding="utf-8") for kind in ("out", "err"))
        return Rank(rank, status, output, errors)

    def wait(self) -> list[Rank]:
        """Waits until all ranks have ended."""
        return [self.wait_for(rank) for rank in range(len(self.processes))]


def run(
    commands: Sequence[Sequence[str]],
    variables: Mapping[str, str] | None = None,
    size: int | None = None,
    of_last: Mapping[str, str] | None = None,
) -> list[list[Any]]:
    """Runs a job as Job does, whose ranks all end well, and returns the results of each."""
    with Job(commands, variables, size, of_last) as job:
        return [each.results for each in job.wait()]


def check_error(outcome: object, *texts: str) -> None:
    """Checks that a result of a rank is a CommunicationError with these texts."""
    assert isinstance(outcome, list)
    assert outcome[0] == "CommunicationError", outcome
    said = outcome[1].replace("_", "").lower()  # Node.js names some functions by its own rule
    for each in texts:
        assert each.replace("_", "").lower() in said, outcome
