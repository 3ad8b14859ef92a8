"""NumPy as a reference for reductions on both sides of where the CPU's loops change: lines of few and many elements,
kept and folded dimensions near to each other and far apart, elements with gaps and of types that are converted."""

from __future__ import annotations

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import first_devices

DEVICES = first_devices()
SHAPES = [
    (1100, 17), (1100, 64), (40, 130), (3, 385), (33, 1025), (17, 4097), (2, 9000),
    (60, 20, 47), (9, 16, 130), (5, 3, 300), (70, 20, 30), (3, 1030, 16), (2, 40, 1025), (2, 2, 2050),
    (300, 100, 3), (20, 300, 2), (1500, 3, 2), (300, 7, 8), (20, 20, 8), (2, 9000, 4), (30, 700, 2),
]  # fmt: skip
DIMS = [(-1,), (0,), (1,), (0, -1)]
STEPS = {"as it lies": 1, "every second": 2, "every third": 3}
ORDERS = [*STEPS, "transposed", "backwards"]
whole = np.random.default_rng(0).integers(-9, 9, 300_000)


def source(shape: tuple[int, ...], order: str, dtype: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    count = int(np.prod(shape))
    if order == "transposed":
        return whole[:count].astype(dtype).reshape(shape[::-1]).transpose()
    step = STEPS.get(order, 1)
    return whole[: step * count].astype(dtype).reshape(*shape, step)[..., -1]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("order", ORDERS)
def test_sums_and_extremes(order: str, dtype: str, device: str) -> None:
    for shape in SHAPES:
        array = source(shape, order, dtype)
        x = flow.from_numpy(array).to(device)
        if order == "backwards":
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
            places = flow.argmax(x, dim=dim).to("cpu").numpy()
            np.testing.assert_array_equal(places, array.argmax(dim), err_msg=f"{shape} {dim}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sums_of_complex_numbers(dtype: str, order: str, device: str) -> None:
    for shape in SHAPES:
        array = source(shape, order, dtype) + 1j * source(shape, order, dtype)[::-1]
        if order == "transposed":
            array = np.asfortranarray(array)
        x = flow.from_numpy(array).to(device)
        if order == "backwards":
            array, x = array[..., ::-1], x[..., ::-1]
        for dims in [*DIMS, tuple(range(len(shape)))]:
            found = flow.sum(x, dim=dims, keepdim=True).to("cpu").numpy()
            np.testing.assert_array_equal(found, array.sum(dims, keepdims=True), err_msg=f"{shape} {dims}")


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_not_a_number_is_found(shape: tuple[int, ...]) -> None:
    array = source(shape, "as it lies", "float32")
    for place in (0, 1, array.size // 2, array.size - 1):
        holed = array.copy()
        holed.flat[place] = np.nan
        x = flow.from_numpy(holed)
        np.testing.assert_array_equal(flow.amin(x, dim=-1).numpy(), holed.min(-1))
        np.testing.assert_array_equal(flow.argmin(x, dim=-1).numpy(), holed.argmin(-1))
        np.testing.assert_array_equal(np.isnan(flow.sum(x, dim=0).numpy()), np.isnan(holed.sum(0)))


@pytest.mark.parametrize("shape", SHAPES)
def test_means_and_variances(shape: tuple[int, ...]) -> None:
    x = flow.from_numpy(source(shape, "as it lies", "float64") / 7)
    for dims in DIMS:
        np.testing.assert_allclose(flow.mean(x, dim=dims).numpy(), x.numpy().mean(dims), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(flow.var(x, dim=dims).numpy(), x.numpy().var(dims, ddof=1), rtol=1e-12, atol=1e-13)
