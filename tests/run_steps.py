"""Runs test steps (make targets), two at a time, and prints a summary with one line per step.

Usage: run_steps.py --logs DIRECTORY STEP...

Most steps use one processor for most of their time, so two of them run at once. Writes the output of each step to
DIRECTORY/STEP.log and, with the step before each line, to standard output. Runs all steps, also after a failure; the
summary then shows what each failed step said about its failures. The exit status is 1 if any step failed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

# The summary lines of the test runners, with the counts in them; `all` counts passed and failed tests.
SUMMARY_LINES = [
    re.compile(r"(?:^|\s)(?P<passed>\d+) passed"),  # pytest
    re.compile(r"(?:^|\s)(?P<failed>\d+) failed"),
    re.compile(r"(?:^|\s)(?P<skipped>\d+) skipped"),
    re.compile(r"^\S pass (?P<passed>\d+)$"),  # node's test runner
    re.compile(r"^\S fail (?P<failed>\d+)$"),
    re.compile(r"^\S skipped (?P<skipped>\d+)$"),
    re.compile(r"^(?P<all>\d+) runs, \d+ assertions, (?P<failed>\d+) failures, "),  # minitest
    re.compile(r", (?P<skipped>\d+) skips$"),
    re.compile(r"^Done (?P<passed>\d+) runs in "),  # libFuzzer
    re.compile(r"^(?:(?P<program>\d+): )?\[  PASSED  \] (?P<passed>\d+) tests?\.$"),  # GoogleTest, also inside of ctest
    re.compile(r"^(?:(?P<program>\d+): )?\[  FAILED  \] (?P<failed>\d+) tests?, listed below:$"),
    re.compile(r"^(?:\d+: )?\[  SKIPPED \] (?P<skipped>\d+) tests?, listed below:$"),
]
# The summary line of ctest, which counts programs.
PROGRAMS = re.compile(r"tests passed, (?P<failed>\d+) tests failed out of (?P<all>\d+)$")

# The lines that name a failed test or an error, in the output of all test runners, linters and sanitizers.
FAILURE = re.compile(
    r"\bFAILED\b|\bFAIL\b|^E  |\*\*\*|: Failure$|^\s*(\d+\) )?(Failure|Error):|\berror:|\bERROR\b"
    r"|^not ok|^\S* ?✖|Error \d+$"
)
# How many lines after such a line belong to it, and how many lines of one failed step the summary shows.
LINES_OF_FAILURE = 6
LINES_OF_STEP = 60


@dataclass
class Counts:
    """The tests of a step, by what became of them: "passed", "failed" or "skipped"."""

    tests: Counter[str] = field(default_factory=Counter)
    # The programs of a run of ctest that have counted their tests themselves, and whether some of these have failed.
    programs: dict[str, bool] = field(default_factory=dict)

    def read(self, line: str) -> None:
        """Adds what a line of the output says."""
        for pattern in SUMMARY_LINES:
            if match := pattern.search(line):
                found = match.groupdict()
                if program := found.pop("program", None):
                    self.programs[program] = self.programs.get(program, False) or "failed" in found
                self._add({name: int(count) for name, count in found.items()})
        if match := PROGRAMS.search(line):
            failed = sum(self.programs.values())
            self._add({"all": int(match["all"]) - len(self.programs), "failed": int(match["failed"]) - failed})
            self.programs.clear()

    def _add(self, found: dict[str, int]) -> None:
        if "all" in found:
            found["passed"] = found.pop("all") - found["failed"]
        for name, count in found.items():
            self.tests[name] += count


@dataclass
class Outcome:
    step: str
    status: int
    seconds: float
    counts: Counter[str]

    @property
    def passed(self) -> bool:
        return self.status == 0

    def line(self) -> str:
        counts = ", ".join(
            f"{self.counts[name]} {name}" for name in ("passed", "failed", "skipped") if self.counts.get(name)
        )
        return f"{'ok  ' if self.passed else 'FAIL'}  {self.step:<18} {self.seconds:6.0f} s  {counts}"


def run(step: str, logs: Path) -> Outcome:
    print(f"==== {step} begins", flush=True)
    counts = Counts()
    start = time.monotonic()
    with (
        open(logs / f"{step}.log", "w") as log,
        subprocess.Popen(
            ["make", "--no-print-directory", "-s", step],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            print(f"{step}: {line.rstrip()}", flush=True)
            log.write(line)
            counts.read(line.rstrip())
    outcome = Outcome(step, process.returncode, time.monotonic() - start, counts.tests)
    print(f"==== {outcome.line()}", flush=True)
    return outcome


def failures(log: Path) -> list[str]:
    """Returns the lines of a step's log that tell what failed, at most LINES_OF_STEP; its last lines if none does."""
    lines = log.read_text(errors="replace").splitlines()
    shown = [
        line
        for index, line in enumerate(lines)
        if any(FAILURE.search(earlier) for earlier in lines[max(0, index - LINES_OF_FAILURE) : index + 1])
    ]
    return shown[:LINES_OF_STEP] if shown else lines[-LINES_OF_FAILURE:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=Path, required=True)
    parser.add_argument("steps", nargs="+")
    options = parser.parse_args()
    options.logs.mkdir(parents=True, exist_ok=True)

    with ThreadPoolExecutor(2) as threads:
        outcomes = list(threads.map(lambda step: run(step, options.logs), options.steps))
    for outcome in outcomes:
        if not outcome.passed:
            print(f"\n==== what failed in {outcome.step}")
            print("\n".join(failures(options.logs / f"{outcome.step}.log")))
    print("\n==== summary")
    for outcome in outcomes:
        print(outcome.line())
    failed = sum(not outcome.passed for outcome in outcomes)
    print(f"steps: {len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
