"""Measures collectives of oneflow or of torch.distributed's gloo from Python, as measure.c does from C.

measure.py LIBRARY FOLDER PLAN...: FOLDER is where gloo's processes meet; a plan is a collective and the bytes of its
larger side, such as "all_reduce:1048576". Rank 0 prints a JSON object: the microseconds of each, of the best of several
batches of calls.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

RANK, RANKS = int(os.environ["ONEFLOW_RANK"]), int(os.environ["ONEFLOW_WORLD_SIZE"])
# A batch moves about so many bytes, in at most so many calls, and all batches about so many.
BATCH_BYTES, ALL_BYTES, MOST_CALLS, FEWEST_BATCHES, MOST_BATCHES = 4 << 20, 128 << 20, 50, 3, 15

Run = Callable[[], object]


def of_oneflow(folder: str) -> tuple[Callable[[str, int], Run], Run]:
    import oneflow_py as flow

    def prepare(collective: str, count: int) -> Run:
        call = getattr(flow.comm, collective)
        tensor = flow.zeros([count // RANKS if collective == "all_gather" else count])
        return lambda: call(tensor)

    return prepare, flow.comm.barrier


def of_gloo(folder: str) -> tuple[Callable[[str, int], Run], Run]:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(int(os.environ["ONEFLOW_NUM_THREADS"]))
    dist.init_process_group("gloo", init_method=f"file://{folder}/gloo", rank=RANK, world_size=RANKS)

    def prepare(collective: str, count: int) -> Run:
        whole, part = torch.zeros(count), torch.zeros(count // RANKS)
        return {
            "all_reduce": lambda: dist.all_reduce(whole),
            "all_gather": lambda: dist.all_gather_into_tensor(whole, part),
            "reduce_scatter": lambda: dist.reduce_scatter_tensor(part, whole),
        }[collective]

    return prepare, dist.barrier


def best_seconds(run: Run, barrier: Run, size: int) -> float:
    calls = range(min(MOST_CALLS, max(1, BATCH_BYTES // size)))
    best = float("inf")
    for batch in range(min(MOST_BATCHES, max(FEWEST_BATCHES, ALL_BYTES // size)) + 1):
        barrier()
        start = time.perf_counter()
        for _ in calls:
            run()
        seconds = (time.perf_counter() - start) / len(calls)
        if batch > 0:  # the first one touches the memory
            best = min(best, seconds)
    return best


def main(library: str, folder: str, *plans: str) -> None:
    prepare, barrier = {"oneflow": of_oneflow, "gloo": of_gloo}[library](folder)
    found = {}
    for plan in plans:
        collective, _, size = plan.partition(":")
        found[plan] = best_seconds(prepare(collective, int(size) // 4), barrier, int(size)) * 1e6
    if RANK == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
