"""An independent reference for the random operators.

Philox 4x32-10 is written from the paper (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011); what the
operators make of its words is described in docs/reference/records.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


def words(seed: int, offset: int, count: int) -> NDArray[np.uint64]:
    """Returns the four words of each of `count` counters from `offset` on, in the shape (4, count)."""
    counter = np.arange(offset, offset + count, dtype=np.uint64)
    c = [counter & _LOW, counter >> _32, np.zeros(count, np.uint64), np.zeros(count, np.uint64)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        left, right = _MULTIPLIERS[0] * c[0], _MULTIPLIERS[1] * c[2]
        c = [
            (right >> _32) ^ c[1] ^ np.uint64(key[0]),
            right & _LOW,
            (left >> _32) ^ c[3] ^ np.uint64(key[1]),
            left & _LOW,
        ]
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, _WEYL, strict=True)]
    return np.stack(c)


def uniform(seed: int, offset: int, count: int, k: int = 0) -> NDArray[np.float32]:
    """Returns float32 numbers in [0, 1) from word `k` of each counter."""
    return ((words(seed, offset, count)[k] >> np.uint64(8)).astype(np.float64) / 2**24).astype(np.float32)


def uniform_float64(seed: int, offset: int, count: int, k: int = 0) -> NDArray[np.float64]:
    w = words(seed, offset, count)
    return (((w[2 * k] << _32) | w[2 * k + 1]) >> np.uint64(11)).astype(np.float64) / 2**53


def normal(seed: int, offset: int, count: int) -> NDArray[np.float64]:
    """Returns the Box-Muller transform of the float32 uniform numbers, in double precision."""
    u0, u1 = (uniform(seed, offset, count, k).astype(np.float64) for k in (0, 1))
    return np.sqrt(-2 * np.log(1 - u0)) * np.cos(2 * np.pi * u1)
