"""Prints what rank 0 is told while rank 1 does not take part, after it has left, and once it has joined again."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import oneflow_py as flow

comm = flow.comm
told = Path(sys.argv[1], "told")
comm.init(timeout=2)


def call() -> None:
    """Calls a collective that fails."""
    try:
        print(comm.all_reduce(flow.ones([3])))
    except flow.CommunicationError as error:
        print(error)


if comm.rank() == 0:
    call()
    told.touch()
    call()
else:
    while not told.exists():
        time.sleep(0.02)
comm.finalize()
comm.init(timeout=60)
again = comm.all_reduce(flow.ones([3])).tolist()
if comm.rank() == 0:
    print(again)
