"""Calls as people write them, which all languages make: lists for tensors, and the names of other libraries."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow

CASES = json.loads((Path(__file__).parents[1] / "as_written.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case['call']}" for i, case in enumerate(CASES)])
def test_a_call(case: dict[str, Any]) -> None:
    call = functools.reduce(getattr, case["call"].split("."), flow)
    found = call(*case["args"], **case.get("named", {}))
    values = [each.tolist() for each in found] if isinstance(found, tuple) else np.asarray(found)
    np.testing.assert_allclose(values, case["gives"], rtol=1e-6)


def test_array_likes_go_to_the_device_of_the_tensors() -> None:
    x = flow.ones(2, device="far:1")
    for result in (x - [1, 2], flow.add([1, 2], x), flow.stack([[1.0, 2.0], x]), x.mul(np.ones(2, np.float32))):
        assert result.device == "far:1"


def test_array_likes_have_the_dtype_of_tensor() -> None:
    assert flow.exp([1, 2]).dtype == flow.float32
    assert flow.neg([1, 2]).dtype == flow.int64
    assert (flow.ones(2, dtype="float16") * [1, 2]).dtype == flow.float16
    assert (flow.ones(2, dtype="int8") + 1).dtype == flow.int8
    assert flow.neg(np.ones(2, np.int16)).dtype == flow.int16
    assert flow.logical_not(True).item() is False


def test_array_likes_are_never_written_to() -> None:
    data = np.ones(2, np.float32)
    with pytest.raises(flow.TypeMismatch):
        flow.add([1.0], 1, out=[2.0])
    with pytest.raises(flow.TypeMismatch):
        flow.optim.sgd_([data], [data], [], lr=1.0)
    y = flow.neg(data)
    data[0] = 5
    assert y.tolist() == [-1, -1]


def test_a_list_that_a_gradient_needs_is_kept() -> None:
    x = flow.tensor([1.0, 2.0], requires_grad=True)
    data = np.array([3.0, 4.0], np.float32)
    y = (x * data).sum()
    data[:] = 0
    y.backward()
    assert x.grad.tolist() == [3, 4]


def test_tensors_without_dimensions_are_numbers() -> None:
    assert flow.linspace(flow.tensor(0.0), flow.tensor(1.0), flow.tensor(3)).tolist() == [0, 0.5, 1]
    assert flow.arange(6).narrow(0, flow.tensor(1), flow.tensor(2)).tolist() == [1, 2]
    assert flow.zeros(flow.tensor(2), 3).shape == (2, 3)
    with pytest.raises(flow.TypeMismatch):
        flow.arange(6).narrow(0, flow.tensor([1]), 2)
