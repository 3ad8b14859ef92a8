"""Tests sorting, selection and indexed writes on every device: long rows, many rows, and repeated indices.

The conformance vectors are small. Devices process rows and lists of indices in blocks, at whose boundaries errors are
likely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import oneflow_py as flow
from tests.python.support import array
from tests.random_numbers import permutation

DEVICES = [device for device in flow.devices() if device.index == 0]
KEYS = ["bool", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]
Array = np.ndarray[Any, Any]


@pytest.fixture(params=DEVICES, ids=str)
def device(request: pytest.FixtureRequest) -> Any:
    return request.param


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    """Returns random numbers, many of them equal; floating-point numbers include NaN and -0.0."""
    random = np.random.RandomState(seed)
    result = random.randint(-50, 50, shape).astype(dtype)
    if result.dtype.kind == "f":
        result[random.random_sample(shape) < 0.05] = np.nan
        result[random.random_sample(shape) < 0.05] = -0.0
    return result


@pytest.mark.parametrize("dtype", KEYS)
@pytest.mark.parametrize(
    ("shape", "dim"), [((1,), 0), ((17,), 0), ((20011,), 0), ((3, 1000), 1), ((1000, 3), 0), ((7, 33, 65), 1)]
)
@pytest.mark.parametrize("descending", [False, True])
def test_sort_and_topk(device: Any, dtype: str, shape: tuple[int, ...], dim: int, descending: bool) -> None:
    values = numbers(shape, dtype)
    x = flow.from_numpy(values).to(device)
    expected, positions = torch.sort(torch.from_numpy(values.copy()), dim=dim, descending=descending, stable=True)
    found, indices = flow.sort(x, dim, descending)
    np.testing.assert_array_equal(array(found), expected.numpy())
    np.testing.assert_array_equal(array(indices), positions.numpy())
    if dtype == "bool":
        return
    length = shape[dim]
    for k in sorted({0, 1, min(5, length), min(17, length), length // 2, length}):
        found, indices = flow.topk(x, k, dim, descending)
        np.testing.assert_array_equal(array(found), expected.narrow(dim, 0, k).numpy())
        np.testing.assert_array_equal(array(indices), positions.narrow(dim, 0, k).numpy())


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
@pytest.mark.parametrize("length", [2, 40, 100, 3000, 100_003])
def test_sort_of_numbers_with_all_bits(device: Any, dtype: str, length: int) -> None:
    """Floats have every exponent; both zeros are equal, and NaNs are; the results are the elements, bit by bit."""
    random = np.random.default_rng(length)
    bits = f"u{np.dtype(dtype).itemsize}"
    values = random.integers(0, np.iinfo(bits).max, length, bits, endpoint=True).view(dtype)
    if values.dtype.kind == "f":
        values[random.random(length) < 0.2] = 0.0
        negated = random.random(length) < 0.2
        values[negated] = -values[negated]
    values[random.integers(0, length, length // 3)] = values[0]
    expected = np.argsort(values, kind="stable")
    found, indices = flow.sort(flow.from_numpy(values).to(device))
    np.testing.assert_array_equal(array(indices), expected)
    np.testing.assert_array_equal(array(found).view(bits), values[expected].view(bits))


@pytest.mark.parametrize("length", [1000, 300_000])
def test_topk_of_long_lines(device: Any, length: int) -> None:
    values = numbers((2, length), "float32", seed=length)
    for k in (1, 7, 300, length // 3):
        for largest in (False, True):
            found, indices = flow.topk(flow.from_numpy(values).to(device), k, 1, largest)
            expected, positions = torch.sort(torch.from_numpy(values), dim=1, descending=largest, stable=True)
            np.testing.assert_array_equal(array(found), expected[:, :k].numpy())
            np.testing.assert_array_equal(array(indices), positions[:, :k].numpy())


@pytest.mark.parametrize("n", [1, 16, 17, 5000, 200_003])
def test_randperm_is_the_same_everywhere(device: Any, n: int) -> None:
    flow.manual_seed(n)
    expected = flow.randperm(n).tolist()
    flow.manual_seed(n)
    assert flow.randperm(n, device=device).tolist() == expected
    assert expected == permutation(n, 0, n)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("count", "rows", "block"),
    [(1, 5, ()), (20000, 1, ()), (20000, 10, ()), (5000, 1000, (7,)), (100, 3, (2, 3)), (90, 20, (700,))],
)
def test_repeated_indices(device: Any, dtype: str, count: int, rows: int, block: tuple[int, ...]) -> None:
    """A write keeps the last value of an index. Accumulation adds all values, and rounds halves once."""
    random = np.random.RandomState(0)
    x = random.randint(0, 5, (rows, *block)).astype(dtype)
    indices = random.randint(-rows, rows, count)
    values = random.randint(0, 9, (count, *block)).astype(dtype)
    index = flow.from_numpy(indices).to(device)

    expected = x.copy()
    expected[indices] = values
    found = flow.from_numpy(x).to(device).clone()
    flow.index_put_(found, [index], flow.from_numpy(values).to(device))
    np.testing.assert_array_equal(array(found), expected)

    wide = np.float32 if dtype == "float16" else x.dtype
    expected = x.astype(wide)
    np.add.at(expected, indices, values.astype(wide))
    with np.errstate(over="ignore"):
        expected = expected.astype(dtype)
    found = flow.from_numpy(x).to(device).clone()
    flow.index_put_(found, [index], flow.from_numpy(values).to(device), True)
    np.testing.assert_array_equal(array(found), expected)


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("reverse", [slice(None), slice(None, None, -1)])
@pytest.mark.parametrize("block", [(), (2,)])
def test_many_repeated_indices_within_rows(
    device: Any, accumulate: bool, reverse: slice, block: tuple[int, ...]
) -> None:
    """Threads may share the rows, as they have no element in common, but not where the last row comes again."""
    random = np.random.RandomState(0)
    for last_row in (299, 0):
        rows = np.arange(300)[:, None]
        rows[-1] = last_row
        columns = random.randint(-40, 40, (300, 200))
        values = random.randint(0, 9, (300, 200, *block)).astype("float32")
        x = random.randint(0, 5, (300, 40, *block)).astype("float32")
        expected = x.copy()
        if accumulate:
            np.add.at(expected[reverse], (rows, columns), values)
        else:
            expected[reverse][rows, columns] = values
        found = flow.from_numpy(x).to(device).clone()
        places = [flow.from_numpy(each).to(device) for each in (rows, columns)]
        flow.index_put_(found[reverse], places, flow.from_numpy(values).to(device), accumulate)
        np.testing.assert_array_equal(array(found), expected)
        np.testing.assert_array_equal(array(found[reverse][tuple(places)]), expected[reverse][rows, columns])


def test_the_first_of_many_indices_out_of_range(device: Any) -> None:
    at = flow.arange(200_000, device=device) % 5
    at[150_000:] = 5
    at[100_000] = -6
    first = "-6" if device.type == "cpu" else "(-6|5)"  # on other devices, it is that of the first group which fails
    with pytest.raises(flow.IndexOutOfRange, match=f"index {first} is out of range for dimension 0 of size 5"):
        flow.ones(5, device=device)[at].sum().item()


def test_indices_of_a_reversed_tensor(device: Any) -> None:
    values = numbers((6, 5, 4), "int64")
    x = flow.from_numpy(values).to(device)
    at, expected = np.array([2, -6, 5]), values[::-1, :, ::-1]
    index = flow.from_numpy(at).to(device)
    np.testing.assert_array_equal(array(x[::-1, :, ::-1][index]), expected[at])
    np.testing.assert_array_equal(array(x[::-1, :, ::-1][index, :, index // 2]), expected[at, :, at // 2])
    y, changed = x.clone(), values.copy()
    y[::-1, :, ::-1][index, :, index // 2] = 7
    changed[::-1, :, ::-1][at, :, at // 2] = 7
    np.testing.assert_array_equal(array(y), changed)


@pytest.mark.parametrize("shape", [(1,), (70001,), (300, 200), (5, 1, 7, 1, 300)])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_nonzero_and_masks(device: Any, shape: tuple[int, ...], share: float) -> None:
    mask = np.random.RandomState(0).random_sample(shape) < share
    values = numbers(shape, "int32")
    x, condition = flow.from_numpy(values).to(device), flow.from_numpy(mask).to(device)
    np.testing.assert_array_equal(array(flow.nonzero(condition)), np.argwhere(mask))
    transposed = flow.permute(condition, tuple(reversed(range(len(shape)))))
    np.testing.assert_array_equal(array(flow.nonzero(transposed)), np.argwhere(mask.T))
    np.testing.assert_array_equal(array(x[condition]), values[mask])
    y, changed = x.clone(), values.copy()
    y[condition] = 3
    changed[mask] = 3
    np.testing.assert_array_equal(array(y), changed)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("flow.index(x, [None, at(0, 3)])", "index: index 3 is out of range for dimension 1 of size 3"),
        ("flow.index_put_(x, [at(-5)], x[0:1])", "index_put_: index -5 is out of range for dimension 0 of size 4"),
        ("flow.index_select(x, 1, at(-1))", "index_select: index -1 is out of range for dimension 1 of size 3"),
        ("flow.gather(x, 0, at(4).reshape([1, 1]))", "gather: index 4 is out of range for dimension 0 of size 4"),
    ],
)
def test_an_index_out_of_range(device: Any, call: str, text: str) -> None:
    """The error is raised by the call or when the host reads the result, with the same text; later calls work."""
    x = flow.from_numpy(numbers((4, 3), "float32")).to(device)

    def at(*positions: int) -> flow.Tensor:
        return flow.tensor(positions, device=device)

    with pytest.raises(flow.IndexOutOfRange) as error:
        eval(call, {"flow": flow, "x": x, "at": at}).tolist()
    assert str(error.value) == text
    assert flow.index_select(x, 0, at(3, 0)).tolist() == [x[3].tolist(), x[0].tolist()]


@pytest.mark.parametrize("size", [2, 3])
def test_gathers_of_many_dimensions(device: Any, size: int) -> None:
    values = numbers((size,) * (13 if size == 2 else 8), "int16")
    x = flow.from_numpy(values).to(device)
    rank = values.ndim
    order = [*range(0, rank, 2), *range(1, rank, 2)]
    permuted, expected = flow.permute(x, order), values.transpose(order)
    for dims in ([0], [rank - 1], list(range(0, rank, 2)), list(range(rank))):
        np.testing.assert_array_equal(array(flow.flip(permuted, dims)), np.flip(expected, dims))
        shifts = [d - 3 for d in dims]
        np.testing.assert_array_equal(array(flow.roll(permuted, shifts, dims)), np.roll(expected, shifts, dims))
