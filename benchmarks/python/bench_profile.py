"""Measures what a call costs while no profile runs, and what a profile adds. Both alternate within one process."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator

import oneflow_py as flow

CALLS, BATCHES, ROUNDS = 500, 8, 100


def batches(call: Callable[[], object]) -> Iterator[float]:
    """Yields the nanoseconds per call of several batches, each too short to be often interrupted."""
    for _ in range(BATCHES):
        start = time.perf_counter_ns()
        for _ in range(CALLS):
            call()
        yield (time.perf_counter_ns() - start) / CALLS


def measure(what: str, call: Callable[[], object]) -> None:
    """Prints the difference of the first quartiles, which other programs on the machine affect little."""
    off, on = [], []
    for _ in range(ROUNDS):
        off.extend(batches(call))
        with flow.profile():
            on.extend(batches(call))
    quiet_off, quiet_on = (statistics.quantiles(times, n=4)[0] for times in (off, on))
    row = {
        "what": f"{what}: added by a profile",
        "unit": "ns",
        "ours": round(quiet_on - quiet_off),
        "peers": {},
        "references": {"without": round(quiet_off), "limit": 150},
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
