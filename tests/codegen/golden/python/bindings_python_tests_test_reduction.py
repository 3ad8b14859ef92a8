# generated from opdefs/reduction.yaml by codegen, do not edit
"""The examples and the error cases of the records in opdefs/reduction.yaml."""

import math

import pytest

import oneflow_py as flow


def check(found, expected):
    """Compares values and their kinds of numbers; examples are rounded to four digits."""
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one_found, one_expected in zip(found, expected):
            check(one_found, one_expected)
    elif isinstance(found, flow.Tensor):
        check(found.tolist(), expected)
    elif isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), (found, expected)
        for one_found, one_expected in zip(found, expected):
            check(one_found, one_expected)
    elif isinstance(expected, float):
        same = math.isclose(found, expected, rel_tol=1e-3, abs_tol=1e-4) or (math.isnan(found) and math.isnan(expected))
        assert type(found) is float and same, (found, expected)
    else:
        assert type(found) is type(expected) and found == expected, (found, expected)


def test_max_dim_example_1():
    flow.manual_seed(0)
    check(flow.max(flow.tensor([[1.0, 5.0], [7.0, 3.0]]), 1), ([5.0, 7.0], [1, 0]))


def test_max_dim_error_1():
    flow.manual_seed(0)
    with pytest.raises(flow.IndexOutOfRange) as error:
        flow.max(flow.tensor([[1.0]]), 2)
    assert str(error.value) == "max: dim must be between -2 and 1 for a tensor with 2 dimensions, got 2"
