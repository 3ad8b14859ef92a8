"""Oracles of elementwise operators that PyTorch has no function for, or that differ from it."""

from __future__ import annotations

import torch


def divmod_(input: torch.Tensor | float, other: torch.Tensor | float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the quotient, rounded down, and the remainder."""
    return torch.floor_divide(input, other), torch.remainder(input, other)


def power(input: torch.Tensor | float, other: torch.Tensor | float) -> torch.Tensor:
    """Returns powers. Rejects negative powers of the integer 0, for which PyTorch returns 0."""
    result = torch.pow(input, other)
    base, exponent = torch.as_tensor(input), torch.as_tensor(other)
    if not (result.is_floating_point() or result.is_complex()) and ((base == 0) & (exponent < 0)).any():
        raise RuntimeError("division by zero")
    return result
