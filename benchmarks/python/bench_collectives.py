"""all_reduce of 64 MiB per rank over four CPU devices of one process, against NumPy, with two threads.

NumPy adds in place, on the one thread that it uses: a0 += a1, a0 += a2, a0 += a3. That leaves the sum with the first
rank alone ("NumPy sum"); the other peer also copies it to the other three, as all_reduce does ("NumPy sum and
copies"). Memory is the limit of all three: a sum reads 384 MiB and writes 192, the copies read and write 192 more, an
all_reduce reads and writes 256. Where one thread uses up what memory gives, all_reduce cannot be faster than 9/8 of
the sum alone.
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
assert all(np.array_equal(each.numpy(), wanted) for each in flow.comm.all_reduce(fresh))


def sum_in_place() -> None:
    np.add(a0, a1, out=a0)
    np.add(a0, a2, out=a0)
    np.add(a0, a3, out=a0)


def sum_and_copies() -> None:
    sum_in_place()
    for each in (a1, a2, a3):
        each[:] = a0


# Zeros stay zeros, however often they are added up.
for each in arrays:
    each[:] = 0
for each in tensors:
    each.fill_(0)
times = interleaved(
    {
        "oneflow": lambda: flow.comm.all_reduce_(tensors),
        "NumPy sum": sum_in_place,
        "NumPy sum and copies": sum_and_copies,
    },
    seconds=0.1,
)
bounds = [{"peer": "NumPy sum", "at_most": 1 / 1.5}, {"peer": "NumPy sum and copies", "at_most": 1 / 1.5}]
report("all_reduce of 64 MiB over 4 CPU devices, in place", times, bounds, unit="ms")
times = interleaved(
    {"oneflow": lambda: flow.comm.all_reduce(fresh), "NumPy sum and copies": sum_and_copies}, seconds=0.1
)
report("all_reduce of 64 MiB over 4 CPU devices, fresh results", times, [], unit="ms")
