"""Joins a job, and prints which functions of the C library have other instructions than before."""

from __future__ import annotations

import ctypes

import oneflow_py as flow

libc = ctypes.CDLL(None)
NAMES = ["mmap", "munmap", "mremap", "madvise", "brk", "sbrk", "shmat", "shmdt"]


def beginnings() -> dict[str, bytes]:
    """Returns the first instructions of each function."""
    return {name: ctypes.string_at(ctypes.cast(getattr(libc, name), ctypes.c_void_p).value or 0, 16) for name in NAMES}


before = beginnings()
flow.comm.init()
after = beginnings()
if flow.comm.rank() == 0:
    print("changed:", [name for name in NAMES if before[name] != after[name]])
