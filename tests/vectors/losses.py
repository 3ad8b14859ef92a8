"""Oracles of loss functions that PyTorch has no function for, or whose function is narrower."""

from __future__ import annotations

import math

import torch
from torch.nn import functional

from tests.vectors import elementwise


def reduce_loss(input: torch.Tensor, reduction: str = "mean", weight: torch.Tensor | None = None) -> torch.Tensor:
    """Returns the losses, or their sum or mean, with weights."""
    weights = torch.ones_like(input) if weight is None else weight.expand_as(input)
    return _reduced(input * weights, weights, reduction)


def _reduced(losses: torch.Tensor, weights: torch.Tensor, reduction: str) -> torch.Tensor:
    """Returns the losses, which are multiplied by the weights already, or their sum or mean."""
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.sum() / weights.sum()


def kl_div(
    input: torch.Tensor, target: torch.Tensor, *, reduction: str = "mean", log_target: bool = False
) -> torch.Tensor:
    """Returns PyTorch's loss, of which the gradient is finite where the probability is 0."""
    if log_target or not target.requires_grad:
        return functional.kl_div(input, target, reduction=reduction, log_target=log_target)
    losses = elementwise.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return losses.sum() / input.shape[0]
    return _reduced(losses, torch.ones_like(losses), reduction)


def logits_slope(input: torch.Tensor, target: torch.Tensor, pos_weight: torch.Tensor | float = 1) -> torch.Tensor:
    return (1 - target) * torch.sigmoid(input) - pos_weight * target * torch.sigmoid(-input)


def logits_loss(input: torch.Tensor, target: torch.Tensor, pos_weight: torch.Tensor | float = 1) -> torch.Tensor:
    return (target - 1) * functional.logsigmoid(-input) - pos_weight * target * functional.logsigmoid(input)


def nll_loss(
    input: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> torch.Tensor:
    """Returns PyTorch's loss; one that is differentiable in `weight` if that requires a gradient."""
    if weight is None or not weight.requires_grad:
        return functional.nll_loss(input, target.long(), weight, ignore_index=ignore_index, reduction=reduction)
    dim = min(1, input.dim() - 1)
    is_counted = target != ignore_index
    classes = functional.one_hot(torch.where(is_counted, target, 0).long(), input.shape[dim]).to(input)
    weights = (classes * weight).sum(-1) * is_counted
    losses = -(classes * input.movedim(dim, -1)).sum(-1) * weights
    return _reduced(losses, weights, reduction)


def cross_entropy(
    input: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> torch.Tensor:
    """Returns PyTorch's loss, also for classes in int32, and for probabilities of a narrower type or of integers."""
    are_probabilities = target.is_floating_point() or target.shape == input.shape
    wanted = target.to(torch.promote_types(input.dtype, target.dtype)) if are_probabilities else target.long()
    if are_probabilities and wanted.dtype != input.dtype:
        raise TypeError("the logarithms would be rounded before they are multiplied by probabilities of a wider type")
    return functional.cross_entropy(
        input, wanted, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )


def multi_margin_loss(
    input: torch.Tensor,
    target: torch.Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: torch.Tensor | None = None,
    *,
    reduction: str = "mean",
) -> torch.Tensor:
    """Returns PyTorch's loss, also for classes in int32."""
    return functional.multi_margin_loss(input, target.long(), p, margin, weight, reduction=reduction)


def poisson_nll_loss(
    input: torch.Tensor,
    target: torch.Tensor,
    log_input: bool = True,
    full: bool = False,
    *,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> torch.Tensor:
    """Returns PyTorch's loss, with a gradient of the target that is not NaN at 0."""
    losses = functional.poisson_nll_loss(input, target, log_input, False, eps=eps, reduction="none")
    if full:
        count = torch.where(target > 1, target, 1)
        stirling = count * torch.log(count) - count + 0.5 * torch.log(2 * math.pi * count)
        losses = losses + torch.where(target > 1, stirling, 0)
    return _reduced(losses, torch.ones_like(losses), reduction)


def gaussian_nll_loss(
    input: torch.Tensor,
    target: torch.Tensor,
    variance: torch.Tensor,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> torch.Tensor:
    """Returns PyTorch's loss, whose variances have another name."""
    return functional.gaussian_nll_loss(input, target, variance, full, eps, reduction)
