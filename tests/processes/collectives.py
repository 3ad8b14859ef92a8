"""Calls every collective, and writes what this rank gets into a file: all communicators and languages get the same."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import oneflow_py as flow

comm = flow.comm
rank, size = comm.rank(), comm.world_size()
lines = []


def floats(count: int) -> flow.Tensor:
    """Returns numbers of this rank, whose sums depend on the order of the ranks."""
    return flow.sin(flow.arange(count, dtype=flow.float32) * 0.37 + rank)


def note(name: str, result: flow.Tensor) -> None:
    """Notes the bits of a result."""
    digest = hashlib.md5(bytes(memoryview(result.contiguous()))).hexdigest()
    lines.append(f"{name} {list(result.shape)} {digest}")


small, large = 1000, 400_000
note("all_reduce", comm.all_reduce(floats(small)))
note("all_reduce large", comm.all_reduce(floats(large)))
note("all_reduce mean", comm.all_reduce(floats(small), op="mean"))
note("all_gather", comm.all_gather(floats(3 + rank)))
note("all_gather large", comm.all_gather(floats(large + rank)))
note("reduce_scatter", comm.reduce_scatter(floats(7)))
note("reduce_scatter large", comm.reduce_scatter(floats(large)))
note("all_to_all", comm.all_to_all(floats(10)))
note("all_to_all large", comm.all_to_all(floats(large)))
note("broadcast", comm.broadcast(floats(small), size - 1))
note("broadcast large", comm.broadcast(floats(large), size - 1))
note("reduce", comm.reduce(floats(small), size - 1))
note("gather", comm.gather(floats(2 + rank), size - 1))
note("scatter", comm.scatter(floats(11), size - 1))
if rank == 0:
    comm.send(floats(large), 1)
    comm.send(floats(small), 1, tag=1)
if rank == 1:
    note("recv", comm.recv(floats(large), 0))
    note("recv small", comm.recv(floats(small), 0, tag=1))
if rank < 2:
    pair = comm.Group([0, 1])
    note("group", comm.all_reduce(floats(small), group=pair))
    note("group by text", comm.all_gather(floats(2), group="1,0"))
part = comm.world().split(rank % 2, -rank)
note(f"part {part.text}", comm.all_gather(floats(2), group=part))
for _ in range(50):
    last = comm.all_reduce(floats(small))
note("repeated", last)
comm.barrier()
try:
    comm.all_reduce(floats(2 + rank))
except flow.CommunicationError as error:
    lines.append(f"they differ: {'the ranks differ at call' in str(error)}")
Path(sys.argv[1], f"{rank}.{comm.communicator()}").write_text("\n".join(lines))
