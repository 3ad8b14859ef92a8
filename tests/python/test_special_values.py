"""Tests values at the limits of types: infinities, NaN, signed zeros, and numbers that a narrower type cannot hold."""

from __future__ import annotations

import itertools
import math
import os
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import first_devices

# ------------------------------------------------------------------------------------------------ complex functions

PARTS = [-math.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 2.5, math.inf, math.nan]
POINTS = [complex(x, y) for x, y in itertools.product(PARTS, PARTS)]
FUNCTIONS = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip


def expected_value(name: str, z: complex) -> complex:
    """Returns what the array API standard asks for: NumPy's value, except where that follows older versions of C."""
    x, y = z.real, z.imag
    if name == "tanh" and x == 0 and not math.isfinite(y):
        return complex(x, math.nan)
    if name == "tan":
        rotated = expected_value("tanh", complex(-y, x))
        return complex(rotated.imag, -rotated.real)
    if name == "expm1" and not (math.isfinite(x) and math.isfinite(y)):
        power = complex(np.exp(np.complex128(z)))
        return complex(power.real - 1, power.imag)
    return complex(getattr(np, FUNCTIONS[name])(np.complex128(z)))


def agree(found: float, expected: float, z: complex, tolerance: float) -> bool:
    """Returns whether a part of a result is as expected, with its sign where the standard specifies it."""
    if math.isnan(expected):
        return math.isnan(found)
    is_finite = math.isfinite(z.real) and math.isfinite(z.imag)
    has_sign = (
        is_finite if expected == 0 else not (math.isnan(z.real + z.imag) or abs(z.real) == abs(z.imag) == math.inf)
    )
    if has_sign and math.copysign(1, found) != math.copysign(1, expected):
        return False
    return abs(found) == abs(expected) or math.isclose(abs(found), abs(expected), rel_tol=tolerance)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_complex_functions(name: str, dtype: str) -> None:
    """Compares all combinations of special parts. Infinities gave nan+nanj, and acosh(0+nanj) had no angle."""
    tolerance = 3e-6 if dtype == "complex64" else 1e-13
    with np.errstate(all="ignore"):
        expected = [expected_value(name, z) for z in POINTS]
    for device in first_devices():
        x = flow.tensor(POINTS, dtype=dtype, device=device)
        wrong = [
            (device, z, one, other)
            for z, one, other in zip(POINTS, getattr(flow, name)(x).tolist(), expected, strict=True)
            if not (agree(one.real, other.real, z, tolerance) and agree(one.imag, other.imag, z, tolerance))
        ]
        assert not wrong


def test_signs_and_rounding_of_complex_numbers() -> None:
    x = flow.tensor([3 + 4j, 0, -2, 1j, complex(math.nan, 1)]).requires_grad_()
    signs = flow.sign(x).tolist()
    assert signs[:4] == pytest.approx([0.6 + 0.8j, 0, -1, 1j])
    assert math.isnan(signs[4].real)
    assert math.isnan(signs[4].imag)
    with pytest.raises(flow.Unsupported, match="there is no gradient of sign for complex numbers; call sgn"):
        flow.grad(flow.real(flow.sign(x)).sum(), [x])
    assert flow.round(flow.tensor([1.5 - 2.5j, complex(math.inf, 0.4)])).tolist() == [2 - 2j, complex(math.inf, 0)]


# ------------------------------------------------------------------------------------------------ rounding

TIE = 1 + 2**-11 + 2**-40  # above the middle between two numbers of float16: rounded to float32, it is the middle


def half_fills(value: float, dtype: str, device: str) -> dict[str, float]:
    """Returns the element that each way of writing a number to a tensor gives."""
    x = flow.zeros([2], dtype=dtype, device=device)
    is_first = flow.tensor([True, False], device=device)
    index = flow.tensor([0], device=device)
    assigned = x.clone()
    assigned[0] = value
    found = {
        "assigned": assigned,
        "fill": x.clone().fill_(value),
        "full": flow.full([1], value, dtype=dtype, device=device),
        "full_like": flow.full_like(x, value),
        "masked_fill": x.masked_fill(is_first, value),
        "index_fill": x.index_fill(0, index, value),
        "scatter": x.scatter(0, index, value),
        "where": flow.where(is_first, value, x),
        "maximum": flow.maximum(x, value),
        "clamp": x.clamp(min=value),
        "tensor": flow.tensor([value], dtype=dtype, device=device),
    }
    return {name: each[0].item() for name, each in found.items()}


