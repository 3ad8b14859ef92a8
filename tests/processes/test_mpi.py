"""Collectives over MPI: programs that a launcher of MPI has started, without any change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
# Enough for a busy machine.
PATIENCE = 120


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
PROGRAMS = {
    "python": [sys.executable, HERE / "collectives.py"],
    "node": ["node", HERE / "collectives.js"],
    "ruby": ["ruby", HERE / "collectives.rb"],
}


@pytest.fixture(scope="module", params=MPIS, ids=lambda each: each.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Returns an MPI that is installed."""
    found: Mpi = request.param
    if shutil.which(found.launcher[0]) is None:
        pytest.skip(f"{found.launcher[0]} is not installed")
    if not (BUILD / "lib" / f"liboneflow_communicator_{found.name}.so").exists():
        pytest.skip(f"the communicator {found.name} was left out: its headers were not installed")
    return found


def environment(**added: str) -> dict[str, str]:
    """Returns the environment of a program, without variables of other launchers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ONEFLOW_", "OMPI_", "PMI"))}
    return kept | {"PYTHONPATH": str(BUILD / "python"), "RUBYLIB": str(ROOT / "bindings/ruby/lib")} | added


def run(mpi: Mpi, size: int, *command: str | Path) -> str:
    """Starts a program by the launcher of an MPI, and returns what it prints."""
    done = subprocess.run(
        [*mpi.launcher, "-n", str(size), *command],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def results(folder: Path, size: int, communicator: str) -> list[str]:
    return [Path(folder, f"{rank}.{communicator}").read_text() for rank in range(size)]


@pytest.fixture(scope="module", params=[2, 3])
def expected(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns what each rank gets over CommNet."""
    size: int = request.param
    folder, meeting = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("meeting")
    ranks = [
        subprocess.Popen(
            [*PROGRAMS["python"], folder],
            env=environment(
                ONEFLOW_RANK=str(rank),
                ONEFLOW_WORLD_SIZE=str(size),
                ONEFLOW_MEETING=f"file:{meeting}",
                ONEFLOW_SECRET="of the test",
            ),
        )
        for rank in range(size)
    ]
    assert [each.wait(PATIENCE) for each in ranks] == [0] * size
    found = results(folder, size, "commnet")
    assert all(each.endswith("they differ: True") for each in found)
    return found


@pytest.mark.parametrize("language", PROGRAMS)
def test_each_language_gets_the_bits_of_commnet(mpi: Mpi, expected: list[str], language: str, tmp_path: Path) -> None:
    run(mpi, len(expected), *PROGRAMS[language], tmp_path)
    assert results(tmp_path, len(expected), mpi.name) == expected


def test_the_code_of_the_c_library_stays_as_it_is(mpi: Mpi) -> None:
    """UCX, over which an MPI may send, replaces instructions and moves the heap under threads that allocate memory."""
    assert run(mpi, 2, sys.executable, HERE / "code_of_libc.py") == "changed: []\n"


def test_webassembly_still_finds_what_is_out_of_bounds(mpi: Mpi) -> None:
    """V8 finds it by a signal, which UCX takes unless it is told not to."""
    assert run(mpi, 2, "node", HERE / "out_of_bounds.js") == "RuntimeError: memory access out of bounds\n"


def test_a_rank_is_told_who_does_not_take_part_and_who_has_left(mpi: Mpi, tmp_path: Path) -> None:
    printed = run(mpi, 2, sys.executable, HERE / "departures.py", tmp_path).splitlines()
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
    lines = sorted(run(mpi, 2, program, level).splitlines())
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
        run(mpi, 2, sys.executable, "-c", program)


def test_a_missing_library_is_named(mpi: Mpi, tmp_path: Path) -> None:
    """A copy of the communicator looks for a library that no system has."""
    source = (BUILD / "lib" / f"liboneflow_communicator_{mpi.name}.so").read_bytes()
    copy = tmp_path / "communicator.so"
    copy.write_bytes(source.replace(b"libmpi.so.", b"libmpi.no.").replace(b"libmpich.so.", b"libmpich.no."))
    program = f"import oneflow_py as flow; flow.comm.init(communicator='{copy}')"
    with pytest.raises(AssertionError, match=f"the communicator '{mpi.name}' cannot be loaded: libmpi.no.") as found:
        run(mpi, 2, sys.executable, "-c", program)
    assert "comm.init" in str(found.value)
