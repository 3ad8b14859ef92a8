"""Oracles of elementwise operators that PyTorch has no function for."""

from __future__ import annotations

import torch


def divmod_(input: torch.Tensor | float, other: torch.Tensor | float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the quotient, rounded down, and the remainder."""
    return torch.floor_divide(input, other), torch.remainder(input, other)