def test_numbers_are_rounded_once_to_16_bits() -> None:
    """A number was rounded to float32 first, which gave the neighbour below."""
    for device in first_devices():
        assert set(half_fills(TIE, "float16", device).values()) == {1 + 2**-10}
        assert set(half_fills(1 + 2**-8 + 2**-40, "bfloat16", device).values()) == {1 + 2**-7}
        # An integer between two numbers of bfloat16, which neither float32 nor float64 holds.
        found = half_fills(2**60 + 2**52 + 1, "bfloat16", device)
        assert {found[name] for name in found if name != "tensor"} == {2.0**60 + 2**53}
        wide = flow.tensor([TIE], dtype="float64", device=device)
        assert wide.to("float16").tolist() == [1 + 2**-10]
        assert flow.tensor([2**60 + 2**52 + 1], device=device).to("bfloat16").tolist() == [2.0**60 + 2**53]


# ------------------------------------------------------------------------------------------------ uint64

LARGE = [2**63, 5, 2**64 - 1, 0, 2**63 - 1]


def test_uint64_is_ordered_by_value() -> None:
    """Elements of 2^63 and more compared as negative numbers."""
    for device in first_devices():
        x = flow.tensor(LARGE, dtype="uint64", device=device)
        y = x.flip([0])
        other = LARGE[::-1]
        pairs = list(zip(LARGE, other, strict=True))
        assert flow.maximum(x, y).tolist() == [max(pair) for pair in pairs]
        assert flow.minimum(x, y).tolist() == [min(pair) for pair in pairs]
        for name in ("lt", "le", "gt", "ge", "eq", "ne"):
            compare = getattr(int, f"__{name}__")
            assert getattr(flow, name)(x, y).tolist() == [compare(a, b) for a, b in pairs]
            for number in (-1, 0, 5, 2**63 - 1, 2**63, 2**64 - 1):
                assert getattr(flow, name)(x, number).tolist() == [compare(a, number) for a in LARGE], (name, number)
                assert getattr(flow, name)(number, x).tolist() == [compare(number, a) for a in LARGE], (name, number)
        assert x.clamp(6, 2**63).tolist() == [2**63, 6, 2**63, 6, 2**63 - 1]
        assert x.clamp(flow.tensor(6, device=device)).tolist() == [max(a, 6) for a in LARGE]
        assert flow.maximum(x, 2**63 + 1).tolist() == [max(a, 2**63 + 1) for a in LARGE]
        assert (x.max().item(), x.min().item(), x.amax().item(), x.amin().item()) == (max(LARGE), 0, max(LARGE), 0)
        assert (x.argmax().item(), x.argmin().item()) == (2, 3)
        largest, at = x.reshape([1, 5]).max(1)
        assert (largest.tolist(), at.tolist()) == ([max(LARGE)], [2])
        assert flow.cummax(x, 0)[0].tolist() == [2**63, 2**63, 2**64 - 1, 2**64 - 1, 2**64 - 1]
        assert x.sort()[0].tolist() == sorted(LARGE)
        assert flow.searchsorted(x.sort()[0], x).tolist() == [sorted(LARGE).index(a) for a in LARGE]
        assert flow.where(x > 5, x, 0).tolist() == [a if a > 5 else 0 for a in LARGE]
        assert x.clone().clamp_(max=7).tolist() == [min(a, 7) for a in LARGE]


def test_numbers_beyond_the_range_of_a_type() -> None:
    x = flow.tensor([-5, 2**63 - 1])
    assert (x < 2**63).tolist() == [True, True]
    assert (x == 2**64 - 5).tolist() == [False, False]
    assert (flow.tensor([1.0, 1e20]) < 2**63).tolist() == [True, False]
    with pytest.raises(flow.InvalidArgument, match="maximum: other must fit into int64, got 9223372036854775808"):
        flow.maximum(x, 2**63)
    with pytest.raises(flow.InvalidArgument, match="clamp: min must fit into uint64, got -1"):
        flow.tensor([1], dtype="uint64").clamp(-1)


# ------------------------------------------------------------------------------------------------ random numbers


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_bounds_of_random_numbers(dtype: str) -> None:
    """The upper bound was drawn, because numbers just below were rounded up to it; exponential numbers were 0."""
    for device in first_devices():
        flow.manual_seed(0)
        x = flow.zeros([100000], dtype=dtype, device=device)
        for start, end in ((0.0, 4.0), (1.0, 2.0), (-1.0, 0.0), (0.1, 0.3), (1000.0, 1000.5), (5.0, 5.0)):
            drawn = x.uniform_(start, end).double()
            assert drawn.max().item() < end or start == end
            lowest = flow.full([], start, dtype=dtype).double().item()
            assert drawn.min().item() >= lowest
        assert flow.rand_like(x).max().item() < 1
        assert flow.rand([100000], dtype=dtype, device=device).max().item() < 1
        assert x.exponential_().min().item() > 0


