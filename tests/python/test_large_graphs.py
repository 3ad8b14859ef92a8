"""Tests graphs of many calls: each step from the capture to the runs takes time in proportion to what it looks at."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

import oneflow_py as flow

# Of so many calls, a step that takes time in proportion to their square takes minutes.
COUNT = 20_000 if os.environ.get("ONEFLOW_VECTORS") == "all" else 2_000
X = flow.tensor([[0.25, 0.75], [0.5, 0.5]])


def repeated(step: Callable[[flow.Tensor], flow.Tensor], count: int = COUNT) -> Callable[[flow.Tensor], flow.Tensor]:
    def run(x: flow.Tensor) -> flow.Tensor:
        for _ in range(count):
            x = step(x)
        return x

    return run


def added_constants(x: flow.Tensor) -> flow.Tensor:
    constants = [flow.tensor([[float(i), 1.0]]) for i in range(COUNT)]
    for each in constants:
        x = x + each
    return x


def folded(x: flow.Tensor) -> flow.Tensor:
    one = flow.tensor([1.0])
    total = one
    for _ in range(COUNT):
        total = total + one
    return x + total


def normalised_sums(x: flow.Tensor) -> list[flow.Tensor]:
    return [flow.softmax(x + i, 1) for i in range(COUNT // 2)]


def kept_to_the_end(x: flow.Tensor) -> flow.Tensor:
    parts = []
    for _ in range(COUNT // 2):
        x = flow.softmax(x, 1)
        parts.append(x)
    return flow.cat(parts)


PROGRAMS: dict[str, Callable[[flow.Tensor], Any]] = {
    "a chain of elementwise calls": repeated(lambda x: x + 1),
    "a chain of calls that are merged to one": repeated(lambda x: flow.clamp(x + 3, 0, 6) / 6, COUNT // 3),
    "a chain of calls that have memory of their own": repeated(lambda x: flow.softmax(x, 1)),
    "calls that are removed": lambda x: repeated(lambda y: y * 1)(x) + 1,
    "views of views": lambda x: repeated(lambda y: y.transpose(0, 1))(x * 1) + 1,
    "equal calls": lambda x: flow.cat([x + 1 for _ in range(COUNT)]),
    "independent calls": lambda x: [x + i for i in range(COUNT)],
    "outputs with memory of their own": normalised_sums,
    "a value that many calls use": lambda x: flow.cat([(x * 2) + i for i in range(COUNT)]),
    "values that are needed to the end": kept_to_the_end,
    "many constants": added_constants,
    "calls of constants": folded,
    "writes": repeated(lambda x: x.clone().add_(1), COUNT // 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_graphs_of_many_calls(name: str) -> None:
    program = PROGRAMS[name]
    wanted = program(X)
    graph = flow.graph.capture(program, X)
    optimized = graph.optimize()
    assert optimized.report is not None
    assert optimized.report.error <= 1e-6
    for each in (graph, optimized):
        for _ in range(3):  # the first run makes the plan
            found = each(X)
            if isinstance(wanted, list):
                assert all(a.tolist() == b.tolist() for a, b in zip(found, wanted, strict=True))
            else:
                assert found.shape == wanted.shape
                assert float(abs(found - wanted).max().item()) <= 1e-6 * float(abs(wanted).max().item())
    if name in ("calls that are removed", "equal calls", "calls of constants"):
        assert repr(optimized).endswith(("of 1 call>", "of 2 calls>"))


def test_files_and_reports_of_many_calls(tmp_path: Any) -> None:
    graph = flow.graph.capture(added_constants, X)
    graph.save(tmp_path / "graph.flow")
    loaded = flow.graph.load(tmp_path / "graph.flow", verify=True)
    assert str(loaded) == str(graph)
    assert len(loaded.constants) == COUNT
    assert loaded.cost().operations == 4 * COUNT
