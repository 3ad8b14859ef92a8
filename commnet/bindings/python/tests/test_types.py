import pathlib
import subprocess
import sys

import pytest

import commnet

HERE = pathlib.Path(__file__).parent


def test_types_are_complete_and_right() -> None:
    pytest.importorskip("mypy")
    package = pathlib.Path(commnet.__file__).parent
    assert (package / "py.typed").exists()
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", package, HERE / "types/program.py"]
    process = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=300)
    assert process.returncode == 0, process.stdout + process.stderr