def test_half_numbers_of_rand_like_are_those_of_rand() -> None:
    for dtype in ("float16", "bfloat16"):
        flow.manual_seed(3)
        drawn = flow.rand([1000], dtype=dtype).tolist()
        flow.manual_seed(3)
        assert flow.rand_like(flow.zeros([1000], dtype=dtype)).tolist() == drawn


@pytest.mark.skipif(os.environ.get("ONEFLOW_VECTORS") != "all", reason="uses a gigabyte: part of make test-long")
def test_counts_beyond_float32() -> None:
    """A count in float32 stopped at 2^24."""
    x = flow.ones([1]).expand([2**24 + 2])
    assert flow.histc(x, 1, 0.0, 2.0).tolist() == [2**24 + 2]


# ------------------------------------------------------------------------------------------------ arrays


def test_tensors_that_require_gradients_are_not_exported() -> None:
    """An array over the memory has no gradient; to make one was silent."""
    x = flow.tensor([1.0, 2.0]).requires_grad_()
    text = "numpy: the tensor requires a gradient, which arrays do not have; detach it first"
    calls: list[Any] = [x.numpy, x.__array__, lambda: np.asarray(x), lambda: np.array(x)]
    for each in (*calls, lambda: np.asarray(x * 2)):
        with pytest.raises(flow.InvalidArgument) as caught:
            each()
        assert str(caught.value) == text
    with pytest.raises(BufferError, match="the tensor requires a gradient, which buffers do not have; detach it first"):
        memoryview(x)
    with pytest.raises(BufferError, match="__dlpack__: the tensor requires a gradient; detach it first"):
        np.from_dlpack(x)
    assert np.asarray(x.detach()).tolist() == x.tolist() == [1.0, 2.0]
    assert flow.tensor(x).tolist() == [1.0, 2.0]


# ------------------------------------------------------------------------------------------------ the tangent


def tangent_error(values: np.ndarray[Any, Any]) -> float:
    """Returns the largest error of tan() in units of the last place, and checks the signs of the results."""
    found = flow.tan(flow.from_numpy(values)).numpy()
    exact = np.tan(values.astype(np.longdouble))
    rounded = exact.astype(values.dtype)
    is_normal = np.abs(values) >= np.finfo(values.dtype).tiny
    np.testing.assert_array_equal(np.signbit(found[is_normal]), np.signbit(rounded[is_normal]))
    return float(np.max(np.abs(found.astype(np.longdouble) - exact) / np.spacing(np.abs(rounded))))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs numbers of more than 53 bits to compare with")
def test_errors_of_the_tangent() -> None:
    """Samples all exponents, both sides of the multiples of pi / 2, and of the limits between methods."""
    floats = np.arange(0, 0x7F800000, 5003, dtype=np.uint32).view(np.float32)
    assert tangent_error(floats) <= 1.01
    assert tangent_error(-floats) <= 1.01
    random = np.random.default_rng(0)
    poles = np.arange(1, 700_000, 7) * (np.pi / 2)
    spread = np.ldexp(1 + random.random(20_000), random.integers(-1000, 40, 20_000))
    doubles = np.concatenate([random.uniform(-2, 2, 50_000), random.uniform(-2e6, 2e6, 50_000), poles, -poles, spread])
    assert tangent_error(np.concatenate([doubles, np.nextafter(doubles, 0)])) <= 1.01
    near_poles = poles.astype(np.float32)
    assert tangent_error(np.concatenate([near_poles, np.nextafter(near_poles, np.float32(0))])) <= 1.01


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_tangent_does_not_depend_on_neighbours(dtype: str) -> None:
    """Mixes angles of different methods within a vector, in all positions, in contiguous and reversed tensors."""
    angles = [1.0, -0.0, 5e-8, -3.0, 1e3, -2e4, 3e6, math.inf, -math.inf, math.nan, 0.7853982]
    alone = [flow.tan(flow.tensor([angle], dtype=dtype)).item() for angle in angles]
    random = np.random.default_rng(0)
    for length in (1, 7, 16, 33, 1000):
        positions = random.integers(0, len(angles), length)
        x = flow.tensor([angles[i] for i in positions], dtype=dtype)
        expected = np.array([alone[i] for i in positions])
        for found in (flow.tan(x), flow.tan(flow.flip(x, [0])).flip([0]), flow.tan(x[::2])):
            np.testing.assert_array_equal(found.to(flow.float64).numpy(), expected[:: 2 - (len(found) == length)])
    assert flow.tan(flow.zeros(0, 3, dtype=dtype)).shape == (0, 3)
