"""The passes that make graphs smaller or faster, and what they have done: see `Graph.optimize`."""

from __future__ import annotations

from typing import NamedTuple

from oneflow_py import _native as native


class PassInfo(NamedTuple):
    """A pass.

    level: from which level on `optimize` runs it
    error: the largest relative error that one of its changes causes; 0 if results stay the same
    """

    name: str
    summary: str
    level: int
    error: float


class PassReport(NamedTuple):
    """What a pass has done.

    error: the largest difference of an output, divided by its largest element, as measured; NaN if it was not measured
    """

    name: str
    changes: int
    calls_before: int
    calls_after: int
    error: float


class Report(NamedTuple):
    """What passes have done to a graph; `print` shows a table.

    passes: those that have changed something, in the order of their first change
    error: of all together, as measured; NaN if it was not measured
    """

    passes: list[PassReport]
    error: float
    table: str

    def __str__(self) -> str:
        return self.table


def passes() -> list[PassInfo]:
    """Returns all passes, in the order in which they run."""
    return [PassInfo(*each) for each in native._passes()]
