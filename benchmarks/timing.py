"""Interleaved timing for the benchmark programs."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

# Seconds of sleep before each contestant: threads of the previous one may spin for about 20 ms after their work.
REST = 0.03


def interleaved(
    contestants: Mapping[str, Callable[[], object]], *, rounds: int = 15, seconds: float = 0.02
) -> dict[str, float]:
    """Returns the median seconds per call of each contestant. All run once in each round, on an idle machine."""
    repeats = {}
    for name, function in contestants.items():
        function()
        start = time.perf_counter()
        count = 0
        while time.perf_counter() - start < seconds / 2:
            function()
            count += 1
        repeats[name] = max(1, count * 2)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, function in contestants.items():
            calls = range(repeats[name])
            time.sleep(REST)
            start = time.perf_counter()
            for _ in calls:
                function()
            times[name].append((time.perf_counter() - start) / len(calls))
    return {name: statistics.median(values) for name, values in times.items()}


def report(
    what: str,
    times: Mapping[str, float],
    bounds: list[dict[str, Any]],
    *,
    unit: str = "us",
    group: str | None = None,
    references: Mapping[str, float] | None = None,
    means: list[dict[str, Any]] | None = None,
    profile: Mapping[str, float] | None = None,
) -> None:
    """Prints one row of results. `times` and `references` are in seconds; the key of our time is "oneflow".

    With `group`, the bounds apply to the geometric mean of all rows of that group. `means` does so for several groups.
    `profile` says what our time was spent on: the microseconds of each part.
    """
    if group:
        means = [{"group": group, **bound} for bound in bounds]
        bounds = []
    scale = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}[unit]
    row: dict[str, Any] = {
        "what": what,
        "unit": unit,
        "ours": round(times["oneflow"] * scale, 3),
        "peers": {name: round(value * scale, 3) for name, value in times.items() if name != "oneflow"},
        "references": {name: round(value * scale, 3) for name, value in (references or {}).items()},
        "bounds": bounds,
        "means": means or [],
    }
    if profile is not None:
        row["profile"] = dict(profile)
    print(json.dumps(row), flush=True)
