"""Builds liboneflow with only the operators that given graphs call.

Usage: deploy.py MODEL.flow... --into FOLDER. FOLDER gets what `cmake --install` installs: a static library, headers,
and files for pkg-config and CMake. The sources are copied to `build/deploy`, generated for these operators, and
compiled there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("VERSION", "CMakeLists.txt", "cmake", "opdefs", "runtime")
TARGETS = ("runtime", "cpu", "c", "cpp")
HEADER_LIMIT = 100_000_000  # of safetensors


def operators_of(model: Path) -> list[str]:
    """Returns the operators that a saved graph calls. Raises ValueError if the file is none."""
    with model.open("rb") as file:
        start = file.read(8)
        size = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        text = file.read(size) if 0 < size <= HEADER_LIMIT else b""
    try:
        graph = json.loads(text)["__metadata__"]["oneflow.graph"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{model} is not a saved graph") from None
    return re.findall(r"^operator ([\w.]+):", graph, re.MULTILINE)


def copy_sources(to: Path) -> None:
    """Copies what the library is built of, except tests, plugins, and what is generated; replaces an earlier copy.

    Times of files are kept, so that what has not changed is not compiled again.
    """

    def left_out(folder: str, names: list[str]) -> Iterable[str]:
        parts = Path(folder)
        return [name for name in names if name in ("generated", "tests") or (parts / name / "device.mk").exists()]

    for part in PARTS:
        source, target = ROOT / part, to / part
        if source.is_file():
            shutil.copy2(source, target)
            continue
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, ignore=left_out)


def build(operators: Iterable[str], folder: Path, into: Path) -> None:
    """Generates, compiles and installs the library."""
    folder.mkdir(parents=True, exist_ok=True)
    copy_sources(folder)
    generate = [sys.executable, "-m", "codegen", "--root", str(folder), "generate", "--operators", ",".join(operators)]
    _run([*generate, *(f"--only={target}" for target in TARGETS)])
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "ONEFLOW_BUILD_BINDINGS": "OFF",
        "ONEFLOW_BUILD_TESTS": "OFF",
        "ONEFLOW_STATIC": "ON",
        "CMAKE_LIBRARY_PATH": str(ROOT / "build" / "floor"),  # has SLEEF as a static library
    }
    # With these settings, ccache finds what it has compiled for the whole library.
    environment = {**os.environ, "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
    made = folder / "build"
    _run(["cmake", "-G", "Ninja", "-S", folder, "-B", made, *(f"-D{k}={v}" for k, v in options.items())], environment)
    _run(["cmake", "--build", made], environment)
    _run(["cmake", "--install", made, "--prefix", into, "--strip"], environment)


def _run(command: list[str | Path], environment: dict[str, str] | None = None) -> None:
    """Runs a command, and ends the program with its output if it fails."""
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds liboneflow with only the operators that given graphs call.")
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="a saved graph")
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER", help="where to install the library")
    options = parser.parse_args()
    try:
        operators = sorted({name for model in options.models for name in operators_of(model)})
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    build(operators, ROOT / "build" / "deploy", options.into.resolve())
    print(f"{options.into}: liboneflow.a with {', '.join(operators)}, and what these call")


if __name__ == "__main__":
    main()
