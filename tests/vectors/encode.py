"""Encodes the values of vectors as JSON."""

from __future__ import annotations

import base64
from typing import Any

import torch

from codegen import base_types
from codegen.types import Type
from tests.vectors.layouts import LaidOut

DTYPE_NAMES = {
    dtype: str(dtype).removeprefix("torch.")
    for dtype in (
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.uint16,
        torch.uint32,
        torch.uint64,
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
        torch.complex64,
        torch.complex128,
    )
}


def data(x: torch.Tensor) -> str:
    """Returns the elements of a tensor in row-major order, in base64."""
    flat = x.detach().resolve_conj().reshape(-1).clone(memory_format=torch.contiguous_format)
    return base64.b64encode(flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b"").decode()


def tensor(laid: LaidOut) -> dict[str, Any]:
    return {
        "dtype": DTYPE_NAMES[laid.storage.dtype],
        "sizes": list(laid.values.shape),
        "strides": list(laid.strides),
        "offset": laid.offset,
        "data": data(laid.storage),
    }


def result(x: torch.Tensor) -> dict[str, Any]:
    return {"dtype": DTYPE_NAMES[x.dtype], "sizes": list(x.shape), "data": data(x)}


def argument(v: Any, type_: Type) -> Any:
    """Encodes an argument. Devices are those of the oracle; a replay replaces them by the device under test."""
    if type_.base is base_types.DEVICE and v is not None:
        return {"devices": v} if type_.is_list else {"device": v}
    return value(v)


def value(v: Any) -> Any:
    """Encodes an argument that is not a device: laid-out tensors, or any other value."""
    if isinstance(v, LaidOut):
        return {"tensor": tensor(v)}
    if isinstance(v, list | tuple) and any(isinstance(each, LaidOut) for each in v):
        return {"tensors": [each and tensor(each) for each in v]}
    if isinstance(v, torch.dtype):
        return {"dtype": DTYPE_NAMES[v]}
    if isinstance(v, float):
        return {"real": repr(v)}
    if isinstance(v, int) and not isinstance(v, bool) and abs(v) > 2**53:
        return {"integer": str(v)}
    return list(v) if isinstance(v, tuple) else v
