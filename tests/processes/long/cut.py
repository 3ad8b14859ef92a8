"""Calls collectives until one fails, and prints its error and what a group of this side still gets."""

import json
import sys
from pathlib import Path

import oneflow_py as flow

comm = flow.comm
comm.init(timeout=15)
print(comm.all_reduce(flow.ones([3])).tolist(), flush=True)
Path(sys.argv[1], str(comm.rank())).touch()
sizes = {"small": [3], "large": [300_000]}[sys.argv[2]]
try:
    while True:
        comm.all_reduce(flow.ones(sizes))
except flow.CommunicationError as error:
    print(json.dumps(str(error)), flush=True)
own = comm.Group([0, 1] if comm.rank() < 2 else [2])
print(comm.all_reduce(flow.ones([3]), group=own).tolist(), flush=True)
