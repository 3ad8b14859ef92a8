"""Tests that repeated runs of graphs, which follow a plan, agree bit for bit with the programs that were captured.

The tensors are large enough for chains of pointwise work to be split into tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oneflow_py as flow

ROWS, COLUMNS = 260, 300

# Each takes and returns tensors of ROWS x COLUMNS.
UNARY: list[Callable[[flow.Tensor], flow.Tensor]] = [
    flow.relu, flow.neg, flow.sigmoid, flow.square, lambda x: x * 2 - 1, lambda x: x + x[0], lambda x: x * x[:, :1],
    lambda x: x.t().contiguous().t(), lambda x: (x.t() + 1).t(), lambda x: x.reshape(COLUMNS, ROWS).t().flip([0]).t()
    .reshape(ROWS, COLUMNS), lambda x: x - x.mean(0), lambda x: flow.cat([x[:100] * 2, x[100:]]),
    lambda x: flow.cat([x[:, 7:], x[:, :7] + 1], dim=1), lambda x: x.to(flow.float64).exp().to(flow.float32),
    lambda x: x.to(flow.int32).to(flow.float32), lambda x: flow.nn.functional.pad(x[1:, 1:], [1, 0, 0, 1]),
    lambda x: flow.where(x > 0, x, x * 0.1), lambda x: x.flip([1]), lambda x: x.cumsum(1) / 300,
]  # fmt: skip
BINARY: list[Callable[[flow.Tensor, flow.Tensor], flow.Tensor]] = [
    lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - y, lambda x, y: flow.maximum(x, y),
    lambda x, y: flow.where(x > y, x, y), lambda x, y: (x + 0).add_(y), lambda x, y: (x * 1).mul_(0.5) + y,
    lambda x, y: flow.cat([x[:130], y[130:]]),
]  # fmt: skip

steps = st.lists(
    st.tuples(st.booleans(), st.integers(0, 60), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=16
)


def program(choices: list[tuple[bool, int, int, int]], constant: flow.Tensor) -> Callable[..., Any]:
    def run(x: flow.Tensor, y: flow.Tensor) -> list[flow.Tensor]:
        values = [x, y, constant]
        for is_binary, which, first, second in choices:
            # The last values are taken more often than others, so that chains are long.
            a = values[-1 - first % min(3, len(values))]
            b = values[second % len(values)]
            values.append(BINARY[which % len(BINARY)](a, b) if is_binary else UNARY[which % len(UNARY)](a))
        return [values[-1], values[len(values) // 2] * 1]

    return run


def random(seed: int) -> flow.Tensor:
    return flow.from_numpy(np.random.default_rng(seed).standard_normal((ROWS, COLUMNS)).astype(np.float32))


@settings(max_examples=60, deadline=None)
@given(steps, st.integers(0, 1000))
@example([(False, 7, 0, 0), (False, 10, 0, 0)], 0)  # sums whose order follows from a copy of another layout
def test_plans_of_random_programs_agree(choices: list[tuple[bool, int, int, int]], seed: int) -> None:
    function = program(choices, random(seed))
    graph = flow.graph.capture(function, (random(1), random(2)))
    for run in range(3):
        x, y = random(seed + run), random(seed + 10 + run)
        for found, wanted in zip(graph(x, y), function(x, y), strict=True):
            np.testing.assert_array_equal(found.numpy(), wanted.numpy())


@pytest.mark.parametrize("threads", [1, 3])
def test_a_chain_with_operands_in_different_layouts(threads: int) -> None:
    def function(x: flow.Tensor, row: flow.Tensor, column: flow.Tensor) -> list[flow.Tensor]:
        a = (x * row + column).relu()
        b = (a - row) * a
        return [b, a + x, (b.t() * 2 + a.t()).sigmoid()]

    before = flow.get_num_threads()
    try:
        flow.set_num_threads(threads)
        for rows, columns in [(ROWS, COLUMNS), (2, 100_003), (100_003, 2), (1, 262_144), (509, 521), (70_000, 1)]:
            x, row, column = (flow.randn(*shape) for shape in [(rows, columns), (columns,), (rows, 1)])
            graph = flow.graph.capture(function, (x, row, column))
            for _ in range(3):
                for found, wanted in zip(graph(x, row, column), function(x, row, column), strict=True):
                    np.testing.assert_array_equal(found.numpy(), wanted.numpy())
    finally:
        flow.set_num_threads(before)


def test_an_error_in_a_chain_names_the_call() -> None:
    graph = flow.graph.capture(lambda x, y: (x + 1) // y * 2, (flow.ones(400, 400).long(), flow.ones(400, 400).long()))
    x, y = flow.ones(400, 400).long(), flow.ones(400, 400).long()
    graph(x, y)
    y[399, 399] = 0
    for _ in range(2):
        with pytest.raises(flow.InvalidArgument, match=r"call 1, floor_divide: .*zero"):
            graph(x, y)
    y[399, 399] = 2
    assert int(graph(x, y).sum()) == 2 * (2 * (400 * 400 - 1) + 1)
