"""Oracles of indexing operators where PyTorch's function accepts fewer types."""

from __future__ import annotations

import torch


def one_hot(input: torch.Tensor, num_classes: int) -> torch.Tensor:
    """Returns PyTorch's result, also for classes in int32."""
    return torch.nn.functional.one_hot(input.long(), num_classes)


def take(input: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Returns PyTorch's result, also for indices in int32."""
    return torch.take(input, index.long())
