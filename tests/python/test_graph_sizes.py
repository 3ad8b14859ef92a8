"""Captures random programs that compute with sizes, and compares graph and program at sizes far from the examples."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, reject, settings
from hypothesis import strategies as st

import oneflow_py as flow
from tests.python.support import raw

Step = Callable[[flow.Tensor, int], flow.Tensor]


def stride(x: flow.Tensor, k: int) -> flow.Tensor:
    return x[:, :: k + 1]


def head(x: flow.Tensor, k: int) -> flow.Tensor:
    return x[:, : x.shape[1] // (k + 1) + 1]


def tail(x: flow.Tensor, k: int) -> flow.Tensor:
    return x[:, x.shape[1] // (k + 2) :]


def drop(x: flow.Tensor, k: int) -> flow.Tensor:
    return x[:, : x.shape[1] - 1] if k == 0 else x[:, :-1]


def convolve(x: flow.Tensor, k: int) -> flow.Tensor:
    kernel = flow.ones(3, 3, 3)
    return flow.conv1d(x.transpose(1, 2), kernel, stride=k + 1, padding=1).transpose(1, 2)


def double(x: flow.Tensor, k: int) -> flow.Tensor:
    return flow.cat([x] * (k + 1), 1)


def regroup(x: flow.Tensor, k: int) -> flow.Tensor:
    n, t, c = x.shape
    return (x.reshape(n * t, c) + k).reshape(n, t, c)


def positions(x: flow.Tensor, k: int) -> flow.Tensor:
    return x + flow.arange(x.shape[1], dtype=x.dtype).reshape(-1, 1) * k


def average(x: flow.Tensor, k: int) -> flow.Tensor:
    return x * (k + 1) - x.sum(1, keepdim=True) / x.shape[1]


def pad(x: flow.Tensor, k: int) -> flow.Tensor:
    return flow.cat([x, flow.zeros(x.shape[0], k + 1, x.shape[2])], 1)


STEPS: list[Step] = [stride, head, tail, drop, convolve, double, regroup, positions, average, pad]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 3)), min_size=1, max_size=5),
    st.tuples(st.integers(2, 5), st.integers(40, 60)),
    st.lists(st.tuples(st.integers(1, 9), st.integers(40, 300)), min_size=3, max_size=3),
)
def test_sizes_far_from_the_example(
    steps: list[tuple[Step, int]], example: tuple[int, int], others: list[tuple[int, int]]
) -> None:
    def program(x: flow.Tensor) -> flow.Tensor:
        for step, k in steps:
            x = step(x, k)
        return x

    try:
        graph = flow.graph.capture(program, flow.ones(*example, 3), dynamic={"x": ["n", "t", None]})
    except flow.ShapeError:  # nothing may be left of an example after some steps
        reject()
    for n, t in [example, *others]:
        x = flow.randn(n, t, 3)
        try:
            expected = program(x)
        except flow.ShapeError:
            continue
        found = graph(x)
        assert found.shape == expected.shape, (str(graph), (n, t))
        assert raw(found) == raw(expected), (str(graph), (n, t))
