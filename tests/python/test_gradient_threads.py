"""Tests backward passes during which other code runs: of other threads, of signal handlers, and within the collection
of garbage when memory runs out. None waits for a lock that the pass holds, and no gradient is lost.

What could wait for ever runs in a process of its own, which ends after a time."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

import oneflow_py as flow

# Runs `code` within the collection that a pass asks for when its addition to `x.grad` runs out of memory.
COLLECTING = """
import gc
import threading
import oneflow_py as flow

x = flow.zeros(1 << 18, requires_grad=True)
one = flow.ones(1 << 18)  # is kept, so that the pass adds a copy
found = []

def on_collection(phase, info):
    if phase == "stop" and not found:
        flow.set_memory_limit(0)
        found.append(None)
{code}

gc.collect()
gc.callbacks.append(on_collection)
flow.empty_cache()
flow.set_memory_limit(flow.memory_stats()["in_use"] + 1000)
x.backward(one)
print(found, set(x.grad.tolist()))
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("code", "gradient"),
    [
        ("found.append(x.grad)", 1.0),
        ("thread = threading.Thread(target=lambda: found.append(x.grad)); thread.start(); thread.join()", 1.0),
        ("x.backward(one); x.backward(one, create_graph=True); found.append(None)", 3.0),
    ],
    ids=["read", "read in a thread", "pass"],
)
def test_memory_runs_out_while_a_gradient_is_added(code: str, gradient: float) -> None:
    assert run(COLLECTING.format(code=" " * 8 + code)) == f"[None, None] {{{gradient}}}\n"


def test_a_signal_handler_runs_the_pass_that_it_interrupts() -> None:
    code = """
import signal
import oneflow_py as flow

flow.set_num_threads(1)  # a pass takes so long that signals are looked at within it
x = flow.ones(1500, 1500, requires_grad=True)
one = flow.ones(1500, 1500)
y = one @ x
passes = []

def run_pass(*_):
    passes.append("handler")
    y.backward(one, retain_graph=True)

signal.signal(signal.SIGALRM, run_pass)
while passes[-1:] != ["handler"]:
    passes.append("main")
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    y.backward(one, retain_graph=True)
print(set(x.grad.flatten().tolist()) == {1500.0 * len(passes)})
"""
    assert run(code) == "True\n"


def test_a_signal_handler_within_a_hook() -> None:
    code = """
import signal
import oneflow_py as flow

x = flow.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()
signal.signal(signal.SIGUSR1, lambda *_: y.backward(retain_graph=True))
handle = x.register_hook(lambda grad: handle.remove() or signal.raise_signal(signal.SIGUSR1))
y.backward()
print(x.grad.tolist())
"""
    assert run(code) == "[4.0, 8.0]\n"


class Doubled(flow.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: flow.Tensor) -> flow.Tensor:
        ctx.save_for_backward(value)
        return value * 2

    @staticmethod
    def backward(ctx: Any, grad: flow.Tensor) -> flow.Tensor:
        (value,) = ctx.saved_tensors
        return grad * 2 + value * 0


def test_threads_run_a_function_that_one_of_them_frees() -> None:
    """Each pass adds its gradient, or raises because the function was freed."""
    for _ in range(50):
        x = flow.tensor([1.0, 3.0], requires_grad=True)
        y = Doubled.apply(x)
        start = threading.Barrier(3)
        added, texts = [], []

        def work(retain: bool, y: flow.Tensor = y, start: Any = start, added: Any = added, texts: Any = texts) -> None:
            start.wait()
            try:
                y.backward(flow.ones(2), retain_graph=retain)
                added.append(1)
            except flow.InvalidArgument as error:
                texts.append(str(error))

        threads = [threading.Thread(target=work, args=(retain,)) for retain in (True, False, True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert added
        assert x.grad.tolist() == [2.0 * len(added)] * 2
        assert all("was freed by an earlier backward pass" in text for text in texts)


def test_a_gradient_is_read_while_threads_add_to_it() -> None:
    x = flow.zeros(1000, requires_grad=True)
    is_over = threading.Event()
    was_missing = set()

    def read() -> None:
        while not is_over.is_set():
            was_missing.add(x.grad is None)

    def add() -> None:
        for _ in range(100):
            (x * 3).sum().backward()

    add()
    reader = threading.Thread(target=read)
    adders = [threading.Thread(target=add) for _ in range(3)]
    for thread in [reader, *adders]:
        thread.start()
    for thread in adders:
        thread.join()
    is_over.set()
    reader.join()
    assert not any(was_missing)
    assert set(x.grad.tolist()) == {1200.0}
