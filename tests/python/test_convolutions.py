"""Tests convolutions of odd sizes against PyTorch, with any groups, strides, dilations and padding, and that their
results do not depend on the number of threads."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

import oneflow_py as flow

DTYPES = {flow.float32: 2e-5, flow.float64: 1e-12}


def convolution(seed: int) -> tuple[list[int], list[int], dict[str, object]]:
    """Returns the shapes of an input and of a weight, and the arguments of `conv2d`."""
    choose = random.Random(seed)
    groups = choose.choice([1, 1, 2, 3, 8, 24])
    per_group = 1 if groups == 24 else choose.choice([1, 2, 5])
    kernel = [choose.choice([1, 2, 3, 5]) for _ in range(2)]
    dilation = [choose.choice([1, 1, 2, 3]) for _ in range(2)]
    padding = [choose.choice([0, 1, 2]) for _ in range(2)]
    reach = [(kernel[d] - 1) * dilation[d] + 1 for d in range(2)]
    sizes = [max(1, reach[d] - 2 * padding[d]) + choose.randrange(0, 40) for d in range(2)]
    arguments: dict[str, object] = {
        "stride": [choose.choice([1, 1, 2, 2, 3]) for _ in range(2)],
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
    }
    inputs = [choose.choice([1, 3]), groups * per_group, *sizes]
    return inputs, [groups * choose.choice([1, 2, 3]), per_group, *kernel], arguments


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("seed", range(80))
def test_convolutions_agree_with_pytorch(seed: int, dtype: flow.dtype) -> None:
    sizes, weight_sizes, arguments = convolution(seed)
    numbers = np.random.default_rng(seed)
    x, weight = (numbers.standard_normal(each) for each in (sizes, weight_sizes))
    expected = torch.nn.functional.conv2d(torch.from_numpy(x), torch.from_numpy(weight), **arguments).numpy()
    before = flow.get_num_threads()
    found = []
    try:
        for threads in (1, 3):
            flow.set_num_threads(threads)
            operands = (flow.from_numpy(each).to(dtype) for each in (x, weight))
            found.append(flow.conv2d(*operands, **arguments).numpy())
    finally:
        flow.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], expected, rtol=DTYPES[dtype], atol=DTYPES[dtype] * np.abs(expected).max())
