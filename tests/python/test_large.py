"""PyTorch as a reference for tensors of several tasks, whose seams the vectors are too small for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import oneflow_py as flow

COUNT = 150_001
numbers = np.random.default_rng(0).integers(-9, 9, COUNT)
ours, theirs = flow.from_numpy(numbers.copy()), torch.from_numpy(numbers.copy())
table, matrix = flow.reshape(ours[:150_000], [300, 500]), theirs[:150_000].reshape(300, 500)
indices = np.random.default_rng(1).integers(-300, 300, 70_000)

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
    "eye": lambda x, m, f: f.eye(311, 257),
    "arange": lambda x, m, f: f.arange(COUNT),
    "negative positions": lambda x, m, f: m[f.from_numpy(indices)],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_large_tensor(name: str) -> None:
    found = CALLS[name](ours, table, flow)
    expected = CALLS[name](theirs, matrix, torch)
    assert found.dtype.name == str(expected.dtype).removeprefix("torch.")
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
