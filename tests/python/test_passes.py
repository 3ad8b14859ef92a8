"""Tests the passes over graphs: what they change, what they must not change, and what they report."""

from __future__ import annotations

import math
from typing import Any

import pytest

import oneflow_py as flow
from tests.python.support import raises, raw


def calls(graph: flow.graph.Graph) -> list[str]:
    """Returns the operators that a graph calls."""
    lines = [line for line in str(graph).split("\n") if " = " in line and not line.startswith("size ")]
    return [line.split(" = ")[1].split("(")[0] for line in lines]


def error_of(found: flow.Tensor, wanted: flow.Tensor) -> float:
    """Returns the largest difference, divided by the largest element."""
    return float((abs(found - wanted)).max().item() / abs(wanted).max().item())


def same_bits(graph: flow.graph.Graph, other: flow.graph.Graph, *inputs: flow.Tensor) -> bool:
    return raw(graph(*inputs)) == raw(other(*inputs))


def block(channels: int, kernel: int = 3) -> Any:
    """Returns a convolution with batch norm and relu, with random weights."""
    weight = flow.randn(channels, channels, kernel, kernel) * 0.2
    mean, variance = flow.randn(channels), flow.rand(channels) + 0.5
    scale, shift = flow.randn(channels), flow.randn(channels)

    def run(x: flow.Tensor) -> flow.Tensor:
        x = flow.conv2d(x, weight, padding=kernel // 2)
        return flow.relu(flow.batch_norm(x, mean, variance, scale, shift))

    return run


# ------------------------------------------------------------------------------------------------ whole models


@pytest.mark.parametrize("dynamic", [None, {"x": ["batch", None, "height", "width"]}])
def test_no_batch_norm_is_left_of_a_residual_network(dynamic: Any) -> None:
    blocks = [block(6) for _ in range(8)]

    def network(x: flow.Tensor) -> flow.Tensor:
        for each in blocks:
            x = flow.relu(each(x) + x)
        return flow.dropout(flow.flatten(flow.mean(x, [2, 3], True), 1), 0.5, False)

    graph = flow.graph.capture(network, flow.ones(2, 6, 8, 8), dynamic=dynamic)
    optimized = graph.optimize()
    assert calls(graph).count("batch_norm") == 8
    assert "batch_norm" not in calls(optimized)
    assert "dropout" not in calls(optimized)
    assert optimized.report is not None
    assert optimized.report.error < 1e-5
    for shape in [(2, 6, 8, 8), (5, 6, 9, 7)][: 2 if dynamic else 1]:
        x = flow.randn(*shape)
        assert error_of(optimized(x), graph(x)) < 1e-5


def test_chains_of_constants_become_part_of_a_convolution() -> None:
    weight = flow.randn(4, 3, 3, 3)
    factors, terms = flow.randn(4, 1, 1), flow.randn(1, 4, 1, 1)

    def network(x: flow.Tensor) -> flow.Tensor:
        return ((flow.conv2d(x, weight) * factors + terms) / 3 - 1) * 2.0

    graph = flow.graph.capture(network, flow.ones(1, 3, 6, 6))
    optimized = graph.optimize()
    assert calls(optimized) == ["conv2d"]
    x = flow.randn(1, 3, 6, 6)
    assert error_of(optimized(x), graph(x)) < 1e-5


def test_activations_are_found() -> None:
    def network(x: flow.Tensor) -> Any:
        hardswish = x * flow.clamp(x + 3, 0, 6) / 6
        gelu = x * 0.5 * (1 + flow.erf(x / math.sqrt(2)))
        center = x - x.mean(-1, True)
        norm = center / ((center * center).mean(-1, True) + 1e-5).sqrt()
        return hardswish, gelu, x * flow.sigmoid(x), norm

    graph = flow.graph.capture(network, flow.ones(4, 5))
    optimized = graph.optimize()
    assert sorted(calls(optimized)) == ["gelu", "hardswish", "silu", "standardize"]
    x = flow.randn(4, 5)
    for found, wanted in zip(optimized(x), graph(x), strict=True):
        assert error_of(found, wanted) < 1e-5


def test_constants_that_are_stored_as_tensors_are_numbers() -> None:
    three, six, zero = flow.tensor(3.0), flow.tensor([6.0]), flow.tensor(0.0)
    graph = flow.graph.capture(lambda x: x * flow.clamp(x + three, zero, 6.0) / six, flow.ones(4))
    assert calls(graph.optimize()) == ["hardswish"]


def test_borders_of_zeros_become_padding() -> None:
    weight, bias = flow.randn(4, 3, 3, 3), flow.randn(4)
    x = flow.randn(2, 3, 8, 8)

    def function(pads: list[int], value: float = 0.0) -> Any:
        return lambda x: flow.conv2d(flow.pad(x, pads, value=value), weight, bias, padding=1)

    graph = flow.graph.capture(function([2, 2, 1, 1]), x, dynamic={"batch"})
    optimized = graph.optimize()
    assert calls(optimized) == ["conv2d"]
    assert "padding=[2, 3]" in str(optimized)
    assert error_of(optimized(x), graph(x)) < 1e-6
    for others in (function([2, 1, 1, 1]), function([1, 1], 0.5), function([1, 1, 1, 1], 1.0)):
        kept = flow.graph.capture(others, x).optimize()
        assert calls(kept) == ["pad", "conv2d"]


def test_a_batch_norm_before_a_convolution_without_padding_is_folded() -> None:
    block_weight = flow.randn(4, 3, 3, 3)
    mean, variance, scale, shift = flow.randn(6), flow.rand(6) + 0.5, flow.randn(6), flow.randn(6)
    x = flow.randn(2, 6, 8, 8)

    def function(padding: Any) -> Any:
        return lambda x: flow.conv2d(
            flow.batch_norm(x, mean, variance, scale, shift), block_weight, padding=padding, groups=2
        )

    for padding in (0, "valid"):
        graph = flow.graph.capture(function(padding), x)
        optimized = graph.optimize()
        assert "batch_norm" not in calls(optimized)
        assert error_of(optimized(x), graph(x)) < 1e-5
    # The border is not normalised, so that no bias is the same everywhere.
    assert calls(flow.graph.capture(function(1), x).optimize()) == ["batch_norm", "conv2d"]


def test_factors_that_are_not_finite_stay() -> None:
    # 0 * infinity would be NaN in each product of a row.
    weight, factors = flow.ones(3, 2), flow.tensor([math.inf, 1.0])
    graph = flow.graph.capture(lambda x: (x @ weight) * factors, flow.ones(1, 3))
    x = flow.tensor([[0.0, 1.0, 2.0]])
    assert graph.optimize()(x).tolist() == graph(x).tolist() == [[math.inf, 3.0]]


def test_powers_that_are_no_square_root_stay() -> None:
    graph = flow.graph.capture(lambda x: flow.pow(x, 0.5), flow.ones(3))
    found = graph.optimize()(flow.tensor([-math.inf, 4.0, -0.0])).tolist()
    assert found == [math.inf, 2.0, 0.0]
    assert math.copysign(1, found[2]) == 1


# ------------------------------------------------------------------------------------------------ exact passes


def test_slices_of_slices_are_one() -> None:
    def function(x: flow.Tensor) -> flow.Tensor:
        return flow.slice(flow.slice(x, 1, 1, -1), 1, 2, None, 3) + 1

    graph = flow.graph.capture(function, flow.ones(2, 12), dynamic={"x": [None, "n"]}, ranges={"n": range(9, 40)})
    optimized = graph.optimize(level=1)
    assert calls(optimized) == ["slice", "add"]
    for n in (9, 12, 39):
        x = flow.randn(2, n)
        assert same_bits(graph, optimized, x)


def test_cat_of_one_tensor_is_removed() -> None:
    graph = flow.graph.capture(lambda x: flow.cat([flow.cat([x], 1), x]) + 1, flow.ones(2, 3))
    optimized = graph.optimize(level=1)
    assert calls(optimized) == ["cat", "add"]
    assert same_bits(graph, optimized, flow.randn(2, 3))


def test_constants_are_computed_once() -> None:
    weight = flow.randn(3, 4)
    graph = flow.graph.capture(lambda x: x @ (weight.t() * 2 + 1), flow.ones(2, 4))
    optimized = graph.optimize(level=1)
    assert calls(optimized) == ["matmul"]
    assert same_bits(graph, optimized, flow.randn(2, 4))


@pytest.mark.parametrize("device", ["far", "accel"])
def test_a_device_that_lacks_kernels(device: str) -> None:
    """The host computes for it, also what the passes compute: constants, and the inputs of the runs that measure."""
    weight = flow.full([4], 0.5, device=device)
    graph = flow.graph.capture(lambda x: flow.erf(x * 1) + flow.erf(weight), flow.ones(4, device=device))
    optimized = graph.optimize()
    assert calls(optimized) == ["erf", "add"]
    x = flow.randn([4], device=device)
    assert flow.allclose(optimized(x), graph(x))


def test_large_results_of_small_constants_are_not_kept() -> None:
    graph = flow.graph.capture(lambda x: x + flow.zeros(1000, 1000), flow.ones(1000, 1000))
    assert "zeros" in calls(graph.optimize())


def test_common_calls_are_computed_once() -> None:
    graph = flow.graph.capture(lambda x: flow.exp(x) + flow.exp(x) * flow.exp(x), flow.ones(3))
    optimized = graph.optimize(level=0)
    assert calls(optimized) == ["exp", "mul", "add"]
    assert same_bits(graph, optimized, flow.randn(3))


def test_two_outputs_do_not_become_one_tensor() -> None:
    graph = flow.graph.capture(lambda x: (flow.exp(x), flow.exp(x)), flow.ones(3))
    a, b = graph.optimize()(flow.zeros(3))
    a.add_(1)
    assert b.tolist() == [1, 1, 1]


def test_an_output_does_not_become_an_input() -> None:
    graph = flow.graph.capture(lambda x: x * 1, flow.ones(3))
    x = flow.ones(3)
    graph.optimize()(x).add_(1)
    assert x.tolist() == [1, 1, 1]


def test_random_calls_stay() -> None:
    graph = flow.graph.capture(lambda x: x + flow.rand(3) - flow.rand(3), flow.ones(3))
    optimized = graph.optimize()
    assert calls(optimized).count("rand") == 2
    found = [each(flow.ones(3), generator=flow.Generator(1)) for each in (graph, optimized)]
    assert raw(found[0]) == raw(found[1])


def test_writes_are_not_crossed() -> None:
    def update(x: flow.Tensor) -> Any:
        y = x * 1
        y.add_(1)
        a = flow.exp(y)
        y.mul_(2)
        return a, flow.exp(y), x * 1

    graph = flow.graph.capture(update, flow.ones(3))
    for found, wanted in zip(graph.optimize()(flow.ones(3)), graph(flow.ones(3)), strict=True):
        assert raw(found) == raw(wanted)


def test_views_of_written_memory_are_not_merged() -> None:
    def update(x: flow.Tensor) -> flow.Tensor:
        y = flow.zeros(6) + x
        z = y.reshape(2, 3).reshape(6)
        y.add_(1)
        return z

    graph = flow.graph.capture(update, flow.ones(6))
    assert same_bits(graph, graph.optimize(), flow.ones(6))


def test_states_stay() -> None:
    mean, variance = flow.zeros(3), flow.ones(3)
    graph = flow.graph.capture(lambda x: flow.batch_norm(x, mean, variance, None, None, True), flow.ones(4, 3))
    optimized = graph.optimize()
    x = flow.randn(4, 3)
    for found, wanted in zip(optimized(x, states=True)[1].values(), graph(x, states=True)[1].values(), strict=True):
        assert raw(found) == raw(wanted)


def test_a_value_that_others_need_is_computed() -> None:
    weight, mean, variance = flow.randn(3, 3, 1, 1), flow.zeros(3), flow.ones(3)

    def network(x: flow.Tensor) -> Any:
        y = flow.conv2d(x, weight)
        return y, flow.batch_norm(y, mean, variance)

    graph = flow.graph.capture(network, flow.ones(1, 3, 2, 2))
    assert calls(graph.optimize()) == ["conv2d", "batch_norm"]


def test_sizes_that_vary_stay() -> None:
    def network(x: flow.Tensor) -> flow.Tensor:
        n, m = x.shape
        return x.reshape(n * m).reshape(m, n).reshape(n, m) * 2

    graph = flow.graph.capture(network, flow.ones(2, 3), dynamic={"x": ["n", "m"]})
    optimized = graph.optimize()
    assert calls(optimized) == ["mul"]
    assert same_bits(graph, optimized, flow.randn(5, 7))


def test_a_shape_that_is_the_same_only_sometimes_stays() -> None:
    graph = flow.graph.capture(
        lambda x: x.reshape(2, -1) + 1, flow.ones(2, 3), dynamic="n", ranges={"n": range(2, 99, 2)}
    )
    optimized = graph.optimize()
    assert "reshape" in calls(optimized)
    assert optimized(flow.ones(4, 3)).shape == (2, 6)


# ------------------------------------------------------------------------------------------------ reports, options


def test_the_report_is_a_table() -> None:
    graph = flow.graph.capture(lambda x: x * flow.sigmoid(x) * 1, flow.ones(3))
    optimized = graph.optimize()
    assert graph.report is None
    report = optimized.report
    assert report is not None
    assert [(each.name, each.changes, each.calls_before, each.calls_after) for each in report.passes] == [
        ("multiply_nothing", 1, 3, 2),
        ("silu", 1, 2, 1),
    ]
    lines = str(report).split("\n")
    assert lines[0] == "pass              changes  calls   error"
    assert lines[1] == "multiply_nothing  1        3 -> 2  0"
    assert lines[3].startswith("all               2        3 -> 1")


def test_passes_can_be_left_out() -> None:
    graph = flow.graph.capture(lambda x: x * flow.sigmoid(x), flow.ones(3))
    assert calls(graph.optimize(without=["silu"])) == ["sigmoid", "mul"]
    assert calls(graph.optimize(level=1)) == ["sigmoid", "mul"]
    raises(flow.InvalidArgument, "optimize: there is no pass 'silo'", lambda: graph.optimize(without=["silo"]))
    raises(flow.TypeMismatch, "optimize: level must be int, got str", lambda: graph.optimize(level="high"))
    raises(flow.InvalidArgument, "optimize: level must be between 0 and 2, got 3", lambda: graph.optimize(level=3))


def test_errors_are_measured_with_given_inputs() -> None:
    graph = flow.graph.capture(lambda x: x * flow.sigmoid(x), flow.ones(3))
    report = graph.optimize(inputs=flow.tensor([math.nan, 1.0, 2.0])).report
    assert report is not None
    assert report.error < 1e-6
    report = graph.optimize(measure=False).report
    assert report is not None
    assert math.isnan(report.error)
    assert raises(flow.ShapeError, "optimize: dimension 0 of input 'x' must be 3, got shape [2]",
                  lambda: graph.optimize(inputs=flow.ones(2))) is None  # fmt: skip


def test_all_passes_are_listed() -> None:
    passes = {each.name: each for each in flow.graph.passes()}
    assert passes["common_calls"].level == 0
    assert passes["constant_calls"].level == 1
    assert passes["silu"] == ("silu", "Finds `silu`.", 2, 1e-6)


def test_an_optimized_graph_is_saved(tmp_path: Any) -> None:
    run = block(4)
    graph = flow.graph.capture(run, flow.ones(1, 4, 5, 5)).optimize()
    graph.save(tmp_path / "a.flow")
    assert same_bits(graph, flow.graph.load(tmp_path / "a.flow"), flow.randn(1, 4, 5, 5))


def test_names_of_weights_stay() -> None:
    weight, scale = flow.randn(3, 3, 1, 1), flow.randn(3, 1, 1)
    graph = flow.graph.capture(
        lambda x: flow.conv2d(x, weight) * scale, flow.ones(1, 3, 2, 2), weights={"conv": {"weight": weight}}
    )
    assert list(graph.optimize().constants) == ["conv.weight"]


# ------------------------------------------------------------------------------------------------ rules of callers


def fold_scale() -> flow.graph.Rule:
    """Returns a rule that folds a scale of columns into a weight."""
    return flow.graph.rule(
        lambda x, weight, scale: (x @ weight) * scale,
        lambda x, weight, scale: x @ (weight * scale),
        (flow.ones(2, 3), flow.ones(3, 4), flow.ones(4)),
        when=lambda x, weight, scale: weight.ndim == 2 and scale.ndim <= 1,
        constants=["weight", "scale"],
        name="fold_scale",
    )


@pytest.mark.parametrize("dynamic", [None, "batch"])
def test_a_rule_of_the_caller_is_applied(dynamic: Any) -> None:
    weight, scale = flow.randn(5, 6), flow.randn(6)
    graph = flow.graph.capture(lambda a: flow.relu(scale * (a @ weight)), flow.ones(2, 5), dynamic=dynamic)
    optimized = graph.optimize(rules=[fold_scale()])
    assert calls(optimized) == ["matmul", "relu"]
    assert optimized.report is not None
    assert [each.name for each in optimized.report.passes] == ["fold_scale"]
    x = flow.randn(7 if dynamic else 2, 5)
    assert error_of(optimized(x), graph(x)) < 1e-6
    assert list(optimized.constants) == ["constant"]


def test_a_condition_of_a_rule_sees_constants() -> None:
    rule = flow.graph.rule(
        lambda x, y: x + y, lambda x, y: x * 1.0, (flow.ones(1), flow.ones(1)), constants=["y"],
        when=lambda x, y: y.tolist() == [0, 0],
    )  # fmt: skip
    for value, expected in ((0.0, ["mul"]), (1.0, ["add"])):
        constant = flow.full([2], value)
        assert calls(flow.graph.capture(lambda x, c=constant: x + c, (flow.ones(2),)).rewrite(rule)) == expected


def test_a_rule_does_not_apply_to_other_attributes() -> None:
    rule = flow.graph.rule(lambda x: flow.softmax(x, 1), lambda x: flow.exp(flow.log_softmax(x, 1)), flow.ones(2, 3))
    for dim, expected in ((0, ["softmax"]), (1, ["log_softmax", "exp"])):
        assert (
            calls(flow.graph.capture(lambda x, d=dim: flow.softmax(x, d), (flow.ones(3, 3),)).rewrite(rule)) == expected
        )


def test_a_rule_must_keep_the_shape() -> None:
    rule = flow.graph.rule(lambda x: flow.exp(x), lambda x: flow.exp(x).sum(), flow.ones(2))
    graph = flow.graph.capture(lambda x: flow.exp(x), flow.ones(3))
    assert calls(graph.rewrite(rule)) == ["exp"]


def test_an_exception_in_a_rule_is_raised() -> None:
    def right(x: flow.Tensor) -> flow.Tensor:
        raise KeyError("no")

    rule = flow.graph.rule(lambda x: flow.exp(x), right, flow.ones(2))
    graph = flow.graph.capture(lambda x: flow.exp(x), flow.ones(3))
    with pytest.raises(KeyError, match="no"):
        graph.rewrite(rule)
    assert calls(graph.rewrite()) == ["exp"]


def test_numbers_stand_for_constants_of_rules() -> None:
    graph = flow.graph.capture(lambda x: x + 2.5, flow.ones(2))
    # A value is no number; a constant may be one.
    either = flow.graph.rule(lambda x, y: x + y, lambda x, y: y, [flow.ones(2), flow.ones(2)])
    assert calls(graph.rewrite(either)) == ["add"]
    whole = flow.graph.capture(lambda x: x + 2, flow.ones(2))
    assert calls(whole.rewrite(either)) == ["add"]
    constant = flow.graph.rule(
        lambda x, y: x + y, lambda x, y: x - (0 - y), [flow.ones(2), flow.ones(2)], constants=["y"]
    )
    for each, expected in ((graph, 3.5), (whole, 3.0)):
        rewritten = each.rewrite(constant, measure=False)
        assert calls(rewritten) == ["sub"]
        assert rewritten(flow.ones(2)).tolist() == [expected, expected]


@pytest.mark.parametrize("error", [-1.0, float("nan")])
def test_an_error_of_a_rule_is_at_least_0(error: float) -> None:
    raises(flow.InvalidArgument, f"rule: error must be at least 0, got {error:g}",
           lambda: flow.graph.rule(lambda x: x + 1, lambda x: x, flow.ones(2), error=error))  # fmt: skip


def test_names_of_a_rule() -> None:
    raises(flow.TypeMismatch, "rule: names must have as many items as there are inputs, which are 1, got 2",
           lambda: flow.graph.rule(lambda x: x + 1, lambda x: x, flow.ones(2), names=["a", "b"]))  # fmt: skip


def test_wrong_rules_are_errors() -> None:
    def rule(left: Any, *tensors: flow.Tensor, **options: Any) -> Any:
        graph = flow.graph.capture(lambda x: flow.exp(x), flow.ones(3))
        return graph.rewrite(flow.graph.rule(left, lambda *t: t[0], tensors, **options))

    two = flow.ones(2)
    raises(flow.InvalidArgument, "rewrite: the left side uses a tensor of shape [2]: make it an argument",
           lambda: rule(lambda x: x + two, two))  # fmt: skip
    raises(flow.InvalidArgument, "rewrite: the left side must return one tensor, which its last call computes",
           lambda: rule(lambda x: x, two))  # fmt: skip
    raises(flow.InvalidArgument, "rewrite: the left side takes no tensor 'y'",
           lambda: rule(lambda x: flow.exp(x), two, constants=["y"]))  # fmt: skip
    raises(flow.TypeMismatch, "optimize: an item of rules must be Rule, got int",
           lambda: flow.graph.capture(lambda x: flow.exp(x), two).optimize(rules=[1]))  # type: ignore[list-item]  # fmt: skip


# ------------------------------------------------------------------------------------------------ weights


@pytest.mark.parametrize(("dtype", "limit"), [("float16", 1e-3), (flow.bfloat16, 1e-2)])
def test_weights_are_stored_with_fewer_bits(tmp_path: Any, dtype: Any, limit: float) -> None:
    weight, bias = flow.randn(64, 64), flow.randn(64)
    graph = flow.graph.capture(
        lambda x: flow.linear(x, weight, bias), flow.ones(2, 64), weights={"w": weight, "b": bias}
    )
    optimized = graph.optimize(weights=dtype)
    assert calls(optimized) == ["cast", "linear"]
    assert {name: str(each.dtype) for name, each in optimized.constants.items()} == {"b": "float32", "w": str(dtype)}
    assert optimized.report is not None
    assert 0 < optimized.report.error < limit
    optimized.save(tmp_path / "a.flow")
    assert same_bits(optimized, flow.graph.load(tmp_path / "a.flow"), flow.randn(2, 64))
    raises(flow.InvalidArgument, "optimize: weights must be float16 or bfloat16, got 'int8'",
           lambda: graph.optimize(weights="int8"))  # fmt: skip
