"""Tests that the picture of docs/profiling.md is the one that the tool draws of its trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.trace_picture import calls_of, svg

FOLDER = Path(__file__).parents[2] / "docs" / "profiling"
TRACE = json.loads((FOLDER / "trace.json").read_text())


def test_picture_is_up_to_date() -> None:
    assert (FOLDER / "trace.svg").read_text() == svg(TRACE), "run make docs"


def test_calls_of_bodies_are_below_their_operator() -> None:
    depths = {call.name: call.depth for call in calls_of(TRACE["traceEvents"])}
    assert depths["index"] < depths["nonzero"] < depths["count_nonzero"] < depths["ne"]


def test_a_part_of_the_time() -> None:
    first = next(calls_of(TRACE["traceEvents"]))
    picture = svg(TRACE, first.start, first.start + first.time)
    assert f"<title>{first.name}: " in picture
    assert "<title>index: " not in picture
    with pytest.raises(ValueError, match="no calls"):
        svg(TRACE, 1e9)
