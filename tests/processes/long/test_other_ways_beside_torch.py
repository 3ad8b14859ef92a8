"""torch.distributed and oneflow in one program, in the ways that `make test` leaves out."""

from __future__ import annotations

from tests.processes.test_beside_torch import run_ranks
from tests.processes.test_launchers import free_port, torchrun


def test_oneflow_joins_first() -> None:
    port = free_port()
    run_ranks("oneflow", [torchrun(rank, 2, 2, port) for rank in range(2)])


def test_the_ranks_are_on_two_hosts() -> None:
    """oneflow meets at the port after that of torch."""
    port = free_port()
    run_ranks("oneflow", [{**torchrun(rank, 2, 1, port), "ONEFLOW_SECRET": "of this test"} for rank in range(2)])
