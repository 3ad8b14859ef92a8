"""Signals, forks, threads and ends at random moments within collectives."""

from __future__ import annotations

import pytest

from tests.processes.jobs import Job, command

SCENARIOS = {
    "python": ["raised_interrupts", "quiet_interrupts", "forks", "many", "several_threads", "leaves", "ends"],
    "ruby": ["raised_interrupts", "quiet_interrupts", "forks", "leaves", "ends"],
    "js": ["many", "leaves", "ends"],
}


@pytest.mark.parametrize(
    ("language", "scenario"), [(language, each) for language, names in SCENARIOS.items() for each in names]
)
def test_ranks_live_through(language: str, scenario: str) -> None:
    with Job([command(language, "long/stress", scenario)] * 3) as job:
        ranks = job.wait()
    for rank, each in enumerate(ranks):
        assert (each.status, each.errors) == (0, ""), f"rank {rank}: status {each.status}\n{each.errors}"
