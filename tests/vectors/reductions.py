"""Oracles of reductions where PyTorch's own function overflows."""

from __future__ import annotations

from collections.abc import Callable

import torch


def norm(
    input: torch.Tensor, p: float = 2.0, dim: int | list[int] | None = None, keepdim: bool = False
) -> torch.Tensor:
    """Returns PyTorch's norm, computed in float64 or complex128."""
    wide = input.to(torch.complex128 if input.is_complex() else torch.float64)
    return torch.norm(wide, p, dim, keepdim).to(input.real.dtype)


def square_sum(
    input: torch.Tensor,
    dim: int | list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Returns the sum of the squares, computed in the type of the result."""
    whole = torch.sum(input, dim, keepdim, dtype=dtype)  # for its type
    return torch.sum(input.to(whole.dtype) ** 2, dim, keepdim, dtype=whole.dtype)


def order_statistic(input: torch.Tensor, position: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the elements at positions of the sorted elements, and their indices."""
    values, order = torch.sort(input, dim=dim, stable=True)
    return values.gather(dim, position.long()), order.gather(dim, position.long())


def quantiles(
    input: torch.Tensor, q: torch.Tensor, dim: int, keepdim: bool, interpolation: str, ignore_nan: bool
) -> torch.Tensor:
    function = torch.nanquantile if ignore_nan else torch.quantile
    return function(input, q, dim, keepdim, interpolation=interpolation)


def _beside_infinities(
    function: Callable[..., torch.Tensor],
    input: torch.Tensor,
    q: float,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
) -> torch.Tensor:
    """Returns PyTorch's quantile, or a mean of its neighbours where their difference is not finite."""

    def found(kind: str) -> torch.Tensor:
        return function(input, q, dim, keepdim, interpolation=kind)

    if interpolation not in ("linear", "midpoint"):
        return found(interpolation)
    low, high = found("lower"), found("higher")
    mean = torch.where(low == high, low, 0.5 * low + 0.5 * high)
    return torch.where(torch.isfinite(high - low), found(interpolation), mean)


def quantile(
    input: torch.Tensor, q: float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> torch.Tensor:
    return _beside_infinities(torch.quantile, input, q, dim, keepdim, interpolation)


def nanquantile(
    input: torch.Tensor, q: float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> torch.Tensor:
    return _beside_infinities(torch.nanquantile, input, q, dim, keepdim, interpolation)
