"""Compares indexing, assignment, iteration and membership with NumPy, whose rules they follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oneflow_py as flow
from tests.python.strategies import basic_keys
from tests.python.support import array, raises

few = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def pair(shape: tuple[int, ...]) -> tuple[flow.Tensor, np.ndarray[Any, Any]]:
    values = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    return flow.tensor(values), values.copy()


def same(found: flow.Tensor, expected: Any) -> None:
    np.testing.assert_array_equal(array(found), expected, strict=False)
    assert found.shape == np.shape(expected)


@few
@given(data=st.data(), shape=SHAPES)
def test_basic(data: st.DataObject, shape: tuple[int, ...]) -> None:
    key = data.draw(basic_keys(shape))
    x, values = pair(shape)
    same(x[key], values[key])
    assert x[key].shares_memory_with(x)
    x[key] = -1
    values[key] = -1
    same(x, values)


@few
@given(data=st.data(), shape=SHAPES)
def test_parts_that_are_seen_one_by_one(data: st.DataObject, shape: tuple[int, ...]) -> None:
    """Indexes tensors whose parts a layer sees as a view each, and ones whose parts make one view together."""
    key = data.draw(basic_keys(shape))
    x, values = pair(shape)
    x = x.to(flow.float64)
    together, recorded = x[key], x.detach().clone().requires_grad_()
    with flow.profile() as profile:
        apart = x[key]
    whole = (Ellipsis, slice(None), slice(None, None, 1))
    parts = [part for part in (key if isinstance(key, tuple) else (key,)) if part not in whole]
    assert len(profile.entries) == len(parts)
    for found in (together, apart, recorded[key]):
        same(found, values[key])
        assert found.is_contiguous() == together.is_contiguous()
        if found.numel() > 0:
            assert (found.stride(), found.storage_offset()) == (together.stride(), together.storage_offset())


@pytest.mark.parametrize("key", [(slice(None, None, 0),), (0, slice(None, None, 0)), (None,) * 62, (3, 0), (0, -3)])
def test_errors_of_parts_that_are_seen_one_by_one(key: Any) -> None:
    x = flow.zeros(3, 2)
    with pytest.raises(flow.Error) as together:
        x[key]
    with flow.profile(), pytest.raises(flow.Error) as apart:
        x[key]
    assert type(together.value) is type(apart.value)
    assert str(together.value) == str(apart.value)


def test_views_at_the_ends_of_memory() -> None:
    """Indexes with negative steps, steps beyond the size, and no elements, of views that begin within their memory."""
    values = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
    x = flow.tensor(values)[1, ::2, 3:]
    expected = values[1, ::2, 3:]
    for key in [
        (slice(None, None, -1),) * 2, (slice(1, None, 2**62), 0), (slice(-1, None, -(2**62)), 0), (slice(5, 9), 0),
        (slice(2, 0), slice(1, 0)), (1, slice(0, 0)), (None, 1, None, 0, None), (Ellipsis, slice(-9, 9)),
    ]:  # fmt: skip
        same(x[key], expected[key])
        assert x[key].shares_memory_with(x)


@few
@given(data=st.data(), shape=st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple))
def test_advanced(data: st.DataObject, shape: tuple[int, ...]) -> None:
    """Indexes some dimensions with lists or arrays of positions, the others with full slices and integers."""
    key: list[Any] = []
    count = data.draw(st.integers(1, 3))
    for size in shape[: data.draw(st.integers(1, len(shape)))]:
        positions = st.lists(st.integers(-size, size - 1), min_size=count, max_size=count)
        choices = [st.just(slice(None)), st.integers(0, size - 1), positions, positions.map(np.array)]
        key.append(data.draw(st.one_of(*choices)))
    x, values = pair(shape)
    same(x[tuple(key)], values[tuple(key)])
    x[tuple(key)] = 7
    values[tuple(key)] = 7
    same(x, values)


@few
@given(data=st.data(), shape=SHAPES)
def test_masks(data: st.DataObject, shape: tuple[int, ...]) -> None:
    x, values = pair(shape)
    rank = data.draw(st.integers(0, len(shape)))
    count = int(np.prod(shape[:rank]))
    flags = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    mask = np.array(flags, bool).reshape(shape[:rank])
    same(x[flow.tensor(mask)], values[mask])
    same(x[mask], values[mask])
    x[mask] = 5
    values[mask] = 5
    same(x, values)


@pytest.mark.parametrize(
    "key", [True, False, np.True_, [True, False, True], [], [[0, 1], [2, 0]], (None, [1]), np.int8(1)]
)
def test_other_keys(key: Any) -> None:
    x, values = pair((3, 2))
    wanted = np.array(key, np.int64) if isinstance(key, list) and not key else key
    same(x[key], values[wanted])


def test_assigned_values() -> None:
    x, values = pair((3, 2))
    for key, value in [
        (0, 5),
        (slice(1, None), [[1, 2], [3, 4]]),
        (..., np.arange(6).reshape(3, 2)),
        ((slice(None), 1), 9),
        (0, flow.full((1, 1, 2), 3)),
        ([2, 0], flow.full((1, 2, 1), 4)),
    ]:
        x[key] = value
        values[key] = np.asarray(value)
        same(x, values)
    x[:, 0] = x[:, 1]
    same(x[:, 0], values[:, 1])
    x[0] = flow.tensor([1.9, 2.9])
    same(x[0], [1, 2])


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        (0, (1, 2)),
        ((0, 0), (1,)),
        ((0, 0), (1, 1)),
        (np.s_[:], (1, 3, 2)),
        ([0, 2], (1, 1, 2, 2)),
        ([True] * 3, (1, 3, 2)),
    ],
)
def test_values_may_have_leading_ones(key: Any, shape: tuple[int, ...]) -> None:
    x, values = pair((3, 2))
    value = np.full(shape, 7)
    x[key] = flow.tensor(value)
    values[key] = 7
    same(x, values)
    with pytest.raises(flow.ShapeError):
        x[key] = flow.zeros(2, *shape)


def test_sequences_within_a_tuple_are_lists() -> None:
    x, values = pair((3, 2))
    for key in (((0, 2), 1), (range(2),), ((),), ((True, False, True),), ([(0, 1), (1, 2)], 0)):
        same(x[key], values[key])


def test_a_view_writes_through() -> None:
    x = flow.zeros(3, 4)
    x[1:, ::2][0].add_(1)
    assert x.tolist() == [[0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]


def test_overlapping_assignment() -> None:
    x = flow.arange(6)
    text = "copy: the tensor to write to overlaps an operand in part; clone the operand first"
    raises(flow.InvalidArgument, text, lambda: x.__setitem__(slice(1, None), x[:-1]))
    x[1:] = x[:-1].clone()
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    x[...] = x
    assert x.tolist() == [0, 0, 1, 2, 3, 4]


def test_iteration_and_membership() -> None:
    x, values = pair((3, 2))
    for row, expected in zip(x, values, strict=True):
        same(row, expected)
    assert len(x) == 3
    assert [each.item() for each in reversed(flow.arange(3))] == [2, 1, 0]
    assert 4 in x
    assert 6 not in x
    assert flow.tensor([0, 9]) in x
    first, *rest = x
    assert first.shape == (2,)
    assert len(rest) == 2


def test_errors() -> None:
    x = flow.zeros(3, 2)
    with pytest.raises(flow.IndexOutOfRange):
        x[3]
    with pytest.raises(flow.IndexOutOfRange):
        x[0, 0, 0]
    with pytest.raises(flow.IndexOutOfRange):
        x[flow.tensor([0, 3])]
    with pytest.raises(flow.InvalidArgument):
        x[::0]
    with pytest.raises(flow.Error):
        x[..., ...]
    with pytest.raises(flow.Error):
        x[flow.tensor([True, False])]
    with pytest.raises(flow.IndexOutOfRange):
        x[2**70]
    assert x[-(2**70) : 2**70].shape == (3, 2)
    kinds = "int, slice, None, ..., or a list or tensor of ints or bools"
    raises(flow.TypeMismatch, f"index: part 1 must be {kinds}, got str", lambda: x[0, "a"])
    raises(flow.TypeMismatch, f"index: part 0 must be {kinds}, got float", lambda: x[1.0])
    raises(flow.TypeMismatch, "index: slices must be of int or None, got str", lambda: x["a":])
    raises(flow.TypeMismatch, "index: elements of a tensor cannot be deleted", lambda: x.__delitem__(0))
    raises(flow.TypeMismatch, "index: value must be a number or a list, got str", lambda: x.__setitem__(0, "a"))
    with pytest.raises(flow.ShapeError):
        x[0] = flow.zeros(3)
    with pytest.raises(flow.TypeMismatch, match="len: input must have at least 1 dimension"):
        len(flow.tensor(1))
    with pytest.raises(flow.TypeMismatch, match="iter: input must have at least 1 dimension"):
        iter(flow.tensor(1))


def test_values_with_leading_dimensions_of_size_1() -> None:
    for key in (0, slice(None), [0, 2], (slice(None), [1, 0])):
        x, values = pair((3, 2))
        part = values[key] + 10
        x[key] = flow.tensor(part[None, None])
        values[key] = part[None, None]
        same(x, values)
    text = "copy: result of shape [2, 2] cannot be stored in a tensor of shape [2]"
    raises(flow.ShapeError, text, lambda: x.__setitem__(0, flow.zeros([2, 2], dtype=flow.int64)))


@pytest.mark.parametrize("key", [0, [0, 1]])
def test_numbers_that_do_not_fit(key: Any) -> None:
    x = flow.zeros([3], dtype=flow.uint8)
    for value in (256, -1, float("nan"), 1e10):
        with pytest.raises(flow.InvalidArgument, match="value must fit into uint8, got "):
            x[key] = value
    assert x.tolist() == [0, 0, 0]
