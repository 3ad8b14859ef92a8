"""Tests operators that the CPU computes row by row as a whole, against PyTorch.

Rows have all lengths; layouts whose rows are not contiguous are left to the bodies of the composites.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import oneflow_py as flow

LENGTHS = st.one_of(st.integers(1, 200), st.sampled_from([4095, 4096, 4097, 9001]))
DTYPES = {"float32": (2e-5, 2e-6), "float64": (1e-10, 1e-12)}


def close(found: flow.Tensor, expected: torch.Tensor, dtype: str) -> None:
    relative, absolute = DTYPES[dtype]
    one, other = found.detach().numpy(), expected.detach().numpy()
    np.testing.assert_allclose(one, other, relative, absolute * expected.numel() ** 0.5)


def drawn(seed: int, *shape: int, dtype: str) -> np.ndarray:
    return np.random.default_rng(seed).normal(1.0, 2.0, shape).astype(dtype)


@settings(deadline=None, max_examples=60)
@given(LENGTHS, st.integers(1, 5), st.sampled_from(sorted(DTYPES)), st.booleans(), st.integers(0, 99))
def test_softmax_and_its_logarithm(length: int, rows: int, dtype: str, strided: bool, seed: int) -> None:
    values, weights = drawn(seed, rows, length, dtype=dtype), drawn(seed + 1, rows, length, dtype=dtype)
    for name in ("softmax", "log_softmax"):
        x, y = flow.tensor(values), torch.tensor(values)
        if strided:
            x = x.t().contiguous().t()
        x.requires_grad_()
        y.requires_grad_()
        found, expected = getattr(flow, name)(x, 1), getattr(torch, name)(y, 1)
        found.backward(flow.tensor(weights))
        expected.backward(torch.tensor(weights))
        close(found, expected, dtype)
        close(x.grad, y.grad, dtype)


@settings(deadline=None, max_examples=60)
@given(LENGTHS, st.integers(1, 150), st.sampled_from(sorted(DTYPES)), st.booleans(), st.booleans(), st.integers(0, 99))
def test_layer_norm(length: int, rows: int, dtype: str, has_weight: bool, has_bias: bool, seed: int) -> None:
    """Compares with PyTorch in float64: its gradients of rows that are nearly constant have large errors in float32."""
    arrays = [drawn(seed, rows, length, dtype=dtype)]
    arrays += [drawn(seed + i, length, dtype=dtype) if has else None for i, has in enumerate((has_weight, has_bias))]
    weights = drawn(seed + 9, rows, length, dtype=dtype)
    ours = [None if each is None else flow.tensor(each).requires_grad_() for each in arrays]
    theirs = [None if each is None else torch.tensor(each.astype("float64"), requires_grad=True) for each in arrays]
    found = flow.layer_norm(ours[0], [length], ours[1], ours[2])
    expected = torch.nn.functional.layer_norm(theirs[0], [length], theirs[1], theirs[2])
    found.backward(flow.tensor(weights))
    expected.backward(torch.tensor(weights.astype("float64")))
    grads = [(a.grad, b.grad) for a, b in zip(ours, theirs, strict=True) if a is not None]
    relative, absolute = DTYPES[dtype]
    steepest = float((arrays[0].astype("float64").var(1) + 1e-5).min() ** -0.5)
    for one, other in [(found, expected), *grads]:
        size = max(1.0, float(other.detach().abs().max())) * max(1.0, steepest)
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), 10 * relative, 50 * absolute * size)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("row", [[np.nan, 1.0], [np.inf, 1.0], [-np.inf, 1.0], [-np.inf, -np.inf], [3e38, -3e38]])
def test_rows_with_special_numbers(name: str, row: list[float]) -> None:
    for rows in (row, [0.0] * 100 + row):
        found, expected = getattr(flow, name)(flow.tensor(rows), 0), getattr(torch, name)(torch.tensor(rows), 0)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-5, 1e-6)


def test_results_do_not_depend_on_threads_or_position() -> None:
    x = flow.randn([257, 300])
    weight, bias = flow.randn([300]), flow.randn([300])
    threads = flow.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3):
            flow.set_num_threads(count)
            y = x.detach().requires_grad_()
            w = weight.detach().requires_grad_()
            flow.layer_norm(y, [300], w, bias).sum().backward()
            found.append((flow.softmax(x, 1).numpy(), y.grad.numpy(), w.grad.numpy()))
    finally:
        flow.set_num_threads(threads)
    for one in found[1:]:
        assert all((a == b).all() for a, b in zip(one, found[0], strict=True))
    assert (flow.softmax(x[3:4], 1).numpy() == found[0][0][3:4]).all()


def test_a_recorded_backward_pass_sees_the_body() -> None:
    values = drawn(1, 3, 5, dtype="float64")
    x, y = flow.tensor(values).requires_grad_(), torch.tensor(values, requires_grad=True)
    (first,) = flow.grad((flow.softmax(x, 1) ** 2).sum(), [x], create_graph=True)
    (other,) = torch.autograd.grad((torch.softmax(y, 1) ** 2).sum(), [y], create_graph=True)
    (first**2).sum().backward()
    (other**2).sum().backward()
    close(x.grad, y.grad, "float64")
    out = flow.zeros([3, 5], dtype=flow.float64)
    flow.softmax(x.detach(), 1, out=out)
    close(out, torch.softmax(y, 1), "float64")
