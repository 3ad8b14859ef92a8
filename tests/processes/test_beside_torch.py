"""torch.distributed and oneflow in one program, which finds both jobs by the variables of torchrun."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from tests.processes.jobs import DEADLINE, ROOT, command
from tests.processes.test_launchers import clean_environment, free_port, torchrun


def _environment() -> dict[str, str]:
    return {**clean_environment(), "PYTHONPATH": str(ROOT / "build" / "python"), "OMP_NUM_THREADS": "1"}


def run_ranks(first: str, variables: list[Mapping[str, str]]) -> None:
    """Runs a rank with each of these variables."""
    processes = [
        subprocess.Popen(
            command("python", "beside_torch", first),
            env={**_environment(), **each},
            stderr=subprocess.PIPE,
            text=True,
        )
        for each in variables
    ]
    try:
        for each in processes:
            _, errors = each.communicate(timeout=DEADLINE)
            assert each.returncode == 0, errors
    finally:
        for each in processes:
            each.kill()


def test_torchrun_starts_it() -> None:
    """The agent of torchrun serves the port."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    program = command("python", "beside_torch", "torch")[1:]
    done = subprocess.run([*launcher, *program], env=_environment(), capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr


def test_rank_0_of_torch_serves_the_port() -> None:
    port = free_port()
    run_ranks("torch", [torchrun(rank, 2, 2, port) for rank in range(2)])
