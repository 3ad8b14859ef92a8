"""Measures how much of a processor a rank takes that waits in a collective.

Rank 1 comes late. Rank 0 prints a JSON object: the share of a processor between the two times after its call.
"""

from __future__ import annotations

import json
import os
import threading
import time

import oneflow_py as flow

FIRST, LAST = 0.01, 2.0  # seconds


def watch(found: list[float]) -> None:
    time.sleep(FIRST)
    start, used = time.perf_counter(), time.process_time()
    time.sleep(LAST - FIRST)
    found.append((time.process_time() - used) / (time.perf_counter() - start))


tensor = flow.ones([1024])
flow.comm.all_reduce(tensor)
if os.environ["ONEFLOW_RANK"] == "1":
    time.sleep(LAST + 0.5)
    flow.comm.all_reduce(tensor)
else:
    shares: list[float] = []
    watcher = threading.Thread(target=watch, args=[shares])
    watcher.start()
    flow.comm.all_reduce(tensor)
    watcher.join()
    print(json.dumps({"share": shares[0]}))
