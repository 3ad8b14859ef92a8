# generated from opdefs/arithmetic.yaml by codegen, do not edit
"""The examples and the error cases of the records in opdefs/arithmetic.yaml."""

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


def test_add_example_1():
    flow.manual_seed(0)
    check(flow.add(flow.tensor([1.0, 2.0]), flow.tensor([10.0, 20.0])), [11.0, 22.0])


def test_add_error_1():
    flow.manual_seed(0)
    with pytest.raises(flow.TypeMismatch) as error:
        flow.add(flow.tensor([1.0]), "a")
    assert str(error.value) == "add: other must be Tensor or number, got str"


def test_gelu_example_1():
    flow.manual_seed(0)
    check(flow.gelu(flow.tensor([-1.0, 0.0, 2.0])), [-0.1587, 0.0, 1.9545])


def test_gelu_error_1():
    flow.manual_seed(0)
    with pytest.raises(flow.DTypeError) as error:
        flow.gelu(flow.tensor([1, 2]))
    assert str(error.value) == "gelu: input must be a floating-point tensor, got int64"
