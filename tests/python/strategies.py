"""Hypothesis strategies: tensors of any shape, dtype and memory layout, with equal tensors of PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

import oneflow_py as flow
from tests.python.support import ARITHMETIC

Draw = Any

SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)


@dataclass(frozen=True)
class Twins:
    """A tensor of oneflow and one of PyTorch with the same values. Only that of oneflow has the drawn memory layout."""

    flow: flow.Tensor
    torch: torch.Tensor


def values(draw: Draw, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
    """Draws small values of the dtype, many of them equal, as a contiguous tensor."""
    count = int(np.prod(shape, dtype=np.int64))
    kind = getattr(torch, dtype)
    if dtype == "bool":
        pool = [False, True]
    elif kind.is_floating_point:
        pool = [-3.5, -1.0, -0.25, 0.0, 0.5, 1.0, 2.0, 7.0]
    else:
        pool = [0, 1, 2, 3, 5, 100] if dtype.startswith("u") else [-100, -3, -1, 0, 1, 2, 5]
    picks = draw(st.lists(st.sampled_from(pool), min_size=count, max_size=count))
    return torch.tensor(picks, dtype=kind).reshape(shape)


def laid_out(draw: Draw, x: torch.Tensor) -> flow.Tensor:
    """Returns the values of x in oneflow with a drawn memory layout: permuted, reversed, strided or with an offset."""
    base = flow.from_dlpack(x.contiguous())
    if x.dim() == 0:
        return base
    order = draw(st.permutations(range(x.dim())))
    inverse = [order.index(d) for d in range(x.dim())]
    # Store the permuted values, reversed, doubled or with a leading element, and restore them by views.
    stored = base.permute(order).contiguous()
    for dim in range(x.dim()):
        layout = draw(st.sampled_from(["contiguous", "contiguous", "reversed", "strided", "offset"]))
        if layout == "contiguous" or stored.shape[dim] == 0:
            continue
        key: list[Any] = [slice(None)] * x.dim()
        if layout == "reversed":
            key[dim] = slice(None, None, -1)
            stored = stored[tuple(key)].contiguous()[tuple(key)]
        elif layout == "strided":
            key[dim] = slice(None, None, 2)
            stored = flow.stack([stored, stored], dim=dim + 1).flatten(dim, dim + 1)[tuple(key)]
        else:
            key[dim] = slice(1, None)
            first: list[Any] = [slice(None)] * x.dim()
            first[dim] = slice(0, 1)
            stored = flow.cat([stored[tuple(first)], stored], dim)[tuple(key)]
    return stored.permute(inverse)


@st.composite
def twins(draw: Draw, dtypes: Any = tuple(ARITHMETIC), shapes: st.SearchStrategy[tuple[int, ...]] = SHAPES) -> Twins:
    """Draws equal tensors of a dtype and a shape."""
    x = values(draw, draw(st.sampled_from(list(dtypes))), draw(shapes))
    return Twins(laid_out(draw, x), x)


@st.composite
def broadcast_pairs(draw: Draw, dtypes: Any = tuple(ARITHMETIC)) -> tuple[Twins, Twins]:
    """Draws two tensors whose shapes broadcast."""
    shape = draw(SHAPES)

    def part() -> tuple[int, ...]:
        sizes = [1 if draw(st.integers(0, 3)) == 0 else size for size in shape]
        return tuple(sizes[draw(st.integers(0, len(sizes))) if draw(st.booleans()) else 0 :])

    return draw(twins(dtypes, st.just(part()))), draw(twins(dtypes, st.just(part())))


@st.composite
def basic_keys(draw: Draw, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Draws an index of integers, slices, None and at most one ellipsis that fits the shape."""
    key: list[Any] = []
    named = draw(st.integers(0, len(shape)))
    ellipsis_at = draw(st.integers(0, named)) if draw(st.booleans()) else None
    for position in range(named):
        if position == ellipsis_at:
            key.append(...)
        dim = position if ellipsis_at is None or position < ellipsis_at else len(shape) - named + position
        size = shape[dim]
        if size > 0 and draw(st.booleans()):
            key.append(draw(st.integers(-size, size - 1)))
        else:
            ends = st.none() | st.integers(-size - 2, size + 2)
            key.append(slice(draw(ends), draw(ends), draw(st.sampled_from([None, 1, 2, 3, -1, -2]))))
        if draw(st.integers(0, 4)) == 0:
            key.append(None)
    return tuple(key)
