"""Tests convolutions, pooling and contractions of overlapping windows in random shapes, against PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oneflow_py as flow

TOLERANCES = {"float32": (2e-4, 2e-4), "float64": (1e-10, 1e-10)}
DTYPES = st.sampled_from(sorted(TOLERANCES))


def drawn(seed: int, *shape: int, dtype: str) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def has_elements(length: int, kernel: int, stride: int, padding: int, dilation: int) -> bool:
    """Returns whether no window lies in the border alone: PyTorch then writes outside of the gradient."""
    starts = range(-padding, length + padding, stride)
    return all(any(0 <= start + i * dilation < length for i in range(kernel)) for start in starts if start < length)


def agree(name: str, arrays: list[np.ndarray], dtype: str, *arguments: Any, **options: Any) -> None:
    """Calls a function of both libraries. Checks the results, and all gradients for a random projection."""
    ours = [flow.tensor(each).requires_grad_() for each in arrays]
    theirs = [torch.tensor(each, requires_grad=True) for each in arrays]
    found = getattr(flow, name)(*ours, *arguments, **options)
    expected = getattr(torch.nn.functional, name)(*theirs, *arguments, **options)
    assert found.shape == tuple(expected.shape)
    weights = drawn(99, *found.shape, dtype=dtype)
    found.backward(flow.tensor(weights))
    expected.backward(torch.tensor(weights))
    for one, other in [(found, expected), *((a.grad, b.grad) for a, b in zip(ours, theirs, strict=True))]:
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), *TOLERANCES[dtype])


@settings(deadline=None, max_examples=80)
@given(st.data(), st.integers(1, 3), DTYPES, st.integers(1, 2), st.booleans())
def test_convolutions(data: st.DataObject, n: int, dtype: str, groups: int, has_bias: bool) -> None:
    """Few and many channels, so that windows are read in place and are packed."""
    draw = data.draw
    channels, results = draw(st.sampled_from([1, 3, 8, 20])), draw(st.sampled_from([1, 5, 16, 33]))
    kernel = [draw(st.integers(1, 4)) for _ in range(n)]
    stride, dilation = ([draw(st.integers(1, 3)) for _ in range(n)] for _ in range(2))
    padding = [draw(st.integers(0, 2)) for _ in range(n)]
    lengths = [draw(st.integers(1, 14 if n < 3 else 6)) for _ in range(n)]
    reaches = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    assume(all(m + 2 * p >= reach for m, p, reach in zip(lengths, padding, reaches, strict=True)))
    arrays = [
        drawn(0, draw(st.integers(1, 4)), channels * groups, *lengths, dtype=dtype),
        drawn(1, results * groups, channels, *kernel, dtype=dtype),
        *(drawn(2, results * groups, dtype=dtype) for _ in range(has_bias)),
    ]
    agree(f"conv{n}d", arrays, dtype, stride=stride, padding=padding, dilation=dilation, groups=groups)


@settings(deadline=None, max_examples=40)
@given(st.data(), st.integers(1, 3), DTYPES)
def test_transposed_convolutions(data: st.DataObject, n: int, dtype: str) -> None:
    draw = data.draw
    kernel = [draw(st.integers(1, 3)) for _ in range(n)]
    stride, dilation = ([draw(st.integers(1, 2)) for _ in range(n)] for _ in range(2))
    lengths = [draw(st.integers(1, 9 if n < 3 else 4)) for _ in range(n)]
    padding = [draw(st.integers(0, 1)) for _ in range(n)]
    sizes = zip(lengths, stride, padding, dilation, kernel, strict=True)
    assume(all((m - 1) * s - 2 * p + d * (k - 1) + 1 >= 1 for m, s, p, d, k in sizes))
    arrays = [drawn(0, 2, 16, *lengths, dtype=dtype), drawn(1, 16, 17, *kernel, dtype=dtype)]
    agree(f"conv_transpose{n}d", arrays, dtype, stride=stride, padding=padding, dilation=dilation)


@settings(deadline=None, max_examples=80)
@given(st.data(), st.integers(1, 3), DTYPES, st.booleans())
def test_maxima_of_windows(data: st.DataObject, n: int, dtype: str, ceil_mode: bool) -> None:
    draw = data.draw
    kernel = [draw(st.integers(1, 4)) for _ in range(n)]
    stride, dilation = ([draw(st.integers(1, 3)) for _ in range(n)] for _ in range(2))
    padding = [draw(st.integers(0, k // 2)) for k in kernel]
    lengths = [draw(st.integers(1, 12 if n < 3 else 6)) for _ in range(n)]
    reaches = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    assume(all(m + 2 * p >= reach for m, p, reach in zip(lengths, padding, reaches, strict=True)))
    assume(all(map(has_elements, lengths, kernel, stride, padding, dilation)))
    shape = (2, 3, *lengths)
    values = np.random.default_rng(0).permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
    windows = {"stride": stride, "padding": padding, "dilation": dilation}
    agree(f"max_pool{n}d", [values], dtype, kernel, **windows, ceil_mode=ceil_mode)


@pytest.mark.parametrize("strided", [False, True])
def test_the_first_of_equal_maxima_has_the_gradient(strided: bool) -> None:
    nan, inf = float("nan"), float("inf")
    rows = [[1, 1, 2, 0], [1, 1, 2, 2], [nan, 0, -inf, -inf], [nan, 5, -inf, -inf]]
    x = flow.tensor(rows, dtype="float32").unsqueeze(0)
    if strided:
        x = x.transpose(1, 2).contiguous().transpose(1, 2)
    x.requires_grad_()
    flow.max_pool2d(x, 2).backward(flow.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    assert x.grad.tolist() == [[[1, 0, 2, 0], [0, 0, 0, 0], [3, 0, 4, 0], [0, 0, 0, 0]]]


def test_a_window_in_the_border_has_no_gradient() -> None:
    x = flow.tensor([[[5.0]]]).requires_grad_()
    found = flow.max_pool1d(x, 2, padding=1, dilation=2)
    assert found.tolist() == [[[-float("inf")]]]
    found.sum().backward()
    assert x.grad.tolist() == [[[0]]]


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 40), st.integers(8, 40), st.integers(1, 6), st.integers(1, 3),
    st.sampled_from([*itertools.permutations("bxo")]), st.sampled_from(["float32", "float64", "int64", "complex64"]),
)  # fmt: skip
def test_contractions_of_overlapping_windows(
    outer: int, length: int, size: int, step: int, order: tuple[str, ...], dtype: str
) -> None:
    """Contracts a view of windows with a matrix, in all orders of the result."""
    random = np.random.default_rng(0)
    values, weights = ((random.random(shape) * 9).astype(dtype) for shape in ((outer, 7, length), (18, 7, size)))
    equation = f"bcxk,ock->{''.join(order)}"
    found = flow.einsum(equation, flow.tensor(values).unfold(2, size, step), flow.tensor(weights))
    windows = np.lib.stride_tricks.sliding_window_view(values, size, 2)[:, :, ::step]
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, windows, weights), 1e-4)


def test_statistics_of_batch_norm_keep_no_history() -> None:
    mean, variance = flow.zeros([4]), flow.ones([4])
    weight = flow.ones([4]).requires_grad_()

    def step() -> int:
        flow.batch_norm(flow.randn([8, 4, 5]) * weight.reshape(4, 1), mean, variance, training=True).sum().backward()
        weight.grad = None
        return flow.memory_stats()["tensors"]

    assert step() == step() == step()
    assert not mean.requires_grad
    assert not variance.requires_grad
