"""Sessions: what runs of a graph keep, on how many threads, and within which memory."""

from __future__ import annotations

import gc
import os
import threading

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import raw


def network() -> tuple[flow.graph.Graph, dict[str, flow.Tensor]]:
    """Returns a small network of convolutions, and its weights."""
    weights = {
        "first": flow.randn(16, 3, 3, 3, generator=flow.Generator(1)),
        "bias": flow.randn(16, generator=flow.Generator(2)),
        "second": flow.randn(8, 16, 1, 1, generator=flow.Generator(3)),
        "last": flow.randn(5, 8, generator=flow.Generator(4)),
    }
    return flow.graph.capture(lambda x: apply(x, weights), flow.ones(1, 3, 12, 12), dynamic="batch"), weights


def apply(x: flow.Tensor, weights: dict[str, flow.Tensor]) -> flow.Tensor:
    x = flow.conv2d(x, weights["first"], weights["bias"], padding=[1]).relu()
    x = flow.max_pool2d(x, [2, 2])
    x = flow.conv2d(x, weights["second"])
    return flow.linear((x * 2 + 1).sigmoid().mean([2, 3]), weights["last"]).softmax(-1)


def images(count: int, seed: int) -> flow.Tensor:
    return flow.randn(count, 3, 12, 12, generator=flow.Generator(seed))


def test_later_runs_give_the_same_bits() -> None:
    graph, weights = network()
    for seed in range(20):
        x = images(seed % 3 + 1, seed)
        assert raw(graph(x)) == raw(apply(x, weights))


def test_layouts_have_plans_of_their_own() -> None:
    graph, weights = network()
    for seed in range(3):
        x = flow.randn(12, 2, 12, 3, generator=flow.Generator(seed)).permute(1, 3, 0, 2)
        assert raw(graph(x)) == raw(apply(x, weights))
        assert raw(graph(x.contiguous())) == raw(apply(x, weights))


def test_more_sizes_than_plans() -> None:
    graph, weights = network()
    for count in (*range(1, 20), 3, 19, 2):
        x = images(count, count)
        assert raw(graph(x)) == raw(apply(x, weights))


def test_inputs_that_share_memory() -> None:
    graph = flow.graph.capture(lambda x, y: (x * y).sum(0) + x, (flow.ones(4, 4), flow.ones(4, 4)))
    x, y = flow.randn(4, 4), flow.randn(4, 4)
    for first, second in ((x, x), (x, y), (x, x), (x, x[:]), (y, x)):
        assert raw(graph(first, second)) == raw((first * second).sum(0) + first)


def test_outputs_are_memory_of_their_own() -> None:
    graph = flow.graph.capture(lambda x: ((x + 1) * 2, (x + 1) * 2 - x), flow.ones(100))
    first, second = graph(flow.zeros(100))
    kept = raw(first), raw(second)
    for value in range(5):
        graph(flow.full([100], float(value)))
    assert (raw(first), raw(second)) == kept
    first.fill_(7)
    assert raw(second) == kept[1]


def test_outputs_that_are_views_of_one_result() -> None:
    graph = flow.graph.capture(lambda x: [*((x + 1).split(2)), (x + 1).t()], flow.ones(4, 4))
    for seed in range(3):
        x = flow.randn(4, 4, generator=flow.Generator(seed))
        expected = [*(x + 1).split(2), (x + 1).t()]
        assert [raw(each) for each in graph(x)] == [raw(each) for each in expected]


def test_outputs_that_are_inputs_or_constants() -> None:
    constant = flow.randn(3)
    graph = flow.graph.capture(lambda x: (x, constant, x.view(3, 1), x + constant), flow.ones(3))
    for seed in range(3):
        x = flow.randn(3, generator=flow.Generator(seed))
        found = graph(x)
        assert [raw(each) for each in found] == [raw(each) for each in (x, constant, x.view(3, 1), x + constant)]
        found[1].fill_(9)


def test_random_numbers_are_drawn_in_each_run() -> None:
    graph = flow.graph.capture(lambda x: x + flow.rand(5), flow.ones(5))
    runs = {raw(graph(flow.ones(5), generator=flow.Generator(seed))) for seed in (1, 2, 3, 1)}
    assert len(runs) == 3


def test_states_are_computed_in_each_run() -> None:
    total = flow.zeros(3)

    def count(x: flow.Tensor) -> flow.Tensor:
        total.add_(x)
        return total * 2

    graph = flow.graph.capture(count, flow.ones(3))
    for value in (1.0, 2.0, 3.0):
        result, states = graph(flow.full([3], value), states=True)
        assert result.tolist() == [2 * value] * 3
        assert [each.tolist() for each in states.values()] == [[value] * 3]


def test_errors_in_later_runs_name_the_call() -> None:
    graph = flow.graph.capture(lambda x, i: x.index_select(0, i), (flow.ones(3), flow.tensor([0])))
    for _ in range(2):
        assert graph(flow.ones(3), flow.tensor([2])).tolist() == [1.0]
    with pytest.raises(IndexError, match=r"^run: call \d+, index_select: index 3 is out of range"):
        graph(flow.ones(3), flow.tensor([3]))
    assert graph(flow.ones(3), flow.tensor([1])).tolist() == [1.0]


