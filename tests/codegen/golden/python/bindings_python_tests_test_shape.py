# generated from opdefs/shape.yaml by codegen, do not edit
"""The examples and the error cases of the records in opdefs/shape.yaml."""

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


def test_zeros_example_1():
    flow.manual_seed(0)
    check(flow.zeros([2], dtype=flow.int32), [0, 0])


def test_zeros_error_1():
    flow.manual_seed(0)
    with pytest.raises(flow.ShapeError) as error:
        flow.zeros([-1])
    assert str(error.value) == "zeros: size must not be negative, got -1"


def test_slice_example_1():
    flow.manual_seed(0)
    check(flow.slice(flow.tensor([0, 1, 2, 3, 4]), 0, 1, 5, 2), [1, 3])


def test_slice_error_1():
    flow.manual_seed(0)
    with pytest.raises(flow.InvalidArgument) as error:
        flow.slice(flow.tensor([1.0]), 0, 0, 1, 0)
    assert str(error.value) == "slice: step must not be zero"


def test_double_slice_example_1():
    flow.manual_seed(0)
    check(flow.double_slice(flow.tensor([1, 2, 3, 4, 5])), [2, 10])


def test_double_slice_error_1():
    flow.manual_seed(0)
    with pytest.raises(flow.TypeMismatch) as error:
        flow.double_slice(1)
    assert str(error.value) == "double_slice: input must be Tensor, got int"
