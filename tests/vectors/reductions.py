"""Oracles of reductions where PyTorch's own function overflows."""

from __future__ import annotations

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


def linear_recurrence(input: torch.Tensor, factor: torch.Tensor, dim: int) -> torch.Tensor:
    shape, dtype = input.shape, torch.promote_types(input.dtype, factor.dtype)
    if input.ndim == 0:
        return input.to(dtype)
    if factor.shape != shape:
        raise ValueError("input and factor have different shapes")
    results: list[torch.Tensor] = []
    for own, each in zip(factor.to(dtype).unbind(dim), input.to(dtype).unbind(dim), strict=True):
        results.append(each + own * results[-1] if results else each)
    return torch.stack(results, dim) if results else torch.zeros(shape, dtype=dtype)


def cumprod_slope(weights: torch.Tensor, input: torch.Tensor, dim: int) -> torch.Tensor:
    """Returns the gradient of cumprod as the sum over all pairs of an element and a result from there on."""
    if weights.shape != input.shape:
        raise ValueError("weights and input have different shapes")
    if input.ndim == 0:
        return weights * 1
    xs, ws = input.unbind(dim), weights.unbind(dim)
    found = []
    for i in range(len(xs)):
        others = torch.ones_like(xs[0])
        for each in xs[:i]:
            others = others * each
        total = ws[i] * others
        for each, weight in zip(xs[i + 1 :], ws[i + 1 :], strict=True):
            others = others * each
            total = total + weight * others
        found.append(total)
    return torch.stack(found, dim)


def order_statistic(input: torch.Tensor, position: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the elements at positions of the sorted elements, and their indices."""
    values, order = torch.sort(input, dim=dim, stable=True)
    return values.gather(dim, position.long()), order.gather(dim, position.long())


def quantiles(
    input: torch.Tensor, q: torch.Tensor, dim: int, keepdim: bool, interpolation: str, ignore_nan: bool
) -> torch.Tensor:
    function = torch.nanquantile if ignore_nan else torch.quantile
    return function(input, q, dim, keepdim, interpolation=interpolation)
