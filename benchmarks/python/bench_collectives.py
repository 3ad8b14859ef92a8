"""Compares all_reduce of 64 MiB per rank over four CPU devices of one process with NumPy, on two threads.

There are two peers, both on the one thread that NumPy uses. "NumPy sum" adds in place: a0 += a1, a0 += a2, a0 += a3.
Only the first rank has the sum afterwards. "NumPy sum and copies" also copies the sum to the other three ranks, as
all_reduce does.

The memory bandwidth limits all of them. The sum reads 384 MiB and writes 192 MiB, the copies read and write 192 MiB
each, and all_reduce reads and writes 256 MiB each. On a machine where one thread uses the whole bandwidth, all_reduce
can therefore be at most 9/8 times as fast as the sum alone.
"""

import os

os.environ["ONEFLOW_CPU_DEVICES"] = "4"  # read when the library is first used

import numpy as np

import oneflow_py as flow
from benchmarks.timing import interleaved, report

BYTES = 64 << 20

flow.set_num_threads(2)
random = np.random.default_rng(0)
a0, a1, a2, a3 = arrays = [random.standard_normal(BYTES // 4, dtype=np.float32) for _ in range(4)]
tensors = [flow.tensor(each, device=f"cpu:{rank}") for rank, each in enumerate(arrays)]
fresh = [flow.tensor(each, device=f"cpu:{rank}") for rank, each in enumerate(arrays)]
wanted = ((a0 + a1) + a2) + a3
assert all(np.array_equal(each.numpy(), wanted) for each in flow.comm.local.all_reduce(fresh))


def sum_in_place() -> None:
    np.add(a0, a1, out=a0)
    np.add(a0, a2, out=a0)
    np.add(a0, a3, out=a0)


def sum_and_copies() -> None:
    sum_in_place()
    for each in (a1, a2, a3):
        each[:] = a0


# Repeated sums of zeros stay zero; sums of other numbers would overflow.
for each in arrays:
    each[:] = 0
for each in tensors:
    each.fill_(0)
times = interleaved(
    {
        "oneflow": lambda: flow.comm.local.all_reduce_(tensors),
        "NumPy sum": sum_in_place,
        "NumPy sum and copies": sum_and_copies,
    },
    seconds=0.1,
)
bounds = [{"peer": "NumPy sum", "at_most": 1 / 1.5}, {"peer": "NumPy sum and copies", "at_most": 1 / 1.5}]
report("all_reduce of 64 MiB over 4 CPU devices, in place", times, bounds, unit="ms")
times = interleaved(
    {"oneflow": lambda: flow.comm.local.all_reduce(fresh), "NumPy sum and copies": sum_and_copies}, seconds=0.1
)
report("all_reduce of 64 MiB over 4 CPU devices, fresh results", times, [], unit="ms")
