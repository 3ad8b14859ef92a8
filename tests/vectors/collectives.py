"""The oracles of collectives: of `comm.local`, over lists of tensors, and of `comm` in a job of one rank."""

from __future__ import annotations

import functools

import torch

_MERGES = {"sum": torch.add, "mean": torch.add, "max": torch.maximum, "min": torch.minimum, "prod": torch.mul}


def broadcast(input: torch.Tensor, devices: list[str]) -> tuple[torch.Tensor, ...]:
    return tuple(input.clone() for _ in devices)


def scatter(input: torch.Tensor, devices: list[str], *, dim: int = 0) -> tuple[torch.Tensor, ...]:
    return torch.tensor_split(input, len(devices), dim)


def gather(tensors: list[torch.Tensor], *, dim: int = 0) -> torch.Tensor:
    return torch.cat(tensors, dim)


def all_gather(tensors: list[torch.Tensor], *, dim: int = 0) -> tuple[torch.Tensor, ...]:
    return tuple(torch.cat(tensors, dim) for _ in tensors)


def check(op: str, dtype: torch.dtype) -> None:
    """Rejects the reductions that a dtype does not have."""
    if op == "mean" and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError("the mean of integers")
    if op in ("max", "min") and dtype.is_complex:
        raise TypeError("the maximum of complex numbers")


def reduce(tensors: list[torch.Tensor], *, op: str = "sum") -> torch.Tensor:
    check(op, tensors[0].dtype)
    merged = functools.reduce(_MERGES[op], tensors)
    return merged / len(tensors) if op == "mean" else merged


def all_reduce(tensors: list[torch.Tensor], *, op: str = "sum") -> tuple[torch.Tensor, ...]:
    return tuple(reduce(tensors, op=op) for _ in tensors)


def reduce_scatter(tensors: list[torch.Tensor], *, op: str = "sum", dim: int = 0) -> tuple[torch.Tensor, ...]:
    return torch.tensor_split(reduce(tensors, op=op), len(tensors), dim)


def all_to_all(tensors: list[torch.Tensor], *, split_dim: int = 0, concat_dim: int = 0) -> tuple[torch.Tensor, ...]:
    parts = [torch.tensor_split(each, len(tensors), split_dim) for each in tensors]
    return tuple(torch.cat(own, concat_dim) for own in zip(*parts, strict=True))


def of_one(input: torch.Tensor, *_: int, op: str = "sum", **__: object) -> torch.Tensor:
    """Returns what the only rank of a job gets."""
    check(op, input.dtype)
    return input.clone()
