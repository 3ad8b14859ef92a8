"""Conversion that rounds once: PyTorch converts float64 and integers to float16 and bfloat16 through float32."""

from __future__ import annotations

import torch


def rounded_once(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Returns `value.to(dtype)`, rounded once.

    A float32 with its last bit set where it is inexact rounds to fewer bits as the float64 itself does.
    """
    if value.dtype in (torch.int32, torch.int64) and dtype in (torch.float16, torch.bfloat16):
        value = value.to(torch.float64)
    if value.dtype is not torch.float64 or dtype not in (torch.float16, torch.bfloat16):
        return value.to(dtype)
    nearest = value.to(torch.float32)
    back = nearest.to(torch.float64)
    bits = nearest.view(torch.int32)
    towards_zero = torch.where((back > value) == (value > 0), bits - 1, bits)
    is_kept = (back == value) | value.isnan()
    return torch.where(is_kept, nearest, (towards_zero | 1).view(torch.float32)).to(dtype)
