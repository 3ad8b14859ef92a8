"""Measures how much of an all_reduce over a slow link is not hidden behind products of matrices.

Rank 0 prints a JSON object: the microseconds of the collective alone, of as many products alone and of both at the same
time, and the part of the collective that is not hidden.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

import oneflow_py as flow

BYTES, SIZE, ROUNDS = 8 << 20, 512, 5

tensor = flow.zeros([BYTES // 4])
matrix = flow.zeros([SIZE, SIZE])


def compute(count: int) -> None:
    for _ in range(count):
        flow.matmul(matrix, matrix)


def both(count: int) -> None:
    started = flow.comm.all_reduce_async(tensor)
    compute(count)
    started.wait()


def best_of(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Returns the microseconds of the best of several rounds, in which each runs once."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            flow.comm.barrier()
            start = time.perf_counter()
            run()
            best[name] = min(best[name], (time.perf_counter() - start) * 1e6)
    return best


def collective() -> None:
    flow.comm.all_reduce(tensor)


first = best_of({"collective": collective, "ten": lambda: compute(10)})
# Products take as long as the collective. There are as many on both ranks.
ratio = flow.tensor([first["collective"] / first["ten"]])
count = int(10 * flow.comm.broadcast(ratio).item())
found = best_of({"collective": collective, "products": lambda: compute(count), "both": lambda: both(count)})
shorter = min(found["collective"], found["products"])
found["exposed"] = max(0.0, found["both"] - max(found["collective"], found["products"])) / shorter
if os.environ["ONEFLOW_RANK"] == "0":
    print(json.dumps(found))
