"""Tests numbers at the limits of their dtypes, and results that must not depend on the memory layout."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import array, first_devices, raises

COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


@pytest.mark.parametrize("dtype", [flow.uint8, flow.int8, flow.int16, flow.int32])
@pytest.mark.parametrize("wide", [-(2**40), -(2**31), -1, 300, 2**31, 2**32 + 1, 2**40])
def test_integers_and_wider_integers(dtype: Any, wide: int) -> None:
    values = [0, 1, 100]
    x = flow.tensor(values, dtype=dtype)
    for other in (wide, flow.tensor(wide)):
        for compare in COMPARISONS:
            assert compare(x, other).tolist() == [compare(value, wide) for value in values]
        assert (x + other).dtype == dtype


def test_floats_that_only_uint64_holds() -> None:
    assert flow.full([2], 1e19, dtype=flow.uint64).tolist() == [10**19] * 2
    assert flow.full([2], -1e18, dtype=flow.int64).tolist() == [-(10**18)] * 2


@pytest.mark.parametrize("device", first_devices())
def test_integers_that_only_uint64_holds(device: str) -> None:
    top, half = 2**64 - 1, 2**63
    x = flow.zeros(6, dtype="uint64", device=device)
    x[0] = top
    x[1:3] = half
    x[[3, 4]] = top - 1
    x[x == 0] = half + 1
    assert x.tolist() == [top, half, half, top - 1, top - 1, half + 1]
    mask = x == flow.tensor(half, dtype="uint64", device=device)
    assert x.masked_fill(mask, top).tolist() == [top, top, top, top - 1, top - 1, half + 1]
    assert flow.where(mask, x, top).tolist() == [top, half, half, top, top, top]
    assert x.fill_(half).tolist() == flow.full_like(x, half).tolist() == [half] * 6
    assert flow.full((2,), top, dtype="uint64", device=device).tolist() == [top] * 2
    assert flow.full((1,), half, dtype="float32", device=device).tolist() == [2.0**63]
    y = flow.zeros(2, dtype="int64", device=device)
    raises(flow.InvalidArgument, f"fill_: value must fit into int64, got {half}", lambda: y.fill_(half))
    assert flow.maximum(x, half + 1).tolist() == flow.clamp(x, half + 1).tolist() == [half + 1] * 6
    # Nothing is computed with such numbers, because kernels compute in int64.
    for call in (lambda: x + half, lambda: x // half):
        with pytest.raises(flow.InvalidArgument, match="must fit into 64 bits, got a larger integer"):
            call()


def floats(dtype: Any, count: int) -> np.ndarray[Any, Any]:
    """Returns floats with random bits, a few of which are NaN, infinite or subnormal."""
    random = np.random.default_rng(0)
    bits = np.uint32 if dtype is np.float32 else np.uint64
    return random.integers(0, np.iinfo(bits).max, count, bits, endpoint=True).view(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders_are_exact(name: str, dtype: Any) -> None:
    random = np.random.default_rng(1)
    a, b = floats(dtype, 30_003)[1:], floats(dtype, 30_003)[:-1]
    near = random.standard_normal(30_003).astype(dtype)
    pairs = [(a, b), (near * 1000, near[::-1].copy()), (np.trunc(near * 1000), np.trunc(near[::-1] * 10))]
    for left, right in pairs:
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(left, right)
        found = getattr(flow, name)(flow.from_numpy(left), flow.from_numpy(right))
        np.testing.assert_array_equal(array(found), expected)


def test_tan_is_rounded_once() -> None:
    """Its distance from the closest multiple of pi/2 is exact, however close; infinities give NaN."""
    x = np.concatenate([np.linspace(-9e5, 9e5, 300_000), np.arange(1, 60_000) * (np.pi / 2), [0.0, -0.0, 1e-45, 1e-20]])
    x = np.concatenate([x.astype(np.float32), floats(np.float32, 20_000)])
    with np.errstate(invalid="ignore"):
        expected = np.tan(x.astype(np.float64))
    found = array(flow.tan(flow.from_numpy(x)))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    near = np.abs(x) < 1e6
    spacing = np.spacing(np.abs(expected).astype(np.float32))
    assert np.all(np.abs(found - expected)[near] <= 0.51 * spacing[near])
    assert np.all(np.abs(found - expected)[np.isfinite(x)] <= 1.1 * spacing[np.isfinite(x)])
    zeros = x == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(x[zeros]))


@pytest.mark.parametrize("exponent", [2, 3, -1, 0.5])
def test_a_power_does_not_depend_on_its_neighbours(exponent: float) -> None:
    x = flow.from_numpy(np.concatenate([np.linspace(-3, 3, 1000), [np.inf, -np.inf, np.nan, 0.0, -0.0]]))
    for base in (x, x.to(flow.float32)):
        exponents = flow.full_like(base, 2.5)
        exponents[::3] = exponent
        np.testing.assert_array_equal(array((base**exponents)[::3]), array((base**exponent)[::3]))
        assert (flow.tensor([-float("inf"), -0.0], dtype=base.dtype) ** 0.5).tolist() == [float("inf"), 0.0]


@pytest.mark.parametrize("name", ["exp", "expm1", "log1p", "sin", "cos", "tan", "atan", "tanh", "erf"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_function_does_not_depend_on_its_neighbours(dtype: str, name: str) -> None:
    values = np.random.default_rng(0).standard_normal(20_000).astype(dtype) * 10
    others = values.copy()
    kept = np.arange(len(values)) % 5 != 0
    others[~kept] = np.resize(np.array([200, 1e6, 3e38, np.inf, np.nan], dtype), (~kept).sum())
    found = [getattr(flow, name)(flow.from_numpy(each)).numpy()[kept].tobytes() for each in (values, others)]
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_product_does_not_depend_on_its_position(dtype: str) -> None:
    """The bits are the same after the last full vector, reversed, transposed, and with swapped operands."""
    source = np.random.default_rng(0)
    a, b = ((source.standard_normal((33, 35)) + 1j * source.standard_normal((33, 35))).astype(dtype) for _ in range(2))
    x, y = flow.from_numpy(a), flow.from_numpy(b)
    expected = (x * y).numpy().tobytes()
    assert flow.flip(flow.flip(x, dims=[0, 1]) * flow.flip(y, dims=[0, 1]), dims=[0, 1]).numpy().tobytes() == expected
    assert (x.T * y.T).T.numpy().tobytes() == expected
    assert (y * x).numpy().tobytes() == expected
    assert flow.cat([x[i] * y[i] for i in range(33)], dim=0).numpy().tobytes() == expected
    assert not (x * flow.conj(x)).imag.any().item()


@pytest.mark.parametrize("dtype", [flow.float16, flow.bfloat16, flow.float32, flow.float64])
def test_random_numbers_stay_below_1(dtype: Any) -> None:
    flow.manual_seed(0)
    x = flow.rand(100_000, dtype=dtype).to(flow.float64)
    assert 0 <= x.min().item() < 0.01
    assert 0.99 < x.max().item() < 1
    assert abs(x.mean().item() - 0.5) < 0.005


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (-(2**63), 2**63 - 1, flow.int64),
        (-(2**31), 2**31, flow.int32),
        (-128, 128, flow.int8),
        (0, 256, flow.uint8),
        (0, 2**40, flow.float64),
        (0, 2, flow.bool),
    ],
)
def test_random_integers_fill_their_range(low: int, high: int, dtype: Any) -> None:
    flow.manual_seed(0)
    found = np.array([int(value) for value in flow.randint(low, high, [4000], dtype=dtype).tolist()], dtype=object)
    shares = np.bincount([(int(value) - low) * 2 // (high - low) for value in found], minlength=2) / len(found)
    assert all(abs(share - 0.5) < 0.05 for share in shares)


def test_variance_of_large_numbers() -> None:
    for count in (2, 3, 100):
        assert flow.var(flow.full([count], 1e30)).item() == 0


LAYOUTS = {
    "contiguous": lambda values: values,
    "a column": lambda values: values[:, :1],
    "a row": lambda values: values[:1],
    "one element": lambda values: values[:1, :1],
    "transposed": lambda values: np.ascontiguousarray(values.T).T,
    "every other": lambda values: np.repeat(values, 2, axis=1)[:, ::2],
    "part of a row": lambda values: np.concatenate([values, values], axis=1)[:, : values.shape[1]],
    "float16": lambda values: values.astype(np.float16),
}


@pytest.mark.parametrize("shape", [(3000, 5), (9, 700), (40, 256), (3, 2500), (1, 3000)])
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_layouts_of_many_elements(shape: tuple[int, int], left: str, right: str) -> None:
    """Combines operands whose layouts or dtypes kernels adapt block by block."""
    values = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    a, b = LAYOUTS[left](values), LAYOUTS[right](values[::-1])
    x, y = flow.from_numpy(a), flow.from_numpy(b)
    expected = a.astype(np.float32) - b.astype(np.float32)
    np.testing.assert_array_equal(array((x.to(flow.float32) if left == right == "float16" else x) - y), expected)
    np.testing.assert_array_equal(array(flow.where(x > 0, x, y)), np.where(a > 0, a, b))
    np.testing.assert_allclose(array(flow.exp(x)), np.exp(a.astype(np.float32)).astype(a.dtype), rtol=2e-3)


@pytest.mark.parametrize("shape", [(3000, 5), (9, 700), (5, 40, 16), (3, 5000), (7, 1, 9000), (20000,)])
def test_reductions_of_many_elements(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(3).integers(-1000, 1000, shape)
    for x, each in ((flow.from_numpy(values), values), (flow.from_numpy(values.T), values.T)):
        for dims in ([0], [-1], [0, -1], list(range(len(shape)))):
            axes = tuple(sorted({dim % len(shape) for dim in dims}))
            np.testing.assert_array_equal(array(flow.sum(x, list(axes))), each.sum(axes))
            np.testing.assert_array_equal(array(flow.sum(x.to(flow.float32), list(axes))), each.sum(axes))
            np.testing.assert_array_equal(array(flow.amax(x.to(flow.float16), list(axes))), each.max(axes))
        np.testing.assert_array_equal(array(flow.argmax(x, -1)), each.argmax(-1))
        np.testing.assert_array_equal(array(flow.argmin(x, 0)), each.argmin(0))
