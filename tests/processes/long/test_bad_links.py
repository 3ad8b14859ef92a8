"""Ranks on both sides of a link that delays and loses packets, or is cut."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launch.conftest import BUILD, wait_until
from tests.processes.drivers import Drivers
from tests.processes.jobs import Job, command, run

# Ranks 0 and 1 are on the left.
SIDES = (0, 0, 1)
ADDRESSES = ("10.77.0.1", "10.77.0.2")
MEETING = {"ONEFLOW_MEETING": f"tcp://{ADDRESSES[0]}:7000"}


class Link:
    """A link between two networks, which a program makes."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(BUILD / "bin" / "network_link")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._first = self._line()
        self.why_not = "" if re.fullmatch(r"\d+ \d+ \d+", self._first) else self._first

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        self._process.communicate()

    def set(self, order: str) -> None:
        """Sets how the link behaves from now on: "LOSS DELAY_US", or "cut"."""
        assert self._process.stdin is not None
        self._process.stdin.write(order + "\n")
        self._process.stdin.flush()
        assert self._line() == ""

    def at(self, rank: int, command: list[str]) -> list[str]:
        """Returns the command that runs another one on the side of a rank."""
        process, *descriptors = self._first.split()
        enter = ["nsenter", f"--net=/proc/{process}/fd/{descriptors[SIDES[rank]]}"]
        if os.readlink(f"/proc/{process}/ns/user") != os.readlink("/proc/self/ns/user"):
            enter += ["--preserve-credentials", f"--user=/proc/{process}/ns/user"]
        return [*enter, "env", f"ONEFLOW_LISTEN={ADDRESSES[SIDES[rank]]}", *command]


@pytest.fixture
def link() -> Iterator[Link]:
    link = Link()
    if link.why_not:
        pytest.skip(link.why_not)
    yield link
    link.close()


@pytest.mark.parametrize("loss", [0.01, 0.03])
def test_results_are_the_same_bits(link: Link, loss: float, tmp_path: Path) -> None:
    link.set(f"{loss} 20000")
    drivers = Drivers(tmp_path, len(SIDES))
    run([link.at(rank, drivers.command("python")) for rank in range(len(SIDES))], MEETING)
    drivers.check()


@pytest.mark.parametrize("sizes", ["small", "large"])
def test_a_cut_link_is_told(link: Link, sizes: str, tmp_path: Path) -> None:
    link.set("0 1000")
    program = command("python", "long/cut", str(tmp_path), sizes)
    with Job([link.at(rank, program) for rank in range(len(SIDES))], MEETING) as job:
        wait_until(lambda: len(list(tmp_path.iterdir())) == len(SIDES))
        link.set("cut")
        ranks = job.wait()
    for side, each in zip(SIDES, ranks, strict=True):
        assert each.status == 0, each.errors
        first, error, own = each.results
        assert first == [3, 3, 3]
        assert any(f"rank {rank}" in str(error) for rank, other in enumerate(SIDES) if other != side), error
        assert own == ([2, 2, 2] if side == 0 else [1, 1, 1])
