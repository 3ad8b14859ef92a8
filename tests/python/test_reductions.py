"""Compares reductions with NumPy, for sizes on both sides of the thresholds between the loops of the CPU: short and
long rows, kept and reduced dimensions with small and large strides, strided elements, and dtypes that are converted."""

from __future__ import annotations

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import first_devices, on_devices

DEVICES = first_devices()
SHAPES = [
    (1100, 17), (1100, 64), (40, 130), (3, 385), (33, 1025), (17, 4097), (2, 9000),
    (60, 20, 47), (9, 16, 130), (5, 3, 300), (70, 20, 30), (3, 1030, 16), (2, 40, 1025), (2, 2, 2050),
    (300, 100, 3), (20, 300, 2), (1500, 3, 2), (300, 7, 8), (20, 20, 8), (2, 9000, 4), (30, 700, 2),
]  # fmt: skip
DIMS = [(-1,), (0,), (1,), (0, -1)]
# Short dimensions, in which kept and reduced ones alternate.
INTERLEAVED = [
    ((40, 110, 12), (1,)), ((3, 2001, 5), (1,)), ((9, 500, 16), (0, 2)), ((4, 301, 31), (0, 2)),
    ((6, 30, 40, 12), (0, 2)), ((6, 30, 40, 12), (1, 3)), ((6, 30, 40, 12), (0, 1, 3)),
    ((9, 8, 7, 6, 5, 4), (0, 2, 4)), ((9, 8, 7, 6, 5, 4), (1, 3, 5)),
    ((12, 7, 2, 9, 3, 16), (0, 2, 4)), ((12, 7, 2, 9, 3, 16), (1, 3, 5)), ((20, 6, 2, 4, 64), (0, 2, 4)),
]  # fmt: skip
STEPS = {"contiguous": 1, "every second": 2, "every third": 3}
ORDERS = [*STEPS, "transposed", "reversed"]
integers = np.random.default_rng(0).integers(-9, 9, 300_000)


def source(shape: tuple[int, ...], order: str, dtype: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    count = int(np.prod(shape))
    if order == "transposed":
        return integers[:count].astype(dtype).reshape(shape[::-1]).transpose()
    step = STEPS.get(order, 1)
    return integers[: step * count].astype(dtype).reshape(*shape, step)[..., -1]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("device", "dtype"), on_devices(["int8", "int64", "float16", "float32", "float64"]))
