"""The program oneflow-run, which starts the ranks of a job, and the command of that name, which becomes it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
# In an installed package, and in the build folder of a checkout.
PLACES = (PACKAGE / "lib" / "oneflow-run", PACKAGE.parents[1] / "lib" / "oneflow-run")


def find() -> Path:
    """Returns the program. Raises FileNotFoundError if the package lacks it."""
    for path in PLACES:
        if path.exists():
            return path
    reinstall = "python -m pip install --force-reinstall oneflow-py"
    raise FileNotFoundError(f"oneflow-run: {PLACES[0]} is missing. Install the package again: {reinstall}")


def main() -> None:
    """Runs the program with the arguments of this one."""
    try:
        program = find()
    except FileNotFoundError as error:
        sys.exit(str(error))
    # Python ignores these signals, and programs inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(program, ["oneflow-run", *sys.argv[1:]])
