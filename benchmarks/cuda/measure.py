"""Timing on a GPU for the benchmark programs in this folder."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

try:
    import torch  # loads the cuBLASLt that oneflow uses from its first product on
except ImportError:
    torch = None

import oneflow_py as flow
from benchmarks.run import holds
from benchmarks.timing import report

ROUNDS = 7
BATCH = 0.01  # seconds of work that are submitted before the host waits
EQUAL = [{"peer": "PyTorch", "at_most": 1.0}]


def can_run() -> bool:
    """Returns whether there are PyTorch, a GPU and the CUDA plugin. If not, says so on stderr."""
    found = torch is not None and torch.cuda.is_available() and any(each.type == "cuda" for each in flow.devices())
    if not found:
        print("not run: this needs PyTorch, a GPU and the CUDA plugin", file=sys.stderr)
    return found


def synchronize() -> None:
    """Waits for all work on the GPU, whoever submitted it."""
    torch.cuda.synchronize()
    flow.synchronize("cuda:0")


def batch(function: Callable[[], object], calls: int) -> float:
    """Returns the seconds that a number of calls takes until the GPU has finished them."""
    synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        function()
    synchronize()
    return time.perf_counter() - start


def kernels(function: Callable[[], object]) -> dict[str, float]:
    """Returns the microseconds of each kernel and copy of one call, by name. CUPTI sees those of all libraries."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        function()
        synchronize()
    found: dict[str, float] = {}
    for event in profile.events():
        if event.device_time_total > 0:
            found[event.name] = round(found.get(event.name, 0.0) + event.device_time_total, 1)
    return found


def measure(
    what: str,
    contestants: Mapping[str, Callable[[], object]],
    bounds: list[dict[str, Any]],
    *,
    factors: Mapping[str, float] | None = None,
    group: str | None = None,
    means: list[dict[str, Any]] | None = None,
) -> None:
    """Times batches of calls in alternation. `factors` scale the times of peers that do less or more work.

    A row that misses a bound says which kernels our call ran.
    """
    calls = {}
    for name, function in contestants.items():
        batch(function, 1)
        calls[name] = max(1, min(200, int(BATCH / batch(function, 1))))
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, function in contestants.items():
            times[name].append(batch(function, calls[name]) / calls[name])
    medians = {name: statistics.median(values) * (factors or {}).get(name, 1.0) for name, values in times.items()}
    row = {
        "ours": medians["oneflow"],
        "peers": {name: seconds for name, seconds in medians.items() if name != "oneflow"},
        "bounds": bounds,
    }
    profile = None if all(holds(row, bound) for bound in bounds) else kernels(contestants["oneflow"])
    report(what, medians, bounds, unit="us", group=group, means=means, profile=profile)
