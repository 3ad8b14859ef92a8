"""Tests complex numbers: conversions from and to Python and NumPy, printing, and operators, compared with NumPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import oneflow_py as flow
from tests.einsum.equations import EQUATIONS
from tests.python.support import first_devices
from tests.vectors.equations import einsum as oracle

PAIRS = [[1 + 2j, 3.0], [-0.5j, True]]
COMPLEX = ("complex64", "complex128")


def numbers(dtype: str) -> Any:
    """Draws NumPy arrays of small complex numbers, whose products and sums are exact."""
    elements = st.builds(complex, st.integers(-8, 8), st.integers(-8, 8))
    return arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4), elements=elements)


# ------------------------------------------------------------------------------------------------ conversions


def test_lists() -> None:
    x = flow.tensor(PAIRS)
    assert x.dtype == "complex64"
    assert (x.is_complex(), x.dtype.is_complex, x.is_floating_point()) == (True, True, False)
    assert x.tolist() == PAIRS
    assert [flow.tensor(1j).item(), complex(flow.tensor(1j)), complex(flow.tensor(2))] == [1j, 1j, 2]
    assert flow.tensor([1, 2], dtype=complex).dtype == "complex128"
    assert flow.tensor([np.complex64(1j), 2.0]).dtype == "complex64"
    assert flow.tensor([np.complex128(1j), 2.0]).dtype == "complex128"
    assert flow.tensor([flow.tensor([1j]), [2]]).tolist() == [[1j], [2]]
    assert flow.tensor([[], []], dtype="complex64").shape == (2, 0)


def test_the_default_dtype_sets_the_precision() -> None:
    flow.set_default_dtype("float64")
    try:
        assert flow.tensor(1j).dtype == "complex128"
    finally:
        flow.set_default_dtype("float32")


@pytest.mark.parametrize("dtype", COMPLEX)
def test_arrays_buffers_and_bytes(dtype: str) -> None:
    array = np.array([[1 + 2j, 3 - 4j], [5j, 6]], dtype=dtype)
    for given_array in (array, array.T, array[:, ::-1], array[1]):
        x = flow.tensor(given_array)
        assert x.dtype == dtype
        np.testing.assert_array_equal(x.numpy(), given_array)
        np.testing.assert_array_equal(np.from_dlpack(x), given_array)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)).numpy(), given_array)
    shared = flow.from_numpy(array)
    shared[0, 0] = 7.0
    assert array[0, 0] == 7
    assert shared.numpy().dtype == dtype
    assert flow.from_dlpack(array).equal(shared)


def test_printing() -> None:
    assert repr(flow.tensor([1 + 2j, complex(0, -3.5)])) == "tensor([1.0000+2.0000j, 0.0000-3.5000j], dtype=complex64)"
    assert repr(flow.tensor(1 - 1j)) == "tensor(1.-1.j, dtype=complex64)"
    ends = flow.tensor([complex("nan"), complex(0, float("-inf"))])
    assert repr(ends) == "tensor([nan+0.j, 0.-infj], dtype=complex64)"
    assert f"{flow.tensor(1 + 2j):.1f}" == "1.0+2.0j"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: flow.tensor([1, 2j], dtype="float32"), flow.DTypeError,
         "tensor: data must be real numbers for float32, got 2j"),
        (lambda: flow.tensor([1j]).to("int64"), flow.DTypeError,
         "to: a complex tensor does not become int64; take its real or imaginary part"),
        (lambda: flow.zeros(1).copy_(flow.tensor([1j])), flow.DTypeError,
         "copy_: a complex tensor does not become float32; take its real or imaginary part"),
        (lambda: flow.zeros(1).add_(flow.tensor([1j])), flow.DTypeError,
         "add_: result of type complex64 cannot be stored in float32"),
        (lambda: flow.erf(flow.tensor([1j])), flow.DTypeError, "erf: input must be a real tensor, got complex64"),
        (lambda: flow.tensor([1j]) < flow.tensor([1j]), flow.DTypeError,
         "lt: input must be a real tensor, got complex64"),
        (lambda: flow.randn(2, dtype="complex64"), flow.DTypeError, "randn: dtype must be a real type, got complex64"),
        (lambda: flow.gcd(flow.tensor([1j]), flow.tensor([1])), flow.DTypeError,
         "gcd: input must be an integer or bool tensor, got complex64"),
        (lambda: flow.tensor([1j, 2])[flow.tensor([0]), flow.tensor([0])], flow.IndexOutOfRange, None),
        (lambda: flow.zeros([1] * 32, dtype="complex64").clone(), flow.ShapeError,
         "clone: a complex tensor must have at most 31 dimensions, got 32"),
        (lambda: flow.tensor([1j, 2]).item(), flow.InvalidArgument,
         "item: input must have exactly one element, got shape [2]"),
        (lambda: float(flow.tensor(1j)), TypeError, None),
        (lambda: flow.set_default_dtype("complex64"), flow.DTypeError, None),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], text: str | None) -> None:
    with pytest.raises(error) as raised:
        call()
    assert text is None or str(raised.value) == text


# ------------------------------------------------------------------------------------------------ operators

OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip


@given(st.sampled_from(sorted(OPERATORS)), numbers("complex64"), st.sampled_from((2, 2.5)))
def test_operators_with_numbers(name: str, array: np.ndarray[Any, Any], number: float) -> None:
    x = flow.tensor(array)
    for found, expected in (
        (getattr(flow, name)(x, number), OPERATORS[name](array, np.complex64(number))),
        (getattr(flow, name)(x, flow.conj(x)), OPERATORS[name](array, array.conj())),
        (getattr(flow, name)(x, flow.real(x)), OPERATORS[name](array, array.real)),
    ):
        np.testing.assert_array_equal(found.numpy(), expected)
        assert found.dtype == str(expected.dtype)


FUNCTIONS = [
    "abs", "angle", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "square", "reciprocal", "sin",
    "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sinc", "isnan", "isinf",
    "isfinite", "isreal", "logical_not", "positive", "cumsum", "cumprod", "prod", "sum", "mean", "var", "std", "any",
    "all", "count_nonzero",
]  # fmt: skip
IN_NUMPY = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_follow_numpy(name: str) -> None:
    """Compares with NumPy over the plane: near 0, far away, and on both sides of the branch cuts."""
    ends = [-1e8, -3.0, -1.0, -0.5, -1e-8, -0.0, 0.0, 1e-8, 0.5, 1.0, 3.0, 1e8]
    if name in ("exp", "exp2", "expm1", "sin", "cos", "sinh", "cosh", "sinc", "tan", "tanh"):
        ends = [each for each in ends if abs(each) < 1e3]
    if name.startswith("cum") or name in ("prod", "mean", "var", "std", "sum"):
        ends = [-3.0, -0.5, 0.25, 1.0]
    array = np.array([complex(a, b) for a in ends for b in ends])
    if name == "reciprocal":
        array = array[array != 0]
    arguments = (0,) if name.startswith("cum") else ()
    with np.errstate(all="ignore"):
        options = {"ddof": 1} if name in ("var", "std") else {}
        expected = getattr(np, IN_NUMPY.get(name, name))(array, *arguments, **options)
    found = getattr(flow, name)(flow.tensor(array), *arguments).numpy()
    assert found.dtype == expected.dtype
    known = np.isfinite(expected)  # at poles, the parts of an infinity are not the same everywhere
    np.testing.assert_allclose(found[known], expected[known], 1e-7, 1e-15)


@given(numbers("complex128"), st.integers(-2, 3))
def test_quotients_and_powers_follow_numpy(array: np.ndarray[Any, Any], exponent: int) -> None:
    other = np.where(array == 0, 1, array)[..., ::-1] if array.ndim else np.where(array == 0, 1, array)
    np.testing.assert_allclose((flow.tensor(array) / flow.tensor(other.copy())).numpy(), array / other, 1e-14, 1e-14)
    found = flow.tensor(other.copy()) ** exponent
    np.testing.assert_allclose(found.numpy(), other**exponent, 1e-12, 1e-12)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_indexing_follows_numpy(dtype: str) -> None:
    array = (np.arange(24) * (1 - 2j)).reshape(2, 3, 4).astype(dtype)
    x = flow.tensor(array)
    at = np.array([2, 0, -1])
    np.testing.assert_array_equal(x[:, flow.tensor(at)].numpy(), array[:, at])
    np.testing.assert_array_equal(x[flow.tensor([1, 0]), :, flow.tensor([3, 0])].numpy(), array[[1, 0], :, [3, 0]])
    np.testing.assert_array_equal(x[x.abs() > 20].numpy(), array[np.abs(array) > 20])
    x[:, flow.tensor(at[:2])] = 1j
    array[:, at[:2]] = 1j
    x[x.abs() > 30] = flow.tensor(2 - 1j)
    array[np.abs(array) > 30] = 2 - 1j
    np.testing.assert_array_equal(x.numpy(), array)
    x.index_put_([flow.tensor([0, 0]), flow.tensor([1, 1])], flow.tensor(1 + 1j, dtype=dtype), True)
    np.add.at(array, ([0, 0], [1, 1]), 1 + 1j)
    np.testing.assert_array_equal(x.numpy(), array)


def test_complex_numbers_are_taken_where_an_element_is_wanted() -> None:
    assert flow.full((2,), 1 + 2j).tolist() == [1 + 2j] * 2
    assert flow.full_like(flow.zeros(1, dtype="complex64"), 3j).tolist() == [3j]
    assert flow.zeros(2, dtype="complex64").fill_(1j).tolist() == [1j, 1j]
    assert flow.ones(2, dtype="complex64").masked_fill(flow.tensor([True, False]), 2j).tolist() == [2j, 1]
    assert flow.where(flow.tensor([True, False]), 1j, 0).tolist() == [1j, 0]
    assert (flow.ones(1) * 2j + 1j).tolist() == [3j]
    assert flow.polar(flow.tensor([2.0]), flow.tensor([0.0])).tolist() == [2]


@given(numbers("complex128"))
def test_parts_copies_and_sums(array: np.ndarray[Any, Any]) -> None:
    x = flow.tensor(array)
    np.testing.assert_array_equal(flow.real(x).numpy(), array.real)
    np.testing.assert_array_equal(x.imag.numpy(), array.imag)
    np.testing.assert_array_equal((-x).conj().numpy(), -array.conj())
    np.testing.assert_array_equal(x.sum().numpy(), array.sum())
    np.testing.assert_array_equal(x.to("complex64").numpy(), array.astype("complex64"))
    np.testing.assert_array_equal(x.to("bool").numpy(), array.astype(bool))
    np.testing.assert_array_equal(flow.view_as_complex(flow.view_as_real(x)).numpy(), array)
    np.testing.assert_array_equal(flow.cat([x.flatten(), x.flatten()]).numpy(), np.concatenate([array.ravel()] * 2))
    assert x.equal(x.clone())
    assert x.equal(flow.complex(x.real, x.imag))


def test_parts_are_views() -> None:
    x = flow.zeros(2, 3, dtype="complex64")
    x.imag.fill_(2)
    x.T[1].copy_(flow.tensor([1, 1j]))
    assert x.tolist() == [[2j, 1, 2j], [2j, 1j, 2j]]
    x += 1
    x[:, 0].mul_(flow.tensor(1j))
    assert x.tolist() == [[-2 + 1j, 2, 1 + 2j], [-2 + 1j, 1 + 1j, 1 + 2j]]
    out = flow.zeros(2, dtype="complex128")
    flow.add(flow.tensor([1.0, 2.0]), flow.tensor([3.0, 4.0]), out=out)
    assert out.tolist() == [4, 6]
    flow.einsum("ij->i", flow.tensor([[1.0, 2.0], [3.0, 4.0]]), out=out)
    assert out.tolist() == [3, 7]


# ------------------------------------------------------------------------------------------------ contractions


@pytest.mark.parametrize("device", first_devices())
def test_equations(device: str) -> None:
    """Combines complex and real operands in every equation of the einsum tests."""
    source = np.random.default_rng(0)
    for equation, shapes in EQUATIONS:
        dtypes = source.permutation(["complex64", "complex128", "complex64", "float32", "int32"] * len(shapes))
        operands = []
        for shape, dtype in zip(shapes, dtypes, strict=False):
            real, imaginary = source.integers(-4, 5, (2, *shape))
            operands.append((real + 1j * imaginary if dtype in COMPLEX else real).astype(dtype))
        expected = oracle(equation, [torch.as_tensor(each) for each in operands])
        found = flow.einsum(equation, [flow.tensor(each, device=device) for each in operands])
        assert found.device == flow.device(device)
        np.testing.assert_array_equal(found.to("cpu").numpy(), expected.numpy(), err_msg=f"{equation} {shapes}")


@pytest.mark.parametrize("shapes", [((300, 200), (200, 100)), ((70, 90), (90, 1000)), ((5, 64, 33), (5, 33, 20))])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_large_products(shapes: tuple[tuple[int, ...], ...], dtype: str) -> None:
    source = np.random.default_rng(0)
    a, b = ((source.standard_normal(s) + 1j * source.standard_normal(s)).astype(dtype) for s in shapes)
    tolerance = 1e-4 if dtype == "complex64" else 1e-12
    np.testing.assert_allclose(flow.matmul(flow.tensor(a), flow.tensor(b)).numpy(), a @ b, tolerance, tolerance)
    transposed = flow.einsum("...ij,...jk->...ki", flow.tensor(a), flow.tensor(b)).numpy()
    np.testing.assert_allclose(transposed, np.swapaxes(a @ b, -1, -2), tolerance, tolerance)
