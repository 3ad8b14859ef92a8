"""Memory layouts of tensors.

A layout is a function from a contiguous tensor to a `LaidOut` tensor with the same values (except `expanded`, which
repeats the first slice), or to None if it does not apply. Strides and offset count elements of the flat storage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class LaidOut:
    """A tensor, and a flat storage with the strides and the offset that give its values."""

    values: torch.Tensor
    storage: torch.Tensor
    strides: tuple[int, ...]
    offset: int = 0


def contiguous(x: torch.Tensor) -> LaidOut:
    return LaidOut(x, x.reshape(-1), x.stride())


def transposed(x: torch.Tensor) -> LaidOut | None:
    """Reverses the order of the dimensions in memory."""
    if x.dim() < 2:
        return None
    order = tuple(reversed(range(x.dim())))
    memory = x.permute(order).contiguous()
    return LaidOut(x, memory.reshape(-1), memory.permute(order).stride())


def offset(x: torch.Tensor) -> LaidOut:
    """Prepends three other elements to the storage."""
    return LaidOut(x, torch.cat([torch.ones(3, dtype=x.dtype), x.reshape(-1)]), x.stride(), 3)


def negative(x: torch.Tensor) -> LaidOut | None:
    """Gives the last dimension a negative stride."""
    if x.dim() == 0:
        return None
    storage = x.flip(-1).contiguous()
    strides = (*storage.stride()[:-1], -1)
    return LaidOut(x, storage.reshape(-1), strides, max(x.shape[-1] - 1, 0))


def spaced(x: torch.Tensor) -> LaidOut | None:
    """Doubles all strides, with other elements in between."""
    if x.dim() == 0:
        return None
    storage = torch.ones(x.numel() * 2, dtype=x.dtype)
    storage[::2] = x.reshape(-1)
    return LaidOut(x, storage, tuple(2 * stride for stride in x.stride()))


def expanded(x: torch.Tensor) -> LaidOut | None:
    """Repeats the first slice with stride 0."""
    if x.dim() == 0 or x.shape[0] == 0:
        return None
    slice_ = x[:1].contiguous()
    values = slice_.expand(x.shape).contiguous()
    return LaidOut(values, slice_.reshape(-1), (0, *slice_.stride()[1:]))


LAYOUTS: dict[str, Callable[[torch.Tensor], LaidOut | None]] = {
    function.__name__: function for function in (contiguous, transposed, offset, negative, spaced, expanded)
}
