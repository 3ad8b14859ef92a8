"""Measures how much of an all_reduce over a slow link is hidden behind products of matrices.

Rank 0 prints a JSON object: the seconds of the collective alone, of the products alone, and of both.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

import oneflow_py as flow

BYTES, SIZE, ROUNDS = 8 << 20, 512, 3

tensor = flow.zeros([BYTES // 4])
matrix = flow.zeros([SIZE, SIZE])


def seconds(run: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        flow.comm.barrier()
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def compute(count: int) -> None:
    for _ in range(count):
        flow.matmul(matrix, matrix)


def both(count: int) -> None:
    started = flow.comm.all_reduce_async(tensor)
    compute(count)
    started.wait()


flow.comm.all_reduce(tensor)
alone = seconds(lambda: flow.comm.all_reduce(tensor))
one = seconds(lambda: compute(10)) / 10
# As long as the collective, on all ranks the same.
count = int(flow.comm.broadcast(flow.tensor([alone / one])).item())
products = seconds(lambda: compute(count))
together = seconds(lambda: both(count))
if os.environ["ONEFLOW_RANK"] == "0":
    print(json.dumps({"collective": alone, "products": products, "both": together}))
