"""Compares operators on large tensors with PyTorch, on the first device of every type. The tensors are divided into
several tasks or work-groups, for which the conformance vectors are too small."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import oneflow_py as flow
from tests.python.support import DTYPES, first_devices

COUNT = 150_001
DEVICES = first_devices()
numbers = np.random.default_rng(0).integers(-9, 9, COUNT)
indices = np.random.default_rng(1).integers(-300, 300, 20_000)

CALLS = {
    "nonzero": lambda x, m, f: f.nonzero(x),
    "masked_select": lambda x, m, f: f.masked_select(x, x > 2),
    "sort": lambda x, m, f: f.sort(x, stable=True)[1],
    "sort over the first dim": lambda x, m, f: f.sort(m, dim=0, stable=True)[1],
    "sum over the first dim": lambda x, m, f: f.sum(m, dim=0),
    "sum over the last dim": lambda x, m, f: f.sum(m, dim=1),
    "sum": lambda x, m, f: f.sum(x),
    "argmax": lambda x, m, f: f.argmax(m + 0.5, dim=0),
    "cumsum": lambda x, m, f: f.cumsum(x, dim=0),
    "cumsum over the first dim": lambda x, m, f: f.cumsum(m, dim=0),
    "flip": lambda x, m, f: f.flip(m, dims=[0, 1]),
    "transposed sum": lambda x, m, f: f.transpose(m, 0, 1) + f.flip(f.transpose(m, 0, 1), dims=[1]),
    "broadcast": lambda x, m, f: m * m[:, :1] + m[:1],
    "cat": lambda x, m, f: f.cat([m, m, m], dim=1),
    "eye": lambda x, m, f: f.eye(311, 257, device=x.device),
    "arange": lambda x, m, f: f.arange(COUNT, device=x.device),
    "negative positions": lambda x, m, f: m[f.from_numpy(indices).to(x.device)],
    "product of signed bytes": lambda x, m, f: m.to(f.int8) @ f.transpose(m, 0, 1).to(f.int8),
    "product of unsigned bytes": lambda x, m, f: m.to(f.uint8) @ f.transpose(m, 0, 1).to(f.uint8),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CALLS)
def test_a_large_tensor(name: str, device: str) -> None:
    ours, theirs = flow.from_numpy(numbers.copy()).to(device), torch.from_numpy(numbers.copy())
    found = CALLS[name](ours, flow.reshape(ours[:150_000], [300, 500]), flow)
    expected = CALLS[name](theirs, theirs[:150_000].reshape(300, 500), torch)
    assert found.device.name == device
    assert found.dtype.name == str(expected.dtype).removeprefix("torch.")
    np.testing.assert_array_equal(found.to("cpu").numpy(), expected.numpy())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("first", [0, 1], ids=["aligned", "unaligned"])
@pytest.mark.parametrize("source", DTYPES)
def test_large_tensors_change_their_dtype(source: str, first: int, device: str) -> None:
    """Converts small non-negative integers, which all dtypes can represent."""
    small = np.abs(numbers[:5_003])
    held = flow.from_numpy(small).to(device).to(source)[first:]
    for target in DTYPES:
        expected = small[first:].astype(bool) if "bool" in (source, target) else small[first:]
        found = held.to(target)
        assert found.dtype.name == target
        np.testing.assert_array_equal(found.to("cpu").to("float64").numpy(), expected.astype(np.float64))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_operands_with_different_layouts(dtype: str, device: str) -> None:
    """Uses small integers, whose products all dtypes can represent."""
    wide = dtype if dtype.startswith("complex") else "bool" if dtype == "bool" else "float64"

    def operand(shape: tuple[int, ...], order: tuple[int, ...]) -> tuple[np.ndarray, flow.Tensor]:
        parts = source.integers(0, 4, (2, *(shape[d] for d in order)))
        array = (parts[0] + 1j * parts[1] if dtype.startswith("complex") else parts[0]).astype(wide)
        back = [order.index(d) for d in range(len(shape))]
        return array.transpose(back), flow.permute(flow.from_numpy(array).to(device).to(dtype), back)

    def check(found: flow.Tensor, expected: np.ndarray) -> None:
        held = found.to("cpu")
        np.testing.assert_array_equal((held if wide == dtype else held.to(wide)).numpy(), expected)

    source = np.random.default_rng(0)
    for shape in (3, 70, 90), (37, 5, 129), (64, 66, 2):
        for order in itertools.permutations(range(3)):
            (a, x), (b, y), (c, z) = operand(shape, (0, 1, 2)), operand(shape, order), operand(shape[1:], (1, 0))
            check(x * y, a * b)
            check(y * z, b * c)
            check(flow.where(x == y, y, z), np.where(a == b, b, c))
            x[:, :, 1:] = y[:, :, :-1] * z[:, 1:]
            a[:, :, 1:] = b[:, :, :-1] * c[:, 1:]
            check(x, a)
            check(y.mul_(x), a * b)


@pytest.mark.parametrize("first", [0, 1, 16], ids=["aligned", "unaligned", "aligned again"])
def test_results_beyond_the_caches(first: int) -> None:
    """Non-temporal stores write results that are aligned to cache lines."""
    count = 25_000_003
    values = np.arange(count, dtype=np.int32)
    x, target = flow.from_numpy(values), flow.zeros(count + first, dtype="int32")
    flow.mul(x, 3, out=target[first:])
    np.testing.assert_array_equal(target.numpy()[first:], values * 3)
    assert not target.numpy()[:first].any()
    flow.add(target[first:], x, out=target[first:])  # the result overwrites an operand
    np.testing.assert_array_equal(target.numpy()[first:], values * 4)
    rows = flow.mul(flow.from_numpy(values[:5000]).reshape(5000, 1), flow.from_numpy(values[:5001]))
    np.testing.assert_array_equal(rows.numpy(), np.multiply.outer(values[:5000], values[:5001]))
