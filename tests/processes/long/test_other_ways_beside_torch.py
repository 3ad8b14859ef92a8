"""torch.distributed and oneflow in one program, in the ways that `make test` leaves out."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from tests.processes.jobs import DEADLINE, command
from tests.processes.test_beside_torch import environment
from tests.processes.test_launchers import free_port, torchrun


def _run(first: str, variables: list[Mapping[str, str]]) -> None:
    """Runs a rank with each of these variables."""
    processes = [
        subprocess.Popen(
            command("python", "beside_torch", first),
            env={**environment(), **each},
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


def test_rank_0_of_torch_serves_the_port() -> None:
    port = free_port()
    _run("torch", [torchrun(rank, 2, 2, port) for rank in range(2)])


def test_oneflow_joins_first() -> None:
    port = free_port()
    _run("oneflow", [torchrun(rank, 2, 2, port) for rank in range(2)])


def test_the_ranks_are_on_two_hosts() -> None:
    """oneflow meets at the port after that of torch."""
    port = free_port()
    _run("oneflow", [{**torchrun(rank, 2, 1, port), "ONEFLOW_SECRET": "of this test"} for rank in range(2)])
