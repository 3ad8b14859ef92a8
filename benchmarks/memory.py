"""The peak of the resident memory of what a process does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def resident_kib(what: str) -> int:
    """Returns an entry of the status of the process, such as VmRSS."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1])
    raise ValueError(what)


def print_peak(action: Callable[[], object]) -> None:
    """Prints the peak of the resident memory during an action, in KiB, less what is resident before it."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak of the imports does not count
    before = resident_kib("VmRSS")
    action()
    print(resident_kib("VmHWM") - before)


def peak_gigabytes(program: str, *arguments: str) -> float:
    """Returns what a process of its own prints by `print_peak`, in GB."""
    command = [sys.executable, program, *arguments]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1e6
