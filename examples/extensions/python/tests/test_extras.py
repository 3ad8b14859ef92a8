"""Tests the package as its users see it."""

import gc
import weakref

import flow_extras
import pytest

import oneflow_py as flow


def test_a_fused_function():
    x = flow.tensor([[0.0, 1.0], [2.0, -1.0]])
    assert flow.allclose(flow_extras.scaled_tanh(x, scale=2.0), 2 * x.tanh())
    assert flow.allclose(flow_extras.scaled_tanh(x.T), x.T.tanh())


def test_operators_with_gradients():
    x = flow.tensor([[1.0, 2.0, 3.0], [4.0, 6.0, 8.0]], requires_grad=True)
    result = flow_extras.standardize(x)
    assert flow.allclose(result.std(dim=1, correction=0), flow.ones(2))
    (result**3).sum().backward()
    assert x.grad.shape == (2, 3)


def test_a_generator():
    x = flow.zeros(1000)
    first, second = (flow_extras.noisy(x, 2.0, flow.Generator(7)) for _ in range(2))
    assert first.equal(second)
    assert first.std().item() == pytest.approx(2.0, abs=0.2)
    flow.manual_seed(7)
    assert flow_extras.noisy(x, 2.0).equal(first)


def test_memory_of_the_module():
    squares = flow_extras.squares(4)
    view = squares[1:]
    assert (squares.tolist(), flow_extras.live_tables()) == ([0, 1, 4, 9], 1)
    reference = weakref.ref(squares)
    del squares
    gc.collect()
    assert reference() is None
    assert (view.tolist(), flow_extras.live_tables()) == ([1, 4, 9], 1)
    del view
    gc.collect()
    assert flow_extras.live_tables() == 0


def test_errors_are_those_of_oneflow():
    with pytest.raises(flow.TypeMismatch, match=r"^scaled_tanh: input must be Tensor, got str$"):
        flow_extras.scaled_tanh("x")
    with pytest.raises(flow.TypeMismatch, match=r"^noisy: generator must be Generator, got int$"):
        flow_extras.noisy(flow.zeros(1), 1.0, 7)
    with pytest.raises(flow.DTypeError, match=r"^scaled_tanh: input must be float32, got int64$"):
        flow_extras.scaled_tanh(flow.tensor([1]))
    with pytest.raises(flow.IndexOutOfRange, match=r"^mean: dim must be between -1 and 0 "):
        flow_extras.standardize(flow.zeros(2), 3)
    with pytest.raises(flow.InvalidArgument, match=r"^squares: count must not be negative, got -1$"):
        flow_extras.squares(-1)
