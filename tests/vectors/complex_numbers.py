"""Oracles that differ from PyTorch's functions for complex numbers."""

from __future__ import annotations

import torch

from tests.vectors.rounding import rounded_once


def complex_(real: torch.Tensor, imag: torch.Tensor) -> torch.Tensor:
    """Returns complex numbers with the given parts. torch.complex requires parts of the same floating-point dtype."""
    dtype = torch.promote_types(torch.promote_types(real.dtype, imag.dtype), torch.float32)
    real, imag = torch.broadcast_tensors(real, imag)
    return torch.complex(real.to(dtype), imag.to(dtype))


def cast(input: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Converts to a dtype. Rejects casts from complex to real, for which PyTorch returns the real part."""
    if input.is_complex() and not dtype.is_complex and dtype is not torch.bool:
        raise TypeError("a complex tensor does not become real")
    return rounded_once(input, dtype)


def full(size: list[int], fill_value: torch.Tensor, *, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Returns a tensor filled with an element, which torch.full takes only as a number."""
    return full_like(fill_value.expand(size), fill_value, dtype=dtype)


def full_like(input: torch.Tensor, fill_value: torch.Tensor, *, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Returns a tensor filled with an element, which torch.full_like takes only as a number."""
    return cast(fill_value, dtype or input.dtype).expand(input.shape).clone()
