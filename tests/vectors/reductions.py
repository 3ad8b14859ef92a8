"""Oracles of reductions where PyTorch's own function overflows."""

from __future__ import annotations

import torch


def norm(
    input: torch.Tensor, p: float = 2.0, dim: int | list[int] | None = None, keepdim: bool = False
) -> torch.Tensor:
    """Returns PyTorch's norm, computed in float64."""
    return torch.norm(input.double(), p, dim, keepdim).to(input.dtype)
