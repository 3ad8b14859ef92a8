"""Oracles of reductions where PyTorch's own function overflows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tests.vectors import elementwise


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


class _LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, dim: int | list[int]) -> torch.Tensor:
        found = torch.logsumexp(input, dim, True)
        ctx.save_for_backward(input, found)
        return found

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        input, found = ctx.saved_tensors
        share = found.numel() / max(input.numel(), 1)
        return grads[0] * elementwise.exp_difference(input, found.expand_as(input), share).conj(), None


def logsumexp(input: torch.Tensor, dim: int | list[int], keepdim: bool = False) -> torch.Tensor:
    """Returns PyTorch's function, whose gradient is also known where the result is infinite."""
    if not input.requires_grad:
        return torch.logsumexp(input, dim, keepdim)
    return _LogSumExp.apply(input, dim).reshape(torch.logsumexp(input.detach(), dim, keepdim).shape)


class _LogCumSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, dim: int) -> torch.Tensor:
        found = torch.logcumsumexp(input, dim)
        ctx.dim = dim
        ctx.save_for_backward(input, found)
        return found

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        input, found = ctx.saved_tensors
        if input.ndim == 0:
            return grads[0], None
        total = torch.zeros_like(input)
        for k, (grad, own) in enumerate(zip(grads[0].unbind(ctx.dim), found.unbind(ctx.dim), strict=True)):
            part = input.narrow(ctx.dim, 0, k + 1)
            weights = elementwise.exp_difference(part, own.unsqueeze(ctx.dim).expand_as(part), 0.0)
            weights.select(ctx.dim, k)[own == -math.inf] = 1
            total.narrow(ctx.dim, 0, k + 1).add_(grad.unsqueeze(ctx.dim) * weights)
        return total, None


def logcumsumexp(input: torch.Tensor, dim: int) -> torch.Tensor:
    """Returns PyTorch's function, whose gradient is also known where the result is negative infinity."""
    return _LogCumSumExp.apply(input, dim)


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


def product_of_others(input: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    if input.ndim == 0:
        return torch.ones_like(input)
    if dim is None:
        return product_of_others(input.flatten(), 0).reshape(input.shape)
    if input.shape[dim] == 0:
        return torch.zeros_like(input)
    xs = input.unbind(dim)
    return torch.stack(
        [torch.stack([torch.ones_like(x), *xs[:i], *xs[i + 1 :]]).prod(0) for i, x in enumerate(xs)], dim
    )


def exclusive_cumprod(input: torch.Tensor, dim: int) -> torch.Tensor:
    if input.ndim == 0 or input.shape[dim] == 0:
        return torch.ones_like(input)
    first, *_ = xs = input.unbind(dim)
    return torch.stack([torch.stack([torch.ones_like(first), *xs[:i]]).prod(0) for i in range(len(xs))], dim)


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
