"""Does what the cases do not have as one rank of a job, and ends well if all is right. Gets an empty folder."""

from __future__ import annotations

import sys
from pathlib import Path

import oneflow_py as flow

comm = flow.comm
rank, size = comm.rank(), comm.world_size()
folder = Path(sys.argv[1])

(folder / str(rank)).touch()
comm.barrier()
assert len(list(folder.iterdir())) == size

part = comm.world().split(rank % 2, -rank)
members = [other for other in range(size)[::-1] if other % 2 == rank % 2]
assert comm.all_gather(flow.tensor([rank]), group=part).tolist() == members

complex_numbers = flow.tensor([1 + 2j, 3j * rank])
assert comm.all_reduce(complex_numbers).tolist() == [size + 2j * size, 3j * sum(range(size))]
assert comm.all_gather(complex_numbers)[2 * rank].item() == 1 + 2j

# Tensors that are sent in several parts.
large = flow.arange(1_000_003)
assert comm.all_reduce(large + rank).equal(large * size + sum(range(size)))
assert comm.all_gather(large * rank).equal(flow.cat([large * other for other in range(size)]))

# Many are under way.
works = [comm.all_reduce_async(flow.full([1000], rank + i)) for i in range(1000)]
sums = [work.wait()[-1].item() for work in works]
assert sums == [sum(range(size)) + size * i for i in range(1000)]

said = ""
try:
    comm.all_reduce(flow.ones([2 + rank]))
except flow.CommunicationError as error:
    said = str(error)
assert "the ranks differ at call" in said
