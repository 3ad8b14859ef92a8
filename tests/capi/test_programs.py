"""Runs the C and C++ test programs of the C API: conformance vectors on every device, and invalid input.

The programs are in bin/ of the build folder, which OF_BUILD names (default: build/ in the root). The sanitized build
runs these tests as well.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(os.environ.get("OF_BUILD", ROOT / "build")) / "bin"
VECTORS = sorted((ROOT / "tests" / "generated" / "vectors").glob("*.json"))


def run(program: str, *arguments: str) -> str:
    done = subprocess.run([PROGRAMS / program, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def replayed() -> list[str]:
    """Returns the output lines of runs over all files on every device.

    Runs one process per processor, because kernels that are compiled at their first launch take most of the time.
    """

    def replay(paths: list[Path]) -> list[str]:
        program = [PROGRAMS / "capi_replay", ROOT / "tests" / "devices.json", *paths]
        return subprocess.run(program, capture_output=True, text=True, timeout=3000).stdout.splitlines()

    count = os.cpu_count() or 1
    shares = [share for i in range(count) if (share := VECTORS[i::count])]
    with ThreadPoolExecutor(count) as threads:
        return list(itertools.chain.from_iterable(threads.map(replay, shares)))


def test_vectors_exist() -> None:
    assert VECTORS, "no vectors: run `make vectors` first"


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vectors_pass_on_every_device(replayed: list[str], path: Path) -> None:
    own = [line for line in replayed if line.startswith((f"{path.stem} on ", str(path)))]
    totals = [re.search(r": (\d+) of (\d+) cases$", line) for line in own]
    assert totals, "the program ended before this file"
    assert all(total and total[1] == total[2] != "0" for total in totals), "\n".join(own[:40])


def test_generators_draw_the_numbers_of_an_independent_philox() -> None:
    run("capi_random", str(ROOT / "tests" / "random.json"))


def test_missing_devices_are_reported_as_skipped(replayed: list[str]) -> None:
    if missing := {line for line in replayed if line.startswith("skipped ")}:
        pytest.skip("; ".join(sorted(missing)))


def test_invalid_input_gives_errors() -> None:
    assert "checks" in run("capi_hostile")
