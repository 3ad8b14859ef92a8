"""Jobs that srun starts, in a Slurm of this host: over CommNet, and over the MPIs that its plugins support."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.drivers import Drivers
from tests.processes.jobs import LANGUAGES, command
from tests.processes.long.slurm import NoSlurm, Slurm

SIZE = 3


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    try:
        with Slurm(tmp_path_factory.mktemp("slurm")) as slurm:
            yield slurm
            # Ranks of one host meet in folders of their user.
            left = [each for folder in slurm.launcher.temporary.iterdir() for each in folder.iterdir()]
            assert left == []
    except NoSlurm as reason:
        pytest.skip(str(reason))


def _run(slurm: Slurm, *arguments: str, **variables: str) -> str:
    done = slurm.call("srun", "-n", str(SIZE), *arguments, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language(slurm: Slurm, language: str, tmp_path: Path) -> None:
    drivers = Drivers(tmp_path, SIZE)
    _run(slurm, *drivers.command(language))
    drivers.check()


@pytest.mark.parametrize(("plugin", "communicator"), [("pmi2", "mpich"), ("pmix", "openmpi")])
def test_mpi(slurm: Slurm, plugin: str, communicator: str, tmp_path: Path) -> None:
    drivers = Drivers(tmp_path, SIZE)
    _run(slurm, f"--mpi={plugin}", *drivers.command("python"), ONEFLOW_COMMUNICATOR=communicator)
    drivers.check(communicator)


@pytest.mark.parametrize(("plugin", "communicator"), [("none", "commnet"), ("pmi2", "mpich"), ("pmix", "commnet")])
def test_what_the_ranks_know(slurm: Slurm, plugin: str, communicator: str) -> None:
    lines = _run(slurm, f"--mpi={plugin}", *command("python", "ranks")).splitlines()
    assert sorted(lines) == [f"{rank} {SIZE} {rank} {SIZE} {communicator} 3.0" for rank in range(SIZE)]


def test_steps_of_one_allocation(slurm: Slurm) -> None:
    """Two steps at a time meet in different places."""
    step = f"srun --overlap -n 2 {' '.join(command('python', 'ranks'))}"
    done = slurm.call("salloc", "-n", "2", "sh", "-c", f"{step} & {step}; wait")
    assert sorted(done.stdout.splitlines()) == [f"{rank} 2 {rank} 2 commnet 2.0" for rank in (0, 0, 1, 1)], done.stderr


def test_a_rank_that_fails_ends_the_job(slurm: Slurm) -> None:
    program = "import oneflow_py as flow; r = flow.comm.rank(); flow.comm.barrier(); r == 1 and exit(3)"
    again = f"{program}; flow.comm.barrier()"
    done = slurm.call("srun", "-n", str(SIZE), *command("python", "ranks")[:1], "-c", again)
    assert done.returncode != 0
    assert "rank 1" in done.stderr
