"""Values of gradients where formulas cancel, overflow or divide by 0, and of repeated positions.

The expected numbers are limits. PyTorch has other ones at some of these points, or NaN.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import array

INFINITY = math.inf


def leaf(numbers: Any, dtype: str = "float64") -> flow.Tensor:
    return flow.tensor(numbers, dtype=dtype).requires_grad_()


def first(function: Callable[..., Any], *points: float, dtype: str = "float64") -> list[float]:
    """Returns the derivatives of a function of numbers, each at its point."""
    leaves = [leaf(point, dtype) for point in points]
    return [each.item() for each in flow.grad(function(*leaves), leaves)]


def second(function: Callable[..., Any], point: float, dtype: str = "float64") -> float:
    x = leaf(point, dtype)
    return flow.grad(flow.grad(function(x), [x], create_graph=True)[0], [x])[0].item()


# ------------------------------------------------------------------------------------------------ functions of a number


def test_the_slopes_of_saturated_functions_are_not_zero() -> None:
    """They were computed as f * (1 - f) and 1 - f * f, in which 1 - f is 0."""
    for x in (40.0, -40.0, 300.0, -300.0):
        size = math.exp(-abs(x))
        assert first(flow.sigmoid, x) == pytest.approx([size], rel=1e-14, abs=0)
        assert first(flow.tanh, x) == pytest.approx([4 * size**2], rel=1e-13, abs=0)
        assert second(flow.sigmoid, x) == pytest.approx(-math.copysign(size, x), rel=1e-14, abs=0)
        assert second(flow.tanh, x) == pytest.approx(-math.copysign(8 * size**2, x), rel=1e-13, abs=0)
    assert first(flow.sigmoid, 40.0, dtype="float32") == pytest.approx([math.exp(-40)], rel=1e-5, abs=0)
    assert first(flow.logsigmoid, 40.0) == pytest.approx([math.exp(-40)], rel=1e-14, abs=0)
    assert second(flow.softplus, -40.0) == pytest.approx(math.exp(-40), rel=1e-14, abs=0)


def test_the_slopes_of_complex_functions_stay_finite() -> None:
    for function in (flow.sigmoid, flow.tanh):
        for x in (800 + 1j, -800 + 1j, 20 - 2j):
            z = flow.tensor(x).requires_grad_()
            function(z).backward(flow.tensor(1 + 0j))
            slope = np.exp(-abs(x.real)) if function is flow.sigmoid else 4 * np.exp(-2 * abs(x.real))
            assert abs(z.grad.item()) == pytest.approx(slope, rel=1e-3, abs=0)
    assert flow.sigmoid(flow.tensor(-800 + 1j)).item() == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("function", "point", "slope"),
    [
        (flow.gelu, INFINITY, 1),
        (flow.gelu, -INFINITY, 0),
        (functools.partial(flow.gelu, approximate="tanh"), 1e30, 1),
        (functools.partial(flow.gelu, approximate="tanh"), -1e30, 0),
        (functools.partial(flow.gelu, approximate="tanh"), INFINITY, 1),
        (flow.mish, INFINITY, 1),
        (flow.mish, -INFINITY, 0),
        (flow.mish, 1e30, 1),
        (flow.silu, INFINITY, 1),
        (flow.silu, -INFINITY, 0),
        (flow.silu, 1e30, 1),
        (flow.silu, -1e30, 0),
        (flow.elu, 1e30, 1),
        (flow.selu, 1e30, 1.0507009873554805),
        (flow.celu, 1e30, 1),
        (flow.hardswish, 1e30, 1),
        (flow.softplus, INFINITY, 1),
        (flow.softplus, -INFINITY, 0),
        (flow.logsigmoid, -INFINITY, 1),
        (flow.softsign, 1e30, 0),
        (flow.erf, 1e30, 0),
        (flow.hardtanh, INFINITY, 0),
        (flow.sigmoid, -INFINITY, 0),
        (flow.tanh, INFINITY, 0),
        (flow.sinc, 0.0, 0),
        (flow.digamma, INFINITY, 0),
        (lambda x: flow.digamma(x) * 1e30, 1e30, 1),
    ],
)
def test_slopes_at_the_ends(function: Callable[..., Any], point: float, slope: float, dtype: str) -> None:
    assert first(function, point, dtype=dtype) == pytest.approx([slope], rel=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("function", "point", "curvature"),
    [
        (flow.sinc, 0.0, -(math.pi**2) / 3),
        (flow.sinc, 1e30, 0),
        (flow.special.i1, 0.0, 0),
        (flow.elu, 1e30, 0),
        (flow.selu, 1000.0, 0),
        (flow.celu, 1000.0, 0),
        (flow.elu, -1.0, math.exp(-1)),
        (flow.gelu, 1e30, 0),
        (functools.partial(flow.gelu, approximate="tanh"), 1e30, 0),
        (flow.mish, 1e30, 0),
        (flow.silu, 1e30, 0),
        (flow.tanh, 1000.0, 0),
        (flow.tanh, 0.0, 0),
        (flow.sigmoid, 1000.0, 0),
        (flow.softplus, 1000.0, 0),
    ],
)
def test_second_derivatives_at_the_ends(
    function: Callable[..., Any], point: float, curvature: float, dtype: str
) -> None:
    assert second(function, point, dtype) == pytest.approx(curvature, rel=1e-5)


def test_second_derivatives_beside_zero() -> None:
    """Their terms cancelled."""
    assert second(flow.tanh, 1e-20) == pytest.approx(-2e-20, rel=1e-14, abs=0)
    assert second(flow.sigmoid, 1e-20) == pytest.approx(-1.25e-21, rel=1e-14, abs=0)


def test_third_derivative_of_tanh_at_zero() -> None:
    x = leaf(0.0)
    slope = flow.grad(flow.tanh(x), [x], create_graph=True)[0]
    curvature = flow.grad(slope, [x], create_graph=True)[0]
    assert flow.grad(curvature, [x])[0].item() == pytest.approx(-2)


# ------------------------------------------------------------------------------------------------ several operands


def test_functions_of_two_numbers() -> None:
    assert first(flow.atan2, 0.0, 0.0) == [0, 0]
    assert first(flow.atan2, -0.0, 0.0) == [0, 0]
    assert first(flow.atan2, 3.0, 4.0) == pytest.approx([0.16, -0.12])
    for end in (INFINITY, -INFINITY):
        assert first(flow.logaddexp, end, end) == [0.5, 0.5]
    assert first(flow.logaddexp, INFINITY, -INFINITY) == [1, 0]
    assert first(flow.logaddexp, -INFINITY, 2.0) == [0, 1]
    assert first(flow.logaddexp, 2.0, 2.0) == [0.5, 0.5]
    assert second(lambda x: flow.logaddexp(x, flow.tensor(2.0, dtype="float64")), 2.0) == pytest.approx(0.25)
    assert first(flow.xlogy, 0.0, 0.0) == [0, 0]
    assert first(flow.special.xlog1py, 0.0, -1.0) == [0, 0]
    x, target = leaf([-1.0, -2.0]), leaf([0.0, 1.0])
    flow.kl_div(x, target, reduction="sum").backward()
    assert target.grad.tolist() == [1, 3]


def test_logits_without_bounds() -> None:
    """The sum of the gradients of the terms cancelled, and was 0, for large negative logits."""
    x, target = leaf([INFINITY, -INFINITY, 40.0, -40.0, 40.0]), leaf([1.0, 0.0, 1.0, 0.0, 0.0])
    losses = flow.binary_cross_entropy_with_logits(x, target, reduction="none")
    losses.sum().backward()
    assert losses.tolist() == pytest.approx([0, 0, math.exp(-40), math.exp(-40), 40], rel=1e-14, abs=0)
    assert x.grad.tolist() == pytest.approx([0, 0, -math.exp(-40), math.exp(-40), 1], rel=1e-14, abs=0)
    assert target.grad.tolist() == [-INFINITY, INFINITY, -40, 40, -40]
    shapes = [(2, 3), (2, 3), (3,), (2, 1)]
    random = np.random.default_rng(0)
    given = [leaf(random.uniform(0.1, 0.9, shape)) for shape in shapes]
    for reduction in ("mean", "sum", "none"):

        def loss(x: flow.Tensor, t: flow.Tensor, w: flow.Tensor, p: flow.Tensor, how: str = reduction) -> flow.Tensor:
            return flow.binary_cross_entropy_with_logits(x, t, w, reduction=how, pos_weight=p)

        assert flow.gradcheck(loss, given)


def test_losses_of_impossible_events() -> None:
    """A term with a probability or a count of 0 was NaN beside a logarithm of negative infinity."""

    def losses_and_slopes(loss: Callable[..., flow.Tensor], x: list[Any], target: list[Any], **options: Any) -> Any:
        logs = leaf(x)
        losses = loss(logs, flow.tensor(target, dtype="float64"), **options)
        losses.sum().backward()
        return losses.flatten().tolist(), logs.grad.flatten().tolist()

    none = {"reduction": "none"}
    assert losses_and_slopes(flow.kl_div, [-INFINITY, 0], [0, 1], **none) == ([0, 0], [0, -1])
    assert losses_and_slopes(flow.kl_div, [-INFINITY, 0], [-INFINITY, 0], **none, log_target=True) == ([0, 0], [0, -1])
    assert losses_and_slopes(flow.poisson_nll_loss, [-INFINITY, 0], [0, 0], **none) == ([0, 1], [0, 1])
    assert losses_and_slopes(flow.poisson_nll_loss, [0, 2], [0, 0], log_input=False, eps=0, **none) == ([0, 2], [1, 1])
    assert losses_and_slopes(flow.multilabel_soft_margin_loss, [[INFINITY, -INFINITY]], [[1, 0]]) == ([0], [0, 0])
    logits = flow.tensor([2.0, -INFINITY], dtype="float64")
    slopes = losses_and_slopes(flow.binary_cross_entropy_with_logits, [0, -INFINITY], [1, 0], pos_weight=logits.exp())
    assert slopes == (pytest.approx([math.exp(2) * math.log(2) / 2]), pytest.approx([-math.exp(2) / 4, 0]))
    losses, slopes = losses_and_slopes(flow.cross_entropy, [[-INFINITY, 0, 0]], [[0, 0.5, 0.5]])
    assert losses == pytest.approx([math.log(2)])
    assert slopes == pytest.approx([0, 0, 0])


def test_sums_of_nothing_but_negative_infinity() -> None:
    rows = leaf([[-INFINITY, -INFINITY], [-INFINITY, 1.0], [INFINITY, 1.0], [2.0, 2.0]])
    flow.logsumexp(rows, 1).sum().backward()
    assert rows.grad.flatten().tolist() == pytest.approx([0.5, 0.5, 0, 1, 1, 0, 0.5, 0.5])
    x = leaf([-INFINITY, -INFINITY, 0.0, 1.0])
    (flow.logcumsumexp(x, 0) * flow.tensor([3.0, 5.0, 1.0, -2.0], dtype="float64")).sum().backward()
    assert x.grad.tolist() == pytest.approx([3, 5, 1 - 2 / (1 + math.e), -2 * math.e / (1 + math.e)])


def test_the_euclidean_norm_is_smooth_beside_its_zero() -> None:
    """Where an element is 0, the second derivative was 0 as well."""
    x = flow.tensor([3.0, 0.0, 4.0], dtype="float64")
    found = array(flow.hessian(lambda y: flow.norm(y), x))
    unit = np.array([0.6, 0.0, 0.8])
    np.testing.assert_allclose(found, (np.eye(3) - np.outer(unit, unit)) / 5, rtol=1e-12, atol=1e-15)
    zero = leaf([0.0, 0.0])
    flow.norm(zero).backward()
    assert zero.grad.tolist() == [0, 0]


# ------------------------------------------------------------------------------------------------ products with zeros


def product_without(numbers: np.ndarray, left_out: set[int]) -> float:
    return float(np.prod([x for i, x in enumerate(numbers) if i not in left_out]))


@pytest.mark.parametrize(
    "numbers", [[2.0, 0.0, 3.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0], [2.0, 3.0, 0.5], [0.0, 4.0]]
)
def test_second_derivatives_of_products_with_zeros(numbers: list[float]) -> None:
    """That for two elements, which are 0, is the product of all others, and was 0."""
    x, n = np.array(numbers), len(numbers)
    expected = [[0.0 if i == j else product_without(x, {i, j}) for j in range(n)] for i in range(n)]
    found = flow.hessian(flow.prod, flow.tensor(x))
    np.testing.assert_allclose(array(found), expected)
    rows = flow.hessian(lambda y: flow.prod(y, 1)[1], flow.tensor(np.stack([x + 1, x])))
    np.testing.assert_allclose(array(rows)[1, :, 1, :], expected)
    products = flow.jacobian(
        lambda y: flow.jacobian(lambda z: flow.cumprod(z, 0), y, create_graph=True), flow.tensor(x)
    )
    for k in range(n):
        whole = np.zeros((n, n))
        for i in range(k + 1):
            for j in range(k + 1):
                whole[i, j] = 0.0 if i == j else product_without(x[: k + 1], {i, j})
        np.testing.assert_allclose(array(products)[k], whole, atol=1e-15)


def test_third_derivative_of_a_product_of_zeros() -> None:
    x = leaf([0.0, 0.0, 0.0])
    for function in (flow.prod, lambda y: flow.cumprod(y, 0)[2]):
        slope = flow.grad(function(x), [x], create_graph=True)[0]
        curvature = flow.grad(slope[0], [x], create_graph=True)[0]
        assert flow.grad(curvature[1], [x])[0].tolist() == [0, 0, 1]


# ------------------------------------------------------------------------------------------------ repeated positions


def writes() -> dict[str, Callable[[flow.Tensor, flow.Tensor], Any]]:
    """Returns calls that write the elements of `values` to the positions 0, 2, 0, 1, 2 of `x`."""
    at = flow.tensor([0, 2, 0, 1, 2])

    def assigned(x: flow.Tensor, values: flow.Tensor) -> flow.Tensor:
        y = x * 1
        y[at] = values
        return y

    return {
        "assignment": assigned,
        "index_put_": lambda x, values: flow.index_put_(x * 1, [at], values),
        "index_copy": lambda x, values: flow.index_copy(x, 0, at, values),
        "scatter": lambda x, values: flow.scatter(x, 0, at, values),
        "put": lambda x, values: flow.put(x, at, values),
    }


@pytest.mark.parametrize("name", writes())
def test_only_the_last_value_of_a_position_has_a_gradient(name: str) -> None:
    """All of them had one."""
    x, values = leaf([1.0, 2.0, 3.0, 4.0]), leaf([10.0, 20.0, 30.0, 40.0, 50.0])
    result = writes()[name](x, values)
    assert result.tolist() == [30, 40, 50, 4]
    (result * flow.tensor([1.0, 2.0, 3.0, 4.0], dtype="float64")).sum().backward()
    assert values.grad.tolist() == [0, 0, 1, 2, 3]
    assert x.grad.tolist() == [0, 0, 0, 4]


def test_a_value_that_fills_repeated_positions_counts_once_for_each() -> None:
    value = leaf(7.0)
    flow.index_fill(flow.zeros([4], dtype="float64"), 0, flow.tensor([1, 3, 1]), value).sum().backward()
    assert value.grad.item() == 2
    rows, width = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), leaf([1.0, 2.0])
    table = flow.zeros([2, 2], dtype="float64")
    flow.index_copy(table, 0, flow.tensor([1, 1, 0]), rows).sum().backward()
    assert rows.grad.tolist() == [[0, 0], [1, 1], [1, 1]]
    flow.index_put_(table * 1, [flow.tensor([1, 1, 0])], width).sum().backward()
    assert width.grad.tolist() == [2, 2]


def test_the_last_value_on_any_number_of_threads() -> None:
    """Compares the gradient with the value that is in the result, of many positions."""
    random = np.random.default_rng(0)
    at, numbers = random.integers(0, 5000, 200_000), random.normal(size=200_000)
    before = flow.get_num_threads()
    try:
        for count in (1, 2, 5):
            flow.set_num_threads(count)
            values = leaf(numbers)
            result = flow.scatter(flow.zeros([5000], dtype="float64"), 0, flow.tensor(at), values)
            weights = flow.tensor(random.normal(size=5000))
            (result * weights).sum().backward()
            found = array(values.grad)
            (chosen,) = np.nonzero(found)
            assert len(chosen) == len(np.unique(at))
            np.testing.assert_array_equal(array(result.detach())[at[chosen]], numbers[chosen])
            np.testing.assert_array_equal(found[chosen], array(weights)[at[chosen]])
    finally:
        flow.set_num_threads(before)
