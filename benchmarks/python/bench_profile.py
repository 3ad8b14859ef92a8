"""Measures what a call costs while no profile runs, and what a profile adds. Both alternate within one process."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

import oneflow_py as flow

CALLS, ROUNDS = 20_000, 25


def nanoseconds_per_call(call: Callable[[], object]) -> float:
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        call()
    return (time.perf_counter_ns() - start) / CALLS


def measure(what: str, call: Callable[[], object]) -> None:
    """Prints the medians of the time without a profile, and of the difference in the same round."""
    off, added = [], []
    nanoseconds_per_call(call)
    for _ in range(ROUNDS):
        before = nanoseconds_per_call(call)
        with flow.profile():
            during = nanoseconds_per_call(call)
        off.append((before + nanoseconds_per_call(call)) / 2)
        added.append(during - off[-1])
    row = {
        "what": f"{what}: added by a profile",
        "unit": "ns",
        "ours": round(statistics.median(added)),
        "peers": {},
        "references": {"without": round(statistics.median(off)), "limit": 150},
        "bounds": [{"peer": "limit", "at_most": 1.0}],
    }
    print(json.dumps(row), flush=True)


def main() -> None:
    flow.set_option("num_threads", 1)
    x = flow.ones(4)
    matrix = flow.ones(4, 4)
    measure("-x, 4 floats", lambda: -x)
    measure("x + x, 4 floats", lambda: x + x)
    measure("matmul, 4 x 4", lambda: flow.matmul(matrix, matrix))


if __name__ == "__main__":
    main()
