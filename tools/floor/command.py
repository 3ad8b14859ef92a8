"""Runs the tools of the compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path


def run(*command: str | Path) -> str:
    """Returns what a command prints. Raises CalledProcessError, with what it says, if it fails."""
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True).stdout
