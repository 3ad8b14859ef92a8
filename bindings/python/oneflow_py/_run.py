"""The command oneflow-run, which starts the ranks of a job: it becomes the program of that name in the package."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
# In an installed package, and in the build folder of a checkout.
PLACES = (PACKAGE / "lib" / "oneflow-run", PACKAGE.parents[1] / "lib" / "oneflow-run")


def main() -> None:
    """Runs the program with the arguments of this one."""
    program = next((path for path in PLACES if path.exists()), None)
    if program is None:
        reinstall = "python -m pip install --force-reinstall oneflow-py"
        sys.exit(f"oneflow-run: {PLACES[0]} is missing. Install the package again: {reinstall}")
    # Python ignores these signals, and programs inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(program, ["oneflow-run", *sys.argv[1:]])
