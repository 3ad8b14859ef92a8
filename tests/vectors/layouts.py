"""Ways to lay the elements of a tensor out in memory.

A layout maps a contiguous tensor to `Laid(values, storage, strides, offset)`. The values are those of the given tensor,
but for `expanded`, which repeats the first slice. Strides and offset count elements of the flat storage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Laid:
    values: torch.Tensor
    storage: torch.Tensor
    strides: tuple[int, ...]
    offset: int = 0


def contiguous(x: torch.Tensor) -> Laid:
    return Laid(x, x.reshape(-1), x.stride())


def transposed(x: torch.Tensor) -> Laid | None:
    """Dimensions in reverse order in memory."""
    if x.dim() < 2:
        return None
    order = tuple(reversed(range(x.dim())))
    memory = x.permute(order).contiguous()
    return Laid(x, memory.reshape(-1), memory.permute(order).stride())


def offset(x: torch.Tensor) -> Laid:
    """Three other elements in front."""
    return Laid(x, torch.cat([torch.ones(3, dtype=x.dtype), x.reshape(-1)]), x.stride(), 3)


def negative(x: torch.Tensor) -> Laid | None:
    """The last dimension runs backwards."""
    if x.dim() == 0:
        return None
    storage = x.flip(-1).contiguous()
    strides = (*storage.stride()[:-1], -1)
    return Laid(x, storage.reshape(-1), strides, max(x.shape[-1] - 1, 0))


def spaced(x: torch.Tensor) -> Laid | None:
    """Every second element of the memory is somebody else's."""
    if x.dim() == 0:
        return None
    storage = torch.ones(x.numel() * 2, dtype=x.dtype)
    storage[::2] = x.reshape(-1)
    return Laid(x, storage, tuple(2 * stride for stride in x.stride()))


def expanded(x: torch.Tensor) -> Laid | None:
    """The first dimension repeats one slice."""
    if x.dim() == 0 or x.shape[0] == 0:
        return None
    slice_ = x[:1].contiguous()
    values = slice_.expand(x.shape).contiguous()
    return Laid(values, slice_.reshape(-1), (0, *slice_.stride()[1:]))


LAYOUTS: dict[str, Callable[[torch.Tensor], Laid | None]] = {
    function.__name__: function for function in (contiguous, transposed, offset, negative, spaced, expanded)
}
