"""Values and gradients where what is computed on the way overflows, underflows, or is 0 times infinity.

The expected numbers are the limits. PyTorch has NaN, 0 or infinities at most of these points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import array

INFINITY = math.inf
NAN = math.nan
BIG = {"float32": 1e30, "float64": 1e200}
TYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])
functions = flow.nn.functional


def gradients(function: Callable[..., Any], *points: Any, dtype: str = "float64") -> list[Any]:
    """Returns the gradients of a function of tensors at some points, as lists."""
    leaves = [flow.tensor(point, dtype=dtype).requires_grad_() for point in points]
    return [each.tolist() for each in flow.grad(function(*leaves).sum(), leaves)]


def near(expected: Any, dtype: str) -> Any:
    return pytest.approx(expected, rel=1e-5 if dtype == "float32" else 1e-12, abs=0, nan_ok=True)


# ------------------------------------------------------------------------------------------------ functions


@TYPES
def test_slopes_of_angles_and_lengths(dtype: str) -> None:
    """The sum of squares in the slope of atan2 overflowed; the slope of hypot was infinity / infinity, which is NaN."""
    big = BIG[dtype]
    for size in (big, 1 / big):
        assert gradients(flow.atan2, size, size, dtype=dtype) == near([0.5 / size, -0.5 / size], dtype)
        assert gradients(flow.atan2, -size, 2 * size, dtype=dtype) == near([0.4 / size, 0.2 / size], dtype)
    assert gradients(flow.atan2, 1.0, INFINITY, dtype=dtype) == [0, 0]
    assert gradients(flow.atan2, INFINITY, 1.0, dtype=dtype) == [0, 0]
    assert gradients(flow.hypot, INFINITY, 1.0, dtype=dtype) == [1, 0]
    assert gradients(flow.hypot, 1.0, -INFINITY, dtype=dtype) == [0, -1]


@TYPES
def test_slopes_of_inverse_hyperbolic_functions(dtype: str) -> None:
    """The square of the operand overflowed, or lost the digits of its distance from 1."""
    big = BIG[dtype]
    assert gradients(flow.asinh, [big, -big], dtype=dtype) == [near([1 / big, 1 / big], dtype)]
    assert gradients(flow.acosh, big, dtype=dtype) == near([1 / big], dtype)
    rest = 3 * 2.0 ** (-20 if dtype == "float32" else -48)
    assert gradients(flow.acosh, 1 + rest, dtype=dtype) == near([1 / math.sqrt(rest * (2 + rest))], dtype)


def test_slope_of_a_power_that_vanishes() -> None:
    """It was 0 times the logarithm of infinity."""
    assert gradients(flow.pow, INFINITY, -1.0) == [0, 0]


@TYPES
def test_ldexp_beyond_the_range_of_powers(dtype: str) -> None:
    """The power of 2 was infinite, or 0, where the product is neither."""
    big = BIG[dtype]
    by = [1330, 5000, -1330] if dtype == "float64" else [200, 300, -200]
    found = flow.ldexp(flow.tensor([1 / big, 0.0, big], dtype=dtype), flow.tensor(by))
    exact = [math.ldexp(float(np.dtype(dtype).type(x)), n) for x, n in zip([1 / big, 0.0, big], by, strict=True)]
    assert found.tolist() == near(exact, dtype)
    limits = flow.ldexp(flow.tensor([1.0, 0.0, INFINITY], dtype=dtype), flow.tensor([INFINITY, -INFINITY, 5000.0]))
    assert limits.tolist() == [INFINITY, 0, INFINITY]
    assert gradients(lambda x: flow.ldexp(x, flow.tensor([-1, 3])), [0.0, 2.0], dtype=dtype) == [[0.5, 8.0]]


@TYPES
def test_hyperbolic_functions_up_to_the_largest_number(dtype: str) -> None:
    """They were infinite where exp(x) is, but exp(x) / 2 is not."""
    x = 89.2 if dtype == "float32" else 710.2
    point = float(np.dtype(dtype).type(x))
    size = math.exp(point / 2) * 0.5 * math.exp(point / 2)
    assert flow.sinh(flow.tensor([point, -point], dtype=dtype)).tolist() == near([size, -size], dtype)
    assert flow.cosh(flow.tensor([point, -point], dtype=dtype)).tolist() == near([size, size], dtype)
    assert flow.sinh(flow.tensor([INFINITY, -INFINITY, NAN], dtype=dtype)).tolist() == near(
        [INFINITY, -INFINITY, NAN], dtype
    )


def test_divisors_of_the_lowest_integers() -> None:
    """The absolute value of the lowest int32 was extended by its sign."""
    for dtype in ("int8", "int16", "int32", "int64"):
        low = -(2 ** (8 * np.dtype(dtype).itemsize - 1))
        found = flow.gcd(flow.tensor([low, low, 7, low], dtype=dtype), flow.tensor([7, 14, low, 0], dtype=dtype))
        assert found.tolist() == [1, 2, 1, low]


def test_spaced_numbers_over_the_whole_range() -> None:
    """The distance was infinite."""
    assert flow.linspace(-1.7e308, 1.7e308, 5, dtype="float64").tolist() == near(
        [-1.7e308, -8.5e307, 0, 8.5e307, 1.7e308], "float64"
    )


def test_rounding_to_more_decimals_than_there_are() -> None:
    """The element times the power of 10 was infinite."""
    assert flow.round(flow.tensor([1e308, -INFINITY]), decimals=3).tolist() == pytest.approx([INFINITY, -INFINITY])
    assert flow.round(flow.tensor([1e308, 1.25], dtype="float64"), decimals=20).tolist() == [1e308, 1.25]
    assert flow.round(flow.tensor(5.0), decimals=-40).item() == 0


def test_polygamma_of_float32() -> None:
    """The factorial is infinite in float32."""
    assert flow.polygamma(40, flow.tensor(30.0)).item() == near(-3.042973522079723e-13, "float32")


# ------------------------------------------------------------------------------------------------ reductions


@TYPES
def test_deviations_with_their_means(dtype: str) -> None:
    """They were roots of variances, which overflow and underflow, with an infinite slope at 0."""
    big = BIG[dtype]
    for size in (big, 1 / big) if dtype == "float32" else (big,):
        deviation, mean = flow.std_mean(flow.tensor([size, 3 * size], dtype=dtype))
        assert [deviation.item(), mean.item()] == near([math.sqrt(2) * size, 2 * size], dtype)
        slope = gradients(lambda x: flow.std_mean(x)[0], [size, 3 * size], dtype=dtype)
        assert slope == [near([-math.sqrt(0.5), math.sqrt(0.5)], dtype)]
    assert gradients(lambda x: flow.std_mean(x)[0], [2.0, 2.0, 2.0], dtype=dtype) == [[0, 0, 0]]
    both = gradients(lambda x: flow.add(*flow.std_mean(x)), [1.0, 3.0], dtype=dtype)
    assert both == [near([0.5 - math.sqrt(0.5), 0.5 + math.sqrt(0.5)], dtype)]


@TYPES
def test_normalisation_of_large_and_small_elements(dtype: str) -> None:
    """The variance was infinite or 0, and so the result 0 or infinite."""
    big = BIG[dtype]
    rows = flow.tensor([[-big, big], [big, 3 * big]], dtype=dtype)
    assert functions.layer_norm(rows, [2]).tolist() == [near([-1, 1], dtype)] * 2
    assert functions.layer_norm(rows / big / big, [2], eps=0.0).tolist() == [near([-1, 1], dtype)] * 2
    assert functions.group_norm(rows, 1).tolist() == [near([-1, 1], dtype)] * 2
    assert functions.batch_norm(rows, None, None, training=True).tolist() == [
        near([-1, -1], dtype),
        near([1, 1], dtype),
    ]
    slope = gradients(lambda x: functions.layer_norm(x, [3])[0], [-big, 0.0, big], dtype=dtype)[0]
    unit = math.sqrt(1.5) / big
    assert slope == near([unit / 6, -unit / 3, unit / 6], dtype)
    assert functions.layer_norm(flow.tensor([[3.0, 3.0]], dtype=dtype), [2], eps=0.0).isnan().all().item()


def test_root_mean_square_of_large_float32() -> None:
    assert functions.rms_norm(flow.tensor([3e20, 4e20]), [2]).tolist() == near([0.6 * 2**0.5, 0.8 * 2**0.5], "float32")


@TYPES
def test_gradients_of_products_out_of_range(dtype: str) -> None:
    """The product of the others was that of all, divided by the element."""
    big = BIG[dtype]
    assert gradients(flow.prod, [big, big, 1.0], dtype=dtype) == [near([big, big, INFINITY], dtype)]
    assert gradients(flow.prod, [1 / big, 1 / big, 1.0], dtype=dtype) == [near([1 / big, 1 / big, 0], dtype)]
    assert gradients(flow.prod, [INFINITY, 2.0, 3.0], dtype=dtype) == [[6, INFINITY, INFINITY]]
    assert gradients(lambda x: flow.prod(x, 1), [[2.0, 0.0], [0.0, 0.0]], dtype=dtype) == [[[0, 2], [0, 0]]]


@TYPES
def test_gradients_of_maxima_with_nan(dtype: str) -> None:
    """NaN is not equal to itself: none had the gradient."""
    for function in (flow.max, flow.amax, flow.min, flow.amin):
        assert gradients(function, [2.0, NAN, 2.0], dtype=dtype) == [[0, 1, 0]]
    assert gradients(lambda x: flow.amax(x, 1), [[NAN, 1.0], [3.0, 3.0]], dtype=dtype) == [[[1, 0], [0.5, 0.5]]]


@TYPES
def test_norms_of_negative_order(dtype: str) -> None:
    """The largest element has the least part in them: powers of the others, in proportion to it, overflowed."""
    small = 1 / BIG[dtype]
    assert flow.norm(flow.tensor([small, 1.0], dtype=dtype), -2.0).item() == near(small, dtype)
    assert flow.norm(flow.tensor([0.0, 1.0], dtype=dtype), -2.0).item() == 0
    assert flow.norm(flow.tensor([3.0, 6.0], dtype=dtype), -1.0).item() == near(2, dtype)


def test_logcumsumexp_with_infinity() -> None:
    """The gradient of an infinite element was infinity - infinity; that of logsumexp is 1."""
    assert gradients(lambda x: flow.logcumsumexp(x, 0), [1.0, INFINITY, 2.0]) == [[1, 2, 0]]


def test_counts_over_the_whole_range() -> None:
    """The difference of the bounds was infinite."""
    x = flow.tensor([-1.7e308, 1e307, 1.7e308], dtype="float64")
    assert flow.histc(x, 2).tolist() == [1, 2]
    assert flow.histc(x, 4).tolist() == [1, 0, 1, 1]


# ------------------------------------------------------------------------------------------------ losses


@TYPES
def test_losses_of_large_differences(dtype: str) -> None:
    """The slope of the square, which is not selected, was infinite."""
    zero = flow.zeros([3], dtype=dtype)
    points = [INFINITY, -1e38, 0.5]
    huber = gradients(lambda x: functions.huber_loss(x, zero, "sum", 2.0), points, dtype=dtype)
    assert huber == [[2, -2, 0.5]]
    smooth = gradients(lambda x: functions.smooth_l1_loss(x, zero, reduction="sum"), points, dtype=dtype)
    assert smooth == [[1, -1, 0.5]]
    bound = gradients(lambda x: functions.huber_loss(x, zero[0], "sum", 2.0), 2.0, dtype=dtype)
    assert bound == [2]


@TYPES
def test_losses_of_logits(dtype: str) -> None:
    """They were differences of equal terms, or 0 * infinity."""
    tail = math.exp(-40)
    logits, target = flow.tensor([-40.0, 40.0], dtype=dtype), flow.tensor([0.0, 1.0], dtype=dtype)
    losses = functions.binary_cross_entropy_with_logits(logits, target, reduction="none")
    assert losses.tolist() == near([tail, tail], dtype)
    infinite = flow.tensor([[INFINITY, -INFINITY]], dtype=dtype)
    match, other = flow.tensor([[1.0, 0.0]], dtype=dtype), flow.tensor([[0.0, 1.0]], dtype=dtype)
    for loss in (functions.binary_cross_entropy_with_logits, functions.multilabel_soft_margin_loss):
        assert loss(infinite, match).item() == 0
        assert loss(infinite, other).item() == INFINITY
        assert gradients(lambda x, loss=loss: loss(x, match), infinite.tolist(), dtype=dtype) == [[[0, 0]]]
    weight = flow.tensor([3.0, 0.5], dtype=dtype)
    x, t, w = [0.3, -2.0], [0.25, 0.5], [3.0, 0.5]
    value = functions.binary_cross_entropy_with_logits(
        flow.tensor(x, dtype=dtype), flow.tensor(t, dtype=dtype), pos_weight=weight, reduction="sum"
    )
    terms = zip(x, t, w, strict=True)
    exact = sum(w * t * math.log1p(math.exp(-x)) + (1 - t) * math.log1p(math.exp(x)) for x, t, w in terms)
    assert value.item() == near(exact, dtype)


@TYPES
def test_losses_of_impossible_classes(dtype: str) -> None:
    """A probability of 0 times an infinite logarithm was NaN."""
    none, logs = flow.tensor([0.0, 1.0], dtype=dtype), flow.tensor([-INFINITY, -0.5], dtype=dtype)
    assert functions.kl_div(logs, none, reduction="sum").item() == 0.5
    given = flow.tensor([-1.0, -0.5], dtype=dtype)
    assert functions.kl_div(given, logs + 0.5, reduction="sum", log_target=True).item() == 0.5
    slope = gradients(
        lambda t: functions.kl_div(given, t, reduction="sum", log_target=True), [-INFINITY, 0.0], dtype=dtype
    )
    assert slope == [[0, 1.5]]
    row, one = flow.tensor([[0.0, -INFINITY]], dtype=dtype), flow.tensor([[1.0, 0.0]], dtype=dtype)
    assert functions.cross_entropy(row, one).item() == 0
    assert functions.poisson_nll_loss(flow.tensor([-INFINITY], dtype=dtype), none[:1]).item() == 0
    assert functions.poisson_nll_loss(none[:1], none[:1], log_input=False, eps=0.0).item() == 0
    one = flow.ones([2], dtype=dtype)
    full = gradients(lambda t: functions.poisson_nll_loss(one, t, full=True, reduction="sum"), [0.0, 0.5], dtype=dtype)
    assert full == [[-1, -1]]


@TYPES
def test_cosines_of_long_vectors(dtype: str) -> None:
    """The squares of the lengths overflowed."""
    long = flow.tensor([[3 * BIG[dtype], 4 * BIG[dtype]]], dtype=dtype)
    unit, target = flow.tensor([[1.0, 0.0]], dtype=dtype), flow.tensor([1.0], dtype=dtype)
    assert functions.cosine_embedding_loss(long, unit, target).item() == near(0.4, dtype)
    assert functions.cosine_embedding_loss(unit * 0, unit, target).item() == 1


def test_weights_of_classes_have_one_number_for_each() -> None:
    """A weight that was too short was an error only for classes beyond its end."""
    with pytest.raises(flow.ShapeError, match=r"weight must have shape \[2\], got \[1\]"):
        functions.nll_loss(flow.tensor([[-1.0, -2.0]]), flow.tensor([0]), flow.tensor([1.0]))


# ------------------------------------------------------------------------------------------------ random numbers


def test_draws_in_proportion_to_extreme_weights() -> None:
    """The sum of the weights was infinite, or too small for a fraction of it."""
    drawn = flow.multinomial(flow.tensor([1e308, 1e308, 1e308], dtype="float64"), 300, True)
    assert sorted(set(drawn.tolist())) == [0, 1, 2]
    assert flow.multinomial(flow.tensor([5e-324, 0.0], dtype="float64"), 20, True).tolist() == [0] * 20


def test_dropped_elements_are_0() -> None:
    """They were 0 times the element, which is NaN if it is infinite."""
    x = flow.full([1000], INFINITY).requires_grad_()
    kept = functions.dropout(x, 0.5)
    assert sorted(set(kept.tolist())) == [0, INFINITY]
    (kept * 3).sum().backward()
    assert sorted(set(x.grad.tolist())) == [0, 6]
    assert functions.dropout(flow.tensor([INFINITY, NAN]), 1.0).tolist() == [0, 0]


def test_permutations_fit_their_type() -> None:
    """Integers beyond the range of the type wrapped around, or were rounded to others."""
    assert sorted(flow.randperm(256, dtype="uint8").tolist()) == list(range(256))
    assert sorted(flow.randperm(2049, dtype="float16").tolist()) == list(range(2049))
    for count, dtype in ((257, "uint8"), (2050, "float16"), (258, "bfloat16")):
        with pytest.raises(flow.InvalidArgument, match=f"the integers up to {count - 1} must fit into {dtype}"):
            flow.randperm(count, dtype=dtype)


# ------------------------------------------------------------------------------------------------ complex numbers


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_out_of_range_on_the_way(dtype: str) -> None:
    """The quotient by an infinity was NaN, and the exponential of a real part infinite."""
    one = flow.tensor(1 + 1j, dtype=dtype)
    for divisor in (complex(INFINITY, 0), complex(INFINITY, -INFINITY), complex(2, INFINITY)):
        assert (one / flow.tensor(divisor, dtype=dtype)).item() == 0
    x = 88.9 if dtype == "complex64" else 710.0
    found = flow.exp(flow.tensor(complex(x, 0.8), dtype=dtype)).item()
    half = math.exp(x / 2)
    assert found.real == near(half * math.cos(0.8) * half, "float32" if dtype == "complex64" else "float64")
    assert found.imag == near(half * math.sin(0.8) * half, "float32" if dtype == "complex64" else "float64")


def test_logarithms_of_complex_numbers_near_1() -> None:
    """The size had lost the digits of its logarithm."""
    assert flow.log(flow.tensor(1 + 1e-10j, dtype="complex128")).item().real == near(5e-21, "float64")
    assert flow.log(flow.tensor(-1e-9 + 1j, dtype="complex128")).item().real == near(5e-19, "float64")


# ------------------------------------------------------------------------------------------------ windows and borders


def test_a_window_may_reach_beyond_the_end() -> None:
    """With ceil_mode, the first window had to be complete."""
    x = flow.tensor([[[3.0, 1.0]]])
    assert array(functions.max_pool1d(x, 3, 2, ceil_mode=True)).tolist() == [[[3]]]
    assert array(functions.avg_pool1d(x, 3, 2, ceil_mode=True)).tolist() == [[[2]]]
    assert functions.max_pool1d(x, 2, 4, dilation=3, ceil_mode=True).tolist() == [[[3]]]
    assert functions.max_pool1d(x, 3, 2**63 - 1, 1, ceil_mode=True).tolist() == [[[3]]]
    for function in (functions.max_pool1d, functions.avg_pool1d):
        assert gradients(lambda x, pool=function: pool(x, 3, 2, ceil_mode=True), [[[3.0, 1.0]]])[0] in (
            [[[1, 0]]],
            [[[0.5, 0.5]]],
        )
        with pytest.raises(flow.ShapeError, match="a window reaches over 4 elements"):
            function(x, 4, 2, ceil_mode=True)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular", "constant"])
def test_a_border_may_not_remove_more_than_there_is(mode: str) -> None:
    """Two of the modes returned no elements."""
    with pytest.raises(flow.Error):
        functions.pad(flow.tensor([[[1.0, 2.0]]]), (-2, -1), mode=mode)
    assert functions.pad(flow.tensor([[[1.0, 2.0]]]), (-1, 0), mode=mode).tolist() == [[[2]]]


# ------------------------------------------------------------------------------------------------ hooks


def test_what_a_hook_returns_has_the_shape_of_the_gradient() -> None:
    """A gradient of another shape was taken as it was."""
    x = flow.ones([3]).requires_grad_()
    x.register_hook(lambda grad: grad[:1])
    with pytest.raises(flow.ShapeError, match=r"a hook made a gradient of shape \[1\] of one of shape \[3\]"):
        (x * 2).sum().backward()
    y = flow.ones([3]).requires_grad_()
    y.register_hook(lambda grad: grad.double())
    (y * 2).sum().backward()
    assert y.grad.dtype == flow.float32
    assert y.grad.tolist() == [2, 2, 2]
