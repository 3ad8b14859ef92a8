"""Comparisons of whole tensors, whose result is one bool."""

from __future__ import annotations

from typing import Any

from oneflow_py import _native as native


def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Returns whether all elements are close to each other, as `isclose` compares them; waits for the device.

    The operands broadcast against each other.
    """
    return bool(native.isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Any, other: Any) -> bool:
    """Returns whether shape, dtype and all elements are equal; waits for the device. NaN is not equal to itself."""
    first, second = (each if isinstance(each, native.Tensor) else native.tensor(each) for each in (input, other))
    return first.equal(second)


FUNCTIONS = (allclose, equal)


def _allclose(self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Returns whether all elements are close to those of `other`, as `isclose` compares them, as one bool."""
    return allclose(self, other, rtol, atol, equal_nan)


def install(tensor: Any) -> None:
    """Adds the methods to the class of tensors."""
    tensor.allclose = _allclose
