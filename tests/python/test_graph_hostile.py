"""Tests that nothing that a captured function does with its tensors ends the process: it is recorded, or refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import oneflow_py as flow

ROOT = Path(__file__).parents[2]


def test_values_belong_to_the_thread_that_captures() -> None:
    """Several threads wrote to one recording."""

    def call_elsewhere(x: flow.Tensor) -> flow.Tensor:
        with ThreadPoolExecutor(4) as pool:
            for refused in [pool.submit(flow.add, x, 1) for _ in range(40)]:
                with pytest.raises(flow.Unsupported, match="only by the thread that captures it"):
                    refused.result()
        return x * 2

    assert flow.graph.capture(call_elsewhere, flow.ones(2))(flow.ones(2)).tolist() == [2.0, 2.0]


def test_backward_is_recorded() -> None:
    def gradient(x: flow.Tensor) -> flow.Tensor:
        x.requires_grad_()
        (x * x).sum().backward()
        (x * 3).sum().backward()  # is added
        return x.grad

    graph = flow.graph.capture(gradient, flow.ones(2))
    assert graph(flow.tensor([1.0, 5.0])).tolist() == [5.0, 13.0]


def test_backward_of_a_gradient_is_recorded() -> None:
    def second(x: flow.Tensor) -> flow.Tensor:
        x.requires_grad_()
        (x * x * x).sum().backward(create_graph=True)
        first, x.grad = x.grad, None
        first.sum().backward()
        return x.grad

    graph = flow.graph.capture(second, flow.ones(2), dynamic={"n"})
    assert graph(flow.tensor([1.0, 5.0, 2.0])).tolist() == [6.0, 30.0, 12.0]


def test_hooks_and_retained_gradients_are_recorded() -> None:
    def gradients(x: flow.Tensor) -> list[flow.Tensor]:
        x.requires_grad_()
        y = x * x
        y.retain_grad()
        y.register_hook(lambda grad: grad * 10)
        (y * 3).sum().backward()
        return [x.grad, y.grad]

    graph = flow.graph.capture(gradients, flow.ones(2))
    assert [each.tolist() for each in graph(flow.tensor([1.0, 2.0]))] == [[60.0, 120.0], [30.0, 30.0]]


def test_a_step_of_an_optimizer_is_recorded() -> None:
    def step(weight: flow.Tensor, x: flow.Tensor) -> flow.Tensor:
        weight = weight.clone().detach().requires_grad_()
        (weight * x).sum().backward()
        with flow.no_grad():
            weight.sub_(weight.grad * 0.5)
        return weight.detach()

    graph = flow.graph.capture(step, (flow.ones(2), flow.ones(2)))
    assert graph(flow.tensor([1.0, 2.0]), flow.tensor([4.0, 8.0])).tolist() == [-1.0, -2.0]


def test_tensors_outside_of_a_graph_keep_no_gradients_of_it() -> None:
    weight = flow.tensor([2.0, 3.0], requires_grad=True)

    def passes_back(x: flow.Tensor) -> flow.Tensor:
        (weight * x).sum().backward()
        return x * 1

    def assigns(x: flow.Tensor) -> flow.Tensor:
        weight.grad = x * 1
        return x * 1

    for function, name in ((passes_back, "backward"), (assigns, "grad")):
        with pytest.raises(flow.Unsupported, match=f"^{name}: a gradient that depends on the inputs of a graph cannot"):
            flow.graph.capture(function, flow.ones(2))
        assert weight.grad is None
    graph = flow.graph.capture(lambda x: flow.grad((weight * x).sum(), [weight])[0], flow.ones(2))
    assert graph(flow.tensor([7.0, 8.0])).tolist() == [7.0, 8.0]
    (weight * 2).sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [2.0, 2.0]


def test_a_graph_is_optimized_during_a_capture() -> None:
    weight = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    inner = flow.graph.capture(lambda x: flow.dropout(x @ (weight * 2 + 1), 0.5, False), flow.ones(1, 2))

    def runs_it(x: flow.Tensor) -> flow.Tensor:
        optimized = inner.optimize()
        assert optimized.report is not None
        assert optimized.report.error == 0
        return optimized(x) + 1

    graph = flow.graph.capture(runs_it, flow.ones(1, 2))
    assert repr(graph).endswith("of 2 calls>")
    assert graph(flow.tensor([[1.0, 1.0]])).tolist() == [[11.0, 15.0]]


# Calls everything with tensors that stand for values: while they do, and after the capture has ended.
SWEEP = """
    import contextlib, copy, io, pickle, sys
    import numpy
    import oneflow_py as flow

    UNRELATED = ("set_", "manual_seed", "seed", "run", "launch", "profile", "load")

    def uses(x):
        for function in (repr, str, bool, int, float, complex, len, list, tuple, iter, hash, abs, round, bytes,
                         memoryview, numpy.asarray, numpy.array, pickle.dumps, copy.copy, copy.deepcopy, print, format):
            yield function.__name__, function
        yield "index", lambda x: [1, 2, 3][x]
        yield "item of a list", lambda x: x[[0, 1]]
        yield "mask", lambda x: x[x > 0]
        yield "assignment", lambda x: x.__setitem__(0, 5.0)
        yield "out", lambda x: flow.add(x, x, out=x)
        yield "out of a constant", lambda x: flow.add(x, x, out=flow.ones(2, 2))
        yield "into a constant", lambda x: flow.ones(2, 2).copy_(x)
        yield "dlpack", lambda x: numpy.from_dlpack(x)
        yield "tensor", lambda x: flow.tensor(x)
        yield "from_numpy", lambda x: flow.from_numpy(x)
        yield "save", lambda x: flow.save({"x": x}, sys.argv[1] + "/file")
        yield "nested capture", lambda x: flow.graph.capture(lambda y: y + x, x)
        for name in dir(flow.Tensor):
            yield name, lambda x, name=name: getattr(x, name)
            for args in ((), (1,), (0, 1), (x,), (x, x), ([0, 1],), ("float64",), (True,), (lambda grad: grad,)):
                yield f"{name}{len(args)}", lambda x, name=name, args=args: getattr(x, name)(*args)
        for space in (flow, flow.optim, flow.nn, flow.nn.functional, flow.linalg, flow.special):
            for name in dir(space):
                if name.startswith(("_", *UNRELATED)) or not callable(getattr(space, name)):
                    continue
                for args in ((x,), (x, x), (x, x, x), ([x, x],), (x, 1), (x, [1]), ([x], [x]), (lambda y: y * x, x)):
                    yield f"{name}{len(args)}", lambda x, f=getattr(space, name), args=args: f(*args)

    def attempt(name, use, x):
        log.write(name + "\\n")
        log.flush()
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            use(x)

    def everything(x):
        y = x.clone()
        if requires_grad:
            y.requires_grad_()
        for name, use in uses(y):
            attempt(name, use, y)
        kept.append(y)
        return x * 2

    log, kept = open(sys.argv[1] + "/log", "w"), []
    for requires_grad in (False, True):
        graph = flow.graph.capture(everything, flow.ones(2, 2))
        for tensor in kept:
            for name, use in uses(tensor):
                attempt("later " + name, use, tensor)
    assert flow.add(flow.ones(2), 1).tolist() == [2.0, 2.0]
    print("alive")
"""


def test_no_use_of_a_value_ends_the_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SWEEP), str(tmp_path)],
        capture_output=True, text=True, timeout=300, check=False, cwd=ROOT,
    )  # fmt: skip
    last = (tmp_path / "log").read_text().splitlines()[-1:]
    assert done.returncode == 0, f"after {last}: {done.stderr[-2000:]}"
    assert done.stdout.strip() == "alive"