def test_sums_and_extremes(order: str, dtype: str, device: str) -> None:
    for shape in SHAPES:
        array = source(shape, order, dtype)
        x = flow.from_numpy(array).to(device)
        if order == "reversed":
            array, x = array[..., ::-1], flow.flip(x, dims=[-1])
        for dims in DIMS:
            wide = array.astype(np.float64)
            found = flow.sum(x, dim=dims).to("cpu").to(flow.float64).numpy()
            if dtype == "float16":
                np.testing.assert_allclose(found, wide.sum(dims), rtol=1e-3, atol=1e-3, err_msg=f"{shape} {dims}")
            else:
                np.testing.assert_array_equal(found, wide.sum(dims), err_msg=f"{shape} {dims}")
            highest = flow.amax(x, dim=dims).to("cpu").numpy()
            np.testing.assert_array_equal(highest, array.max(dims), err_msg=f"{shape} {dims}")
        for dim in (0, -1):
            positions = flow.argmax(x, dim=dim).to("cpu").numpy()
            np.testing.assert_array_equal(positions, array.argmax(dim), err_msg=f"{shape} {dim}")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("device", "dtype"), on_devices(["bool", "int8", "int64", "float16", "float32", "float64", "complex64"])
)
def test_interleaved_dimensions(order: str, dtype: str, device: str) -> None:
    for shape, dims in INTERLEAVED:
        array = source(shape, order, dtype)
        x = flow.from_numpy(array).to(device)
        if order == "reversed":
            array, x = array[..., ::-1], flow.flip(x, dims=[-1])
        wide = array.astype("complex128" if dtype == "complex64" else "float64")
        found = flow.sum(x, dim=dims).to("cpu").numpy()
        tolerance = 1e-3 if dtype == "float16" else 0
        np.testing.assert_allclose(found, wide.sum(dims), rtol=tolerance, atol=tolerance, err_msg=f"{shape} {dims}")
        if dtype != "complex64":
            found = flow.amin(x, dim=dims).to("cpu").numpy()
            np.testing.assert_array_equal(found, array.min(dims), err_msg=f"{shape} {dims}")
        if dtype.startswith("float") and dtype != "float16":
            found = flow.var(x, dim=dims).to("cpu").numpy()
            np.testing.assert_allclose(found, wide.var(dims, ddof=1), rtol=1e-5, err_msg=f"{shape} {dims}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sums_of_complex_numbers(dtype: str, order: str, device: str) -> None:
    for shape in SHAPES:
        array = source(shape, order, dtype) + 1j * source(shape, order, dtype)[::-1]
        if order == "transposed":
            array = np.asfortranarray(array)
        x = flow.from_numpy(array).to(device)
        if order == "reversed":
            array, x = array[..., ::-1], x[..., ::-1]
        for dims in [*DIMS, tuple(range(len(shape)))]:
            found = flow.sum(x, dim=dims, keepdim=True).to("cpu").numpy()
            np.testing.assert_array_equal(found, array.sum(dims, keepdims=True), err_msg=f"{shape} {dims}")


@pytest.mark.parametrize("shape", SHAPES)
def test_nan_is_found(shape: tuple[int, ...]) -> None:
    array = source(shape, "contiguous", "float32")
    for position in (0, 1, array.size // 2, array.size - 1):
        with_nan = array.copy()
        with_nan.flat[position] = np.nan
        x = flow.from_numpy(with_nan)
        np.testing.assert_array_equal(flow.amin(x, dim=-1).numpy(), with_nan.min(-1))
        np.testing.assert_array_equal(flow.argmin(x, dim=-1).numpy(), with_nan.argmin(-1))
        np.testing.assert_array_equal(np.isnan(flow.sum(x, dim=0).numpy()), np.isnan(with_nan.sum(0)))


@pytest.mark.parametrize("shape", SHAPES)
def test_means_and_variances(shape: tuple[int, ...]) -> None:
    x = flow.from_numpy(source(shape, "contiguous", "float64") / 7)
    for dims in DIMS:
        np.testing.assert_allclose(flow.mean(x, dim=dims).numpy(), x.numpy().mean(dims), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(flow.var(x, dim=dims).numpy(), x.numpy().var(dims, ddof=1), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("length", [1, 15, 17, 63, 64, 65, 255, 256, 257, 383, 384, 1000, 4097])
def test_the_first_of_equal_elements_is_selected(length: int, dtype: str, device: str) -> None:
    """The extremes are at the start, around the ends of blocks, and last; floats also have NaN and both zeros."""
    random = np.random.default_rng(length)
    rows = random.integers(3, 7, (24, length)).astype(dtype)
    places = [0, length // 2, length - 1, *random.integers(0, length, 5)]
    for row, place in enumerate(places):
        rows[row, place:] = 9
        rows[row + len(places), place] = 1
    if rows.dtype.kind == "f":
        for row, place in enumerate(places):
            rows[row + 2 * len(places), place::3] = np.nan
        rows[0] = -0.0
        rows[0, length // 2 :] = 0.0
        rows[1] = -np.inf
        rows[2] = np.inf
    for strided in (rows, np.repeat(rows, 2, axis=1)[:, ::2]):
        x = flow.from_numpy(strided).to(device)
        for choose, find, positions in (
            (flow.max, flow.argmax, rows.argmax(1)),
            (flow.min, flow.argmin, rows.argmin(1)),
        ):
            values, found = choose(x, 1)
            np.testing.assert_array_equal(found.to("cpu").numpy(), positions)
            np.testing.assert_array_equal(find(x, 1).to("cpu").numpy(), positions)
            expected = np.take_along_axis(rows, positions[:, None], 1)[:, 0]
            got = values.to("cpu").numpy()
            np.testing.assert_array_equal(got, expected)
            if expected.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(got) & (got == 0), np.signbit(expected) & (expected == 0))
