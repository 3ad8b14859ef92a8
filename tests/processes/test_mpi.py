"""Collectives over MPI: programs that a launcher of MPI has started, without any change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes.drivers import Drivers
from tests.processes.jobs import BUILD, DEADLINE, HERE, LANGUAGES, ROOT, command


@dataclass(frozen=True)
class Mpi:
    """An MPI and its programs, as Debian calls them."""

    name: str
    launcher: tuple[str, ...]
    compiler: str


MPIS = [
    Mpi("openmpi", ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"), "mpicc.openmpi"),
    Mpi("mpich", ("mpiexec.mpich",), "mpicc.mpich"),
]


@pytest.fixture(scope="module", params=MPIS, ids=lambda each: each.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Returns an MPI that is installed."""
    found: Mpi = request.param
    if shutil.which(found.launcher[0]) is None:
        pytest.skip(f"{found.launcher[0]} is not installed")
    if not (BUILD / "lib" / f"liboneflow_communicator_{found.name}.so").exists():
        pytest.skip(f"the communicator {found.name} was left out: its headers were not installed")
    return found


def launch(mpi: Mpi, size: int, command: Sequence[str | Path]) -> str:
    """Starts ranks by the launcher of an MPI, and returns what they print."""
    done = subprocess.run(
        [*mpi.launcher, "-n", str(size), *command],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        # Without variables of other launchers.
        env={name: value for name, value in os.environ.items() if not name.startswith(("ONEFLOW_", "OMPI_", "PMI"))},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [2, 3])
def test_each_language(mpi: Mpi, size: int, language: str, tmp_path: Path) -> None:
    drivers = Drivers(tmp_path, size)
    launch(mpi, size, drivers.command(language))
    drivers.check(mpi.name)


def test_ranks_stay_in_step(mpi: Mpi, tmp_path: Path) -> None:
    launch(mpi, 3, command("python", "in_step", str(tmp_path)))


def test_the_code_of_the_c_library_stays_as_it_is(mpi: Mpi) -> None:
    """UCX, over which an MPI may send, replaces instructions and moves the heap under threads that allocate memory."""
    assert launch(mpi, 2, command("python", "code_of_libc")) == "changed: []\n"


def test_webassembly_still_finds_what_is_out_of_bounds(mpi: Mpi) -> None:
    """V8 finds it by a signal, which UCX takes unless it is told not to."""
    assert launch(mpi, 2, command("js", "out_of_bounds")) == "RuntimeError: memory access out of bounds\n"


def test_a_rank_is_told_who_does_not_take_part_and_who_has_left(mpi: Mpi, tmp_path: Path) -> None:
    printed = launch(mpi, 2, command("python", "departures", str(tmp_path))).splitlines()
    assert printed == [
        "comm.all_reduce: rank 1 has not taken part within 2 seconds",
        "comm.all_reduce: rank 1 is lost: it has left the job",
        "[2.0, 2.0, 2.0]",
    ]


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a program in C that uses MPI itself."""
    path = tmp_path_factory.mktemp(mpi.name) / "own_mpi"
    include, library = ROOT / "runtime", BUILD / "lib"
    command = [mpi.compiler, HERE / "own_mpi.c", f"-I{include / 'include'}", f"-I{include / 'generated/include'}"]
    subprocess.run([*command, f"-L{library}", "-loneflow", f"-Wl,-rpath,{library}", "-o", path], check=True)
    return path


@pytest.mark.parametrize("level", ["single", "funneled", "multiple"])
def test_the_program_may_initialize_and_finalize_mpi_itself(mpi: Mpi, program: Path, level: str) -> None:
    lines = sorted(launch(mpi, 2, [program, level]).splitlines())
    sums, elsewhere, finalized = lines[-4:], lines[:2], lines[2:4]
    assert sums == [f"{mpi.name} 1 of 2: 3"] * 4
    if level == "multiple":
        assert elsewhere == ["elsewhere 3"] * 2
    else:
        assert all("only the thread that has joined the job may call collectives" in each for each in elsewhere)
    assert all(each.endswith(("the program has finalized MPI", "it has left the job")) for each in finalized)


def test_a_launcher_of_another_mpi_is_an_error(mpi: Mpi) -> None:
    other = next(each for each in MPIS if each is not mpi)
    program = f"import oneflow_py as flow; flow.comm.init(communicator='{other.name}', timeout=5)"
    with pytest.raises(AssertionError, match="it must be started by the launcher of the MPI that it loads"):
        launch(mpi, 2, [sys.executable, "-c", program])


def test_a_missing_library_is_named(mpi: Mpi, tmp_path: Path) -> None:
    """A copy of the communicator looks for a library that no system has."""
    source = (BUILD / "lib" / f"liboneflow_communicator_{mpi.name}.so").read_bytes()
    copy = tmp_path / "communicator.so"
    copy.write_bytes(source.replace(b"libmpi.so.", b"libmpi.no.").replace(b"libmpich.so.", b"libmpich.no."))
    program = f"import oneflow_py as flow; flow.comm.init(communicator='{copy}')"
    with pytest.raises(AssertionError, match=f"the communicator '{mpi.name}' cannot be loaded: libmpi.no.") as found:
        launch(mpi, 2, [sys.executable, "-c", program])
    assert "comm.init" in str(found.value)
