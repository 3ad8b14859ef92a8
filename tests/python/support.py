"""Converts values between oneflow, NumPy and PyTorch, and compares them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import pytest
import torch

import oneflow_py as flow

T = TypeVar("T")

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64",
]  # fmt: skip
ARITHMETIC = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
NUMPY_DTYPES = [name for name in DTYPES if name != "bfloat16"]

# Relative and absolute tolerances of results that are rounded once but computed differently.
TOLERANCES = {"float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 1e-2), "float32": (3e-6, 1e-6), "float64": (1e-12, 1e-13)}


def runs_beside(call: Callable[[], Any]) -> bool:
    """Returns whether another thread runs during a call, although the interpreter does not switch threads by itself.

    Makes the call again if none ran: on a busy machine that happens by chance.
    """
    steps, done = 0, False

    def work() -> None:
        nonlocal steps
        while not done:
            steps += 1
            time.sleep(0.001)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=work)
    thread.start()
    try:
        sys.setswitchinterval(1000)
        before = steps
        for _ in range(100):
            call()
            if steps > before:
                break
        return steps > before
    finally:
        sys.setswitchinterval(interval)
        done = True
        thread.join()


def first_devices() -> list[str]:
    """Returns the names of the first device of every type."""
    return [device.name for device in flow.devices() if device.index == 0]


def on_devices(cases: Iterable[T]) -> list[tuple[str, T]]:
    """Returns pairs of a device and a case: all cases for the host, for others a quarter (`make test-long`: all)."""
    share = 1 if os.environ.get("ONEFLOW_VECTORS") == "all" else 4
    host, *others = first_devices()
    listed = list(cases)
    pairs = [(host, case) for case in listed]
    return pairs + [(device, case) for i, device in enumerate(others) for case in listed[i % share :: share]]


def raw(x: flow.Tensor) -> bytes:
    """Returns the bytes of the elements in row-major order, as a pickle stores them."""
    data = x.__reduce__()[1][0]
    assert isinstance(data, bytes)
    return data


def decode(data: bytes, dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Returns elements as a NumPy array; bfloat16 becomes float32, of which it is the upper half."""
    if dtype == "bfloat16":
        halves = np.frombuffer(data, np.uint16).astype(np.uint32)
        return (halves << np.uint32(16)).view(np.float32).reshape(shape)
    return np.frombuffer(data, dtype).reshape(shape)


def array(x: flow.Tensor) -> np.ndarray[Any, Any]:
    """Returns a copy of the elements as a NumPy array."""
    return decode(raw(x), x.dtype.name, x.shape)


def to_torch(x: flow.Tensor) -> torch.Tensor:
    """Returns a copy of a tensor in PyTorch, made from its bytes and not by the conversions under test."""
    dtype = getattr(torch, x.dtype.name)
    if x.numel() == 0:
        return torch.empty(x.shape, dtype=dtype)
    return torch.frombuffer(bytearray(raw(x)), dtype=dtype).reshape(x.shape)


def from_torch(x: torch.Tensor) -> flow.Tensor:
    """Returns a tensor that shares the memory of a PyTorch tensor, which has no negative strides."""
    return flow.from_dlpack(x)


def assert_same(found: flow.Tensor, expected: torch.Tensor, note: object = "") -> None:
    """Asserts equal dtypes and shapes, and values that are equal up to rounding; NaN equals NaN."""
    name = str(expected.dtype).removeprefix("torch.")
    assert isinstance(found, flow.Tensor), (found, note)
    assert (found.dtype.name, found.shape) == (name, tuple(expected.shape)), note
    relative, absolute = TOLERANCES.get(name, (0.0, 0.0))
    torch.testing.assert_close(
        to_torch(found), expected, rtol=relative, atol=absolute, equal_nan=True, msg=lambda text: f"{text}\n{note}"
    )


def raises(error: type[flow.Error], text: str, call: Callable[[], object]) -> None:
    """Asserts that the call raises exactly this class with exactly this text."""
    with pytest.raises(flow.Error) as found:
        call()
    assert (type(found.value), str(found.value)) == (error, text)
