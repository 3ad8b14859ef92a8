"""Oracles of activation functions where PyTorch's own function is not exact."""

from __future__ import annotations

import torch


def hardsigmoid(input: torch.Tensor) -> torch.Tensor:
    """Returns what PyTorch's function does, whose gradient has 1/6 in float32 for every type."""
    return torch.nn.functional.relu6(input + 3) / 6
