"""Oracles of indexing operators where PyTorch's function accepts fewer types."""

from __future__ import annotations

from typing import Any

import torch


def one_hot(input: torch.Tensor, num_classes: int) -> torch.Tensor:
    """Returns PyTorch's result, also for classes in int32."""
    return torch.nn.functional.one_hot(input.long(), num_classes)


def take(input: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Returns PyTorch's result, also for indices in int32."""
    return torch.take(input, index.long())


def repeat_interleave(input: torch.Tensor, repeats: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    return torch.repeat_interleave(input, repeats, dim)


def meshgrid(tensors: list[torch.Tensor], *, indexing: str = "ij") -> list[torch.Tensor]:
    return list(torch.meshgrid(*tensors, indexing=indexing))


def block_diag(tensors: list[torch.Tensor]) -> torch.Tensor:
    return torch.block_diag(*tensors)


def cartesian_prod(tensors: list[torch.Tensor]) -> torch.Tensor:
    return torch.cartesian_prod(*tensors)


def argsort(input: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> torch.Tensor:
    """Returns the indices of a stable sort, whether it is asked for or not."""
    return torch.sort(input, dim=dim, descending=descending, stable=True)[1]


def put(input: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False) -> torch.Tensor:
    return torch.Tensor.put(input, index.long(), source.to(input.dtype), accumulate)


def unique(input: torch.Tensor, **options: bool | int) -> torch.Tensor | tuple[torch.Tensor, ...]:
    return torch.unique(input, **options)


def unique_consecutive(input: torch.Tensor, **options: bool | int) -> torch.Tensor | tuple[torch.Tensor, ...]:
    return torch.unique_consecutive(input, **options)


def groups_of_equals(input: torch.Tensor, consecutive: bool, dim: int | None = None) -> tuple[torch.Tensor, ...]:
    function = torch.unique_consecutive if consecutive else torch.unique
    return function(input, return_inverse=True, return_counts=True, dim=dim)


def searchsorted_number(sorted_sequence: torch.Tensor, input: float, **options: Any) -> torch.Tensor:
    """Returns PyTorch's position of a number of the sequence's type; among integers, a fraction is not rounded."""
    if not sorted_sequence.is_floating_point():
        sorted_sequence = sorted_sequence.double()
    return torch.searchsorted(sorted_sequence, torch.tensor(input, dtype=sorted_sequence.dtype), **options)
