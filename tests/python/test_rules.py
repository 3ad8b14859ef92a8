"""Proves the rules of graphs by trials: both sides of each rule agree for random and extreme numbers."""

from __future__ import annotations

import math
import os

import pytest

import oneflow_py as flow
from tests.python.rules import extreme_numbers, rules, trials

# The error of a rule is stated for float32. It grows with the distance of neighbouring numbers.
EPSILON = {flow.float32: 1.2e-7, flow.float64: 2.2e-16, flow.float16: 9.8e-4, flow.bfloat16: 7.8e-3}
ENOUGH = 6  # trials of a rule
NAMES = [each.name for each in flow.graph.passes()]


def relative_error(found, wanted):
    """Returns the largest difference, divided by the largest element. NaN equals NaN."""
    found, wanted = found.to(flow.float64).reshape([-1]).tolist(), wanted.to(flow.float64).reshape([-1]).tolist()
    largest = max((abs(each) for each in wanted if math.isfinite(each)), default=0.0)
    differences = [0.0 if a == b or (a != a and b != b) else abs(a - b) for a, b in zip(found, wanted, strict=True)]
    worst = max((each if each == each else math.inf for each in differences), default=0.0)
    return worst / largest if worst and largest else worst


def assert_same_bits(found, wanted):
    """Fails unless all elements are equal, with NaN for NaN, and zeros of the same sign."""
    for a, b in zip(found.reshape([-1]).tolist(), wanted.reshape([-1]).tolist(), strict=True):
        assert (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def applied(graph, rule):
    return graph.optimize(measure=False, without=[name for name in NAMES if name not in (rule.name, "constant_calls")])


def captured(trial, varies):
    """Captures the left side; None if it cannot be computed with other sizes. Sizes are few and small to be fast."""
    inputs = tuple(trial.inputs.values())
    if not varies:
        return flow.graph.capture(trial.left(), inputs)
    dynamic = {i: trial.dynamic[name] for i, name in enumerate(trial.inputs)}
    sizes = {
        name: range(tensor.shape[dim], tensor.shape[dim] + 6)
        for key, tensor in trial.inputs.items()
        for dim, name in enumerate(trial.dynamic[key])
        if name
    }
    try:
        return flow.graph.capture(trial.left(), inputs, dynamic=dynamic, ranges=sizes)
    except (flow.ShapeError, flow.InvalidArgument):
        return None


@pytest.mark.parametrize("dtype", EPSILON, ids=str)
@pytest.mark.parametrize("name", rules())
def test_both_sides_agree(name, dtype):
    rule = rules()[name]
    count = 0
    for number, trial in enumerate(trials(rule, dtype, 40, 1)):
        inputs = list(trial.inputs.values())
        graph = captured(trial, number % 2 == 1)
        if graph is None:
            continue
        optimized = applied(graph, rule)
        found = [each.changes for each in optimized.report.passes if each.name == rule.name]
        if not found:
            continue
        count += 1
        if count > ENOUGH:
            break
        wanted, got = graph(*inputs), optimized(*inputs)
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
        if rule.error is None:
            assert_same_bits(got, wanted)
        else:
            limit = max(rule.error * EPSILON[dtype] / EPSILON[flow.float32], EPSILON[dtype] * 4)
            assert relative_error(got, wanted) <= limit, trial.values
    assert count > 0, "the rule was never applied"


def results(trial):
    """Returns what both sides of a rule give; None if the rule is not applied."""
    graph = captured(trial, False)
    optimized = applied(graph, trial.rule)
    if not any(each.name == trial.rule.name for each in optimized.report.passes):
        return None
    return [each(*trial.inputs.values()) for each in (graph, optimized)]


def are_like(found, wanted, limit):
    """Returns for all elements whether two are both NaN, the same infinity, or differ by a part of the largest."""
    columns = [each.to(flow.float64).reshape([-1]).tolist() for each in (found, wanted)]
    largest = max((abs(each) for each in columns[1] if math.isfinite(each)), default=0.0)
    return [
        a == b or (a != a and b != b) or (math.isfinite(b) and abs(a - b) <= limit * largest)
        for a, b in zip(*columns, strict=True)
    ]


# Which numbers each rule is tried with: those of one dtype, unless all are wanted.
EXTREMES = [
    (name, dtype)
    for number, name in enumerate(rules())
    for i, dtype in enumerate(EPSILON)
    if os.environ.get("ONEFLOW_VECTORS") == "all" or i == number % len(EPSILON)
]


@pytest.mark.parametrize(("name", "dtype"), EXTREMES, ids=str)
def test_both_sides_agree_for_extreme_numbers(name, dtype):
    rule = rules()[name]
    count = 0
    tried = [(extreme, False) for extreme in extreme_numbers(dtype)]
    if rule.constants:  # finite ones that are large may cancel each other on one side only
        tried += [(extreme, True) for extreme in (math.nan, math.inf, -math.inf, 0.0)]
    for extreme, of_constants in tried:
        for trial in trials(rule, dtype, 30, count, extreme, of_constants):
            if found := results(trial):
                break
        else:
            continue
        count += 1
        wanted, got = found
        if rule.error is None:
            assert_same_bits(got, wanted)
            continue
        limit = max(rule.error * EPSILON[dtype] / EPSILON[flow.float32], EPSILON[dtype] * 4)
        alike = are_like(got, wanted, limit)
        if not all(alike) and math.isfinite(extreme) and extreme != 0:
            # What was large or small on the way is not in float64.
            both = results(trial.wider())
            in_wider = are_like(both[1], both[0], limit)
            is_out = [not math.isfinite(each) for each in wanted.to(flow.float64).reshape([-1]).tolist()]
            alike = [any(each) for each in zip(alike, in_wider, is_out, strict=True)]
        assert all(alike), (extreme, trial.values, got, wanted)
    assert count > 0, "the rule was never applied"
