"""Tests that optimized graphs of random programs agree with the programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import oneflow_py as flow

Step = Callable[[list[flow.Tensor], list[flow.Tensor], int], flow.Tensor]

UNARY: list[Callable[[flow.Tensor], flow.Tensor]] = [
    flow.relu, flow.neg, flow.abs, flow.sigmoid, flow.tanh, flow.square,
    lambda x: x * 1, lambda x: x + 0, lambda x: x / 2, lambda x: flow.clamp(x + 3, 0, 6) / 6,
    lambda x: x * flow.sigmoid(x), lambda x: x.t().t(), lambda x: x.reshape(-1).reshape(x.shape),
    lambda x: flow.dropout(x, 0.5, False), lambda x: x.clone(), lambda x: x - x.mean(-1, True),
    lambda x: flow.softmax(x, -1), lambda x: x * 0.5 * (1 + flow.erf(x / math.sqrt(2))),
]  # fmt: skip
BINARY: list[Callable[[flow.Tensor, flow.Tensor], flow.Tensor]] = [
    lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - y, lambda x, y: flow.maximum(x, y),
    lambda x, y: flow.matmul(x, y), lambda x, y: flow.linear(x, y), lambda x, y: flow.matmul(x, y.t()),
    lambda x, y: x.add_(y), lambda x, y: y.mul_(0.5) + x,
]  # fmt: skip

SIZE = 3
steps = st.lists(
    st.tuples(st.booleans(), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=14
)


def program(choices: list[tuple[bool, int, int, int]], constants: list[flow.Tensor]) -> Callable[..., Any]:
    def run(x: flow.Tensor) -> list[flow.Tensor]:
        values = [x, *[each.clone() if i == 0 else each for i, each in enumerate(constants)]]
        for is_binary, which, first, second in choices:
            a, b = values[first % len(values)], values[second % len(values)]
            is_own = first % len(values) > len(constants)  # neither an input nor a constant
            if is_binary:
                operation = BINARY[which % (len(BINARY) - 2 * (not is_own or a is b or second % len(values) <= 2))]
                values.append(operation(a, b))
            else:
                values.append(UNARY[which % len(UNARY)](a))
        return [values[-1], values[len(values) // 2] * 1]

    return run


@settings(max_examples=150, deadline=None)
@given(steps, st.integers(0, 2), st.integers(0, 1000))
def test_optimized_programs_agree(choices: list[tuple[bool, int, int, int]], level: int, seed: int) -> None:
    generator = flow.Generator(seed)
    constants = [flow.randn(SIZE, SIZE, generator=generator) for _ in range(2)]
    function = program(choices, constants)
    graph = flow.graph.capture(function, flow.ones(SIZE, SIZE))
    optimized = graph.optimize(level=level, measure=False)
    x = flow.randn(SIZE, SIZE, generator=generator)
    for found, wanted in zip(optimized(x.clone()), graph(x.clone()), strict=True):
        for a, b in zip(found.reshape(-1).tolist(), wanted.reshape(-1).tolist(), strict=True):
            limit = 0.0 if level < 2 else 1e-3 * max(1.0, max(map(abs, wanted.reshape(-1).tolist())))
            assert (a != a and b != b) or a == b or (abs(a - b) <= limit and math.isfinite(a))
