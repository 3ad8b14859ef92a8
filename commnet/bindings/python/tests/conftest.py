"""Endpoints in pairs, of each transport."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

import commnet

PATIENCE = 20.0  # seconds after which a test gives up
SECRET = b"a secret"


def wait_until(condition: Callable[[], object]) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "the condition does not come to hold"
        time.sleep(0.001)


class Pair:
    """Two endpoints, and the peer that the second one is to the first."""

    def __init__(self, transport: str) -> None:
        self.a = commnet.Endpoint("a", SECRET, transport)
        self.b = commnet.Endpoint("b", SECRET, transport)
        self.peer = self.a.connect(self.b.address)

    def close(self) -> None:
        self.a.close()
        self.b.close()


@pytest.fixture(params=["shared", "sockets", "memory"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    pair = Pair(request.param)
    yield pair
    pair.close()
