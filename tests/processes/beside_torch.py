"""Uses torch.distributed and oneflow in one rank: joins the jobs of both, that of the argument first, and calls
collectives of both by turns, then from two threads at once. Ends well if all results are right."""

import sys
import threading
from datetime import timedelta

import torch
import torch.distributed as dist

import oneflow_py as flow

comm = flow.comm
ROUNDS = 20


def join_torch() -> None:
    dist.init_process_group("gloo", timeout=timedelta(seconds=100))


def join_oneflow() -> None:
    comm.init(timeout=100)


def sum_of_torch(count: int, value: float) -> float:
    x = torch.full([count], value)
    dist.all_reduce(x)
    return x[-1].item()


def sum_of_oneflow(count: int, value: float) -> float:
    return comm.all_reduce(flow.full([count], value))[-1].item()


def sums(function, count: int, value: float) -> list[float]:
    return [function(count, value + i) for i in range(ROUNDS)]


for join in (join_torch, join_oneflow) if sys.argv[1] == "torch" else (join_oneflow, join_torch):
    join()
assert (dist.get_rank(), dist.get_world_size()) == (comm.rank(), comm.world_size())
rank, size = comm.rank(), comm.world_size()


def expected() -> list[float]:
    return [float(sum(other + i for other in range(size))) for i in range(ROUNDS)]


for count in (3, 50_000):
    for i in range(ROUNDS):
        assert sum_of_torch(count, rank + i) == sum_of_oneflow(count, rank + i) == expected()[i]

found: dict[str, list[float]] = {}
threads = [
    threading.Thread(target=lambda f=function: found.update({f.__name__: sums(f, 50_000, rank)}))
    for function in (sum_of_torch, sum_of_oneflow)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found == {"sum_of_torch": expected(), "sum_of_oneflow": expected()}

# The job is left and joined again beside torch's, whose store keeps what it has.
store = dist.distributed_c10d._get_default_store()
store.set(f"key{rank}", str(rank))
dist.barrier()
comm.finalize()
assert sum_of_torch(3, rank) == expected()[0]
join_oneflow()
comm.barrier()
assert [store.get(f"key{other}") for other in range(size)] == [str(other).encode() for other in range(size)]
dist.destroy_process_group()
assert sum_of_oneflow(3, rank) == expected()[0]
comm.finalize()
