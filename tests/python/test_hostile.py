"""Tests that hostile objects and values raise errors and do not crash the process."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import oneflow_py as flow

# A tensor whose size in bytes overflows, expanded from a single element.
HUGE = flow.zeros(1).expand(2**62)


class Endless:
    """An array whose tolist() returns the array itself."""

    __array_interface__ = None

    def tolist(self) -> Any:
        return self


class Lying:
    """A sequence that is longer than its len()."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, position: int) -> int:
        if position > 5:
            raise IndexError
        return position


class Failing:
    def __float__(self) -> float:
        raise ZeroDivisionError

    __index__ = __len__ = __iter__ = __dlpack__ = tolist = __float__


@pytest.mark.parametrize(
    "call",
    [
        lambda: HUGE.nbytes,
        lambda: HUGE.tolist(),
        lambda: HUGE.numpy(),
        lambda: HUGE.clone(),
        lambda: HUGE + 1,
        lambda: pickle.dumps(HUGE),
        lambda: memoryview(HUGE),
        lambda: flow.zeros(1, dtype="int8").expand(2**40).tolist(),
    ],
)
def test_more_elements_than_memory(call: Callable[[], Any]) -> None:
    with pytest.raises((MemoryError, flow.ShapeError)):
        call()


def test_huge_tensors_are_still_tensors() -> None:
    assert HUGE.shape == (2**62,)
    assert repr(HUGE).startswith("tensor([0., 0., 0.,  ..., 0., 0., 0.]")
    assert HUGE[2**61].item() == 0
    assert copy.copy(HUGE).shape == HUGE.shape


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: flow.tensor([Endless()]), RecursionError),
        (lambda: flow.zeros(1).__setitem__(0, Endless()), RecursionError),
        (lambda: flow.zeros(1) + Endless(), flow.DTypeError),
        (lambda: flow.tensor(Failing()), (ZeroDivisionError, flow.TypeMismatch)),
        (lambda: flow.zeros(Failing()), ZeroDivisionError),
        (lambda: flow.zeros(3)[Failing()], ZeroDivisionError),
        (lambda: flow.zeros(3)[Failing() :], ZeroDivisionError),
        (lambda: flow.from_dlpack(Failing()), (ZeroDivisionError, TypeError)),
        (lambda: flow.manual_seed(Failing()), (ZeroDivisionError, flow.TypeMismatch)),
        (lambda: flow.zeros(1).__array__(dtype="no such dtype"), TypeError),
        (lambda: object.__new__(flow.Tensor), TypeError),
        (lambda: flow.Tensor.__new__(flow.Tensor), TypeError),
        (lambda: type("Sub", (flow.Tensor,), {}), TypeError),
        (lambda: setattr(HUGE, "__class__", int), TypeError),
        (lambda: flow.Tensor.shape.__get__(3), TypeError),
        (lambda: flow.Tensor.item(3), TypeError),
    ],
)
def test_objects(call: Callable[[], Any], error: Any) -> None:
    with pytest.raises(error):
        call()


def test_a_sequence_that_lies_about_its_length() -> None:
    assert flow.tensor(Lying()).tolist() == [0, 1, 2, 3, 4, 5]


def test_deep_lists() -> None:
    deep: Any = 1.0
    for _ in range(32):
        deep = [deep]
    assert flow.tensor(deep).ndim == 32
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(flow.ShapeError):
        flow.tensor(deep)
