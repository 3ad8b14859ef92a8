"""A thousand short jobs, of which a third have a rank that is killed, fails or leaves: none leaves anything behind."""

from __future__ import annotations

import random
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.launch.conftest import BUILD, Launcher, wait_until
from tests.processes.jobs import ROOT

HERE = Path(__file__).parent
BATCHES, JOBS_OF_BATCH, AT_ONCE = 20, 50, 3
# Statuses of short_job.c.
FAILS, TOLD = 3, 4
KILLED = 128 + signal.SIGKILL
# What the launcher may return, by what a rank does: it is that of the rank that ends first, if one ends badly.
STATUSES = {"": {0}, "killed": {0, TOLD, KILLED}, "fails": {FAILS, TOLD}, "leaves": {0, TOLD}}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "short_job"
    include, library = ROOT / "runtime", BUILD / "lib"
    command = ["cc", "-O1", HERE / "short_job.c", f"-I{include / 'include'}", f"-I{include / 'generated/include'}"]
    subprocess.run([*command, f"-L{library}", "-loneflow", f"-Wl,-rpath,{library}", "-o", path], check=True)
    return path


def _named_after(folder: Path) -> list[str]:
    """Returns the sockets and the segments of shared memory whose names have that of a folder or of the library."""
    sockets = [line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines()]
    found = [name for name in sockets if str(folder) in name]
    return found + [each.name for each in Path("/dev/shm").iterdir() if "oneflow" in each.name]


def _run(program: Path, folder: Path, number: int) -> None:
    """Runs a job whose size and fault follow from its number, and checks that nothing is left of it."""
    choice = random.Random(number)
    size = choice.randint(2, 4)
    fault = choice.choice(["killed", "fails", "leaves"]) if number % 3 == 0 else ""
    when = choice.randint(1, 60_000) if fault == "killed" else choice.randint(0, 4)
    folder.mkdir()
    launcher = Launcher(folder)
    arguments = [fault, str(choice.randrange(size)), str(when)] if fault else []
    done = launcher.run("-n", str(size), str(program), *arguments)
    label = f"job {number} of {size} ranks {arguments}: status {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode in STATUSES[fault], label
    # What has no name, such as sockets that listen and memory that is shared, ends with the last process.
    wait_until(lambda: not launcher.processes())
    assert list(launcher.temporary.iterdir()) == [], label
    assert _named_after(folder) == [], label


@pytest.mark.parametrize("batch", range(BATCHES))
def test_nothing_is_left_of_jobs(program: Path, tmp_path: Path, batch: int) -> None:
    numbers = range(batch * JOBS_OF_BATCH, (batch + 1) * JOBS_OF_BATCH)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(lambda number: _run(program, tmp_path / str(number), number), numbers))