def test_gradients_pass_through_runs() -> None:
    graph = flow.graph.capture(lambda x: (x * x).sum(), flow.ones(3))
    x = flow.tensor([1.0, 2.0, 3.0])
    for _ in range(2):
        graph(x)
    x.requires_grad_()
    graph(x).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_profiles_show_the_calls() -> None:
    graph = flow.graph.capture(lambda x: (x @ x).relu(), flow.ones(4, 4))
    for _ in range(2):
        graph(flow.ones(4, 4))
    with flow.profile() as profile:
        graph(flow.ones(4, 4))
    assert "matmul" in str(profile)
    assert "relu" in str(profile)


def test_warm_up_plans_and_takes_memory() -> None:
    graph, weights = network()
    assert graph.memory == 0
    graph.warm_up(batch=4)
    assert graph.memory >= 4 * 16 * 12 * 12 * 4
    before = flow.memory_stats()["in_use"]
    x = images(4, 1)
    for _ in range(3):
        assert raw(graph(x)) == raw(apply(x, weights))
    assert flow.memory_stats()["in_use"] <= before + x.nbytes + 4096
    graph.warm_up()
    with pytest.raises(flow.InvalidArgument, match=r"^warm_up: the sizes must be batch, got time$"):
        graph.warm_up(time=4)
    with pytest.raises(TypeError, match=r"^warm_up: batch must be int, got str$"):
        graph.warm_up(batch="4")  # type: ignore[arg-type]
    with pytest.raises(flow.ShapeError, match=r"'batch' must be at least 1, got 0"):
        graph.warm_up(batch=0)


def test_a_memory_limit() -> None:
    square = flow.ones(2, 2)
    graph = flow.graph.capture(lambda x: (x + 1).exp().sum() + (x @ x).sum(), square, dynamic={"x": ["n", "n"]})
    assert graph.memory_limit is None
    graph.memory_limit = 100_000
    assert graph.memory_limit == 100_000
    for _ in range(3):
        graph(flow.ones(50, 50))
    with pytest.raises(flow.OutOfMemory, match=r"the run needs at least \d+ bytes, more than the memory limit"):
        graph(flow.ones(400, 400))
    graph.memory_limit = 1000
    with pytest.raises(flow.OutOfMemory, match=r"^run: call \d+, \w+: the run needs at least 10000 bytes"):
        graph(flow.ones(50, 50))
    graph.memory_limit = None
    expected = graph(flow.ones(400, 400))
    assert raw(graph(flow.ones(400, 400))) == raw(expected)
    with pytest.raises(flow.InvalidArgument, match=r"^memory_limit: the limit must be positive, got -1$"):
        graph.memory_limit = -1
    with pytest.raises(TypeError, match=r"^memory_limit: the limit must be int or None, got float$"):
        graph.memory_limit = 1.5  # type: ignore[assignment]


def test_a_memory_limit_holds_for_runs_that_are_not_planned() -> None:
    graph = flow.graph.capture(lambda x: (x + flow.rand(1000)).sum(), flow.ones(1000))
    graph.memory_limit = 1000
    for _ in range(2):
        with pytest.raises(flow.OutOfMemory, match="more than the memory limit of the session, 1000 bytes"):
            graph(flow.ones(1000))
    graph.memory_limit = None
    graph(flow.ones(1000))


def test_threads_share_a_session() -> None:
    graph, weights = network()
    failures: list[str] = []

    def work(seed: int) -> None:
        x = images(seed % 3 + 1, seed)
        expected = raw(apply(x, weights))
        failures.extend("differs" for _ in range(40) if raw(graph(x)) != expected)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_forked_child_runs_a_session() -> None:
    graph, _ = network()
    x = images(2, 1)
    expected = raw(graph(x))
    graph(x)
    child = os.fork()
    if child == 0:
        os._exit(0 if raw(graph(x)) == expected and raw(graph(images(3, 1))) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_other_thread_counts_give_the_same_bits() -> None:
    graph, _ = network()
    x = images(3, 5)
    threads = flow.get_num_threads()
    try:
        found = set()
        for count in (1, 2, 3):
            flow.set_num_threads(count)
            found |= {raw(graph(x)) for _ in range(2)}
    finally:
        flow.set_num_threads(threads)
    assert len(found) == 1


def test_memory_returns_with_the_session() -> None:
    gc.collect()
    before = flow.memory_stats()["in_use"]
    graph, weights = network()
    for count in range(1, 12):
        graph(images(count, 1))
        graph(images(count, 1))
    del graph, weights
    gc.collect()
    assert flow.memory_stats()["in_use"] <= before + 4096


def test_runs_leave_no_memory() -> None:
    graph, _ = network()
    x = images(2, 1)
    for _ in range(2):
        graph(x)
    before, live = flow.memory_stats()["in_use"], flow.memory_stats().get("live_tensors", 0)
    for _ in range(100_000 if os.environ.get("ONEFLOW_VECTORS") == "all" else 500):
        graph(x)
    assert flow.memory_stats()["in_use"] <= before
    assert flow.memory_stats().get("live_tensors", 0) == live


def test_inputs_from_numpy_are_read_in_each_run() -> None:
    graph = flow.graph.capture(lambda x: (x + 1).relu() * 2, flow.ones(4))
    array = np.zeros(4, np.float32)
    x = flow.from_numpy(array)
    for value in (1.0, 5.0, -3.0):
        array[:] = value
        assert graph(x).tolist() == [max(value + 1, 0) * 2] * 4
