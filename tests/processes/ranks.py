"""Prints what a rank is, and a sum over all ranks."""

import oneflow_py as flow

comm = flow.comm
print(
    comm.rank(),
    comm.world_size(),
    comm.local_rank(),
    comm.local_world_size(),
    comm.communicator(),
    comm.all_reduce(flow.ones([])).item(),
)
