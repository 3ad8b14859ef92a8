"""Runs the C and C++ programs over the C API: all conformance vectors, and hostile input.

The programs lie in bin/ of the build folder, which OF_BUILD names (default: build/ at the root). The sanitized build
runs the same file.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(os.environ.get("OF_BUILD", ROOT / "build")) / "bin"
VECTORS = sorted((ROOT / "tests" / "generated" / "vectors").glob("*.json"))


def run(program: str, *arguments: str) -> str:
    done = subprocess.run([PROGRAMS / program, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_vectors_exist() -> None:
    assert VECTORS, "no vectors: run `make vectors` first"


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vectors(path: Path) -> None:
    assert "cases" in run("capi_replay", str(path))


def test_hostile_input() -> None:
    assert "checks" in run("capi_hostile")
