"""Tests threads, forked children, reference counts, leaks, and the start and end of the interpreter."""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import runs_beside

FORK = multiprocessing.get_context("fork")


def growth(work: Callable[[], Any], rounds: int = 3) -> int:
    """Returns the smallest growth of the resident memory, in bytes, over several rounds of the work. A leak grows it in
    every round; the state in which earlier tests left the allocators may grow it in a single round."""
    sizes = [resident_bytes()]
    for _ in range(rounds):
        work()
        gc.collect()
        sizes.append(resident_bytes())
    return min(after - before for before, after in itertools.pairwise(sizes))


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_many_threads() -> None:
    """Results are correct while several threads compute with the same tensor."""
    x = flow.arange(10000, dtype=flow.float32).reshape(100, 100)
    expected = (x @ x).sum().item()

    def work(seed: int) -> float:
        y = x + seed - seed
        for _ in range(20):
            (y[::2] * 2 + flow.tensor([1.0])).sum(dim=0)
        return (y @ y).sum().item()

    with ThreadPoolExecutor(8) as pool:
        assert all(found == pytest.approx(expected, rel=1e-4) for found in pool.map(work, range(64)))


def test_each_thread_has_its_own_error() -> None:
    def work(size: int) -> bool:
        for _ in range(200):
            try:
                flow.zeros(2) + flow.zeros(size)
            except flow.ShapeError as error:
                if f"[{size}]" not in str(error):
                    return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(3, 19)))


@pytest.mark.parametrize("name", ["matmul", "sort", "rand"])
def test_long_kernels_let_other_threads_run(name: str) -> None:
    x = flow.rand(1000, 1000, dtype=flow.float64)
    calls = {"matmul": lambda: x @ x, "sort": lambda: flow.sort(x), "rand": lambda: flow.rand(5000, 5000)}
    assert runs_beside(calls[name])


def in_child(function: Callable[[], Any]) -> Any:
    """Calls a function in a forked child and returns its result."""
    receiver, sender = FORK.Pipe(duplex=False)

    def run() -> None:
        sender.send(function())

    child = FORK.Process(target=run)
    child.start()
    answered = receiver.poll(60)
    result = receiver.recv() if answered else "no answer"
    child.join(10)
    child.kill()
    return result


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_children_compute() -> None:
    """A forked child computes even while the parent uses its pool of threads."""
    x = flow.rand(300, 300, dtype=flow.float64)
    expected = (x @ x).sum().item()
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            x @ x

    thread = threading.Thread(target=keep_busy)
    thread.start()
    try:
        for _ in range(3):
            assert in_child(lambda: (x @ x).sum().item()) == pytest.approx(expected)
    finally:
        stop.set()
        thread.join()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pools_of_processes() -> None:
    with FORK.Pool(2) as pool:
        assert pool.map(abs, [flow.tensor([-1, 2]), flow.tensor(-3)])[0].tolist() == [1, 2]


def test_threads_that_end_do_not_leak() -> None:
    def work() -> None:
        flow.rand(1000).exp().sum()

    before = flow.memory_stats()["tensors"]
    for _ in range(100):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert flow.memory_stats()["tensors"] == before


LOOPS: dict[str, Callable[[], Any]] = {
    "operators": lambda: (X + 1) * X - X / 2,
    "functions": lambda: flow.sum(X, dim=0, keepdim=True),
    "named results": lambda: flow.max(X, 0),
    "in place": lambda: X.clone().add_(1),
    "indexing": lambda: X[1:, None][..., 0],
    "masks": lambda: X[X > 1],
    "assignment": lambda: X.clone().__setitem__(0, 1.0),
    "construction": lambda: flow.tensor([[1, 2], [3, 4]]),
    "numpy": lambda: flow.from_numpy(np.ones(3)).numpy(),
    "dlpack": lambda: flow.from_dlpack(flow.ones(2).__dlpack__()),
    "buffer": lambda: memoryview(X),
    "lists": lambda: flow.cat([X, X]).tolist(),
    "printing": lambda: repr(X),
    "errors": lambda: fails(lambda: flow.sum(X, dims=1), lambda: flow.zeros(2) + flow.zeros(3), lambda: X[9]),
    "attributes": lambda: (X.shape, X.dtype, X.device, X.T, X.stride()),
}
X = flow.ones(3)


def fails(*calls: Callable[[], Any]) -> None:
    for call in calls:
        with pytest.raises(flow.Error):
            call()


@pytest.mark.parametrize("name", LOOPS)
def test_loops_do_not_leak(name: str) -> None:
    """Thousands of calls leave no tensors, and do not leak even a few bytes per call."""
    call = LOOPS[name]
    count = 5_000 if name in ("errors", "printing") else 50_000
    for _ in range(2_000):
        call()
    gc.collect()
    tensors = flow.memory_stats()["tensors"]

    def loop() -> None:
        for _ in range(count):
            call()

    assert growth(loop) < 30 * count
    assert flow.memory_stats()["tensors"] == tensors


def test_reference_counts_are_unchanged() -> None:
    """Calls leave the reference counts of the objects that they take and return unchanged."""
    x, dims, out = flow.ones(2, 2), [0, 1], flow.zeros(2, 2)
    objects: list[Any] = [x, dims, out, flow.float32, flow.Tensor, None, flow.ShapeError]
    flow.add(x, x, out=out)
    before = [sys.getrefcount(each) for each in objects]
    for _ in range(100):
        flow.sum(x, dims)
        flow.add(x, 1, out=out)
        x.add_(0)
        flow.zeros(2, dtype=flow.float32)
        _ = x.dtype, x == None, x[None], x.clone()  # noqa: E711
        fails(lambda: flow.zeros(2) + flow.zeros(3), lambda: flow.sum(x, "a"), lambda: flow.add(x, x, out=3))
    after = [sys.getrefcount(each) for each in objects]
    assert all(abs(b - a) < 50 for a, b in zip(before, after, strict=True)), list(zip(before, after, strict=True))


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_works_without_numpy() -> None:
    code = """
import sys
sys.modules["numpy"] = None
import oneflow_py as flow
x = flow.tensor([1.0, 2.0])
print((x + 1).tolist(), x.sum().item(), flow.tensor(2) in flow.arange(3), repr(x[x > 1]))
"""
    assert run(code) == "[2.0, 3.0] 3.0 True tensor([2.])\n"


def test_the_interpreter_ends_cleanly() -> None:
    """Tensors may be alive in modules, in cycles, over foreign memory, and in a thread that still runs."""
    code = """
import threading, time
import numpy as np
import oneflow_py as flow
x = flow.from_numpy(np.ones(10))
cycle = [x]
cycle.append(cycle)
capsule = flow.ones(3).__dlpack__()
view = memoryview(flow.ones(3))
def work():
    while True:
        flow.rand(200, 200) @ flow.rand(200, 200)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
print("done")
"""
    assert run(code) == "done\n"


def test_the_interpreter_ends_cleanly_while_threads_run_python_code() -> None:
    """The library asks Python about arguments, calls functions, and makes records, whose classes are Python code."""
    code = """
import threading, time
import oneflow_py as flow
class Index:
    def __index__(self):
        return sum(range(50))
x = flow.ones(2)
graph = flow.graph.capture(lambda x: x + 1, x)
rule = flow.graph.rule(lambda x: x + 1, lambda x: x * 2, x, when=lambda x: True)
def repeat(function):
    while True:
        function()
for each in (lambda: flow.graph.capture(lambda x: x + 1, x), lambda: flow.Generator(Index()), lambda: graph.inputs,
             lambda: graph.rewrite(rule), lambda: repr(flow.Generator(3))):
    for _ in range(2):
        threading.Thread(target=repeat, args=(each,), daemon=True).start()
time.sleep(0.2)
print("done")
"""
    assert run(code) == "done\n"


def test_a_second_import_is_refused() -> None:
    code = """
import sys
import oneflow_py
for name in [n for n in sys.modules if n.startswith("oneflow_py")]:
    del sys.modules[name]
try:
    import oneflow_py
except ImportError as error:
    print(error)
"""
    assert "once per process" in run(code)


def test_subinterpreters_are_refused() -> None:
    """The import fails before and after the package is loaded, and the main interpreter keeps working."""
    code = """
import _xxsubinterpreters as interpreters
def attempt():
    other = interpreters.create()
    try:
        interpreters.run_string(other, "import oneflow_py")
    except interpreters.RunFailedError as error:
        print("refused" if "not into subinterpreters" in str(error) else error)
    interpreters.destroy(other)
attempt()
import oneflow_py as flow
attempt()
print(flow.ones(2).tolist())
"""
    assert run(code) == "refused\nrefused\n[1.0, 1.0]\n"


def test_memory_pressure_collects_cycles() -> None:
    code = """
import gc
import oneflow_py as flow
gc.disable()
flow.set_memory_limit(100 << 20)
for _ in range(10):
    holder = [flow.zeros(10 << 20)]
    holder.append(holder)
    del holder
print("survived")
"""
    assert run(code) == "survived\n"


WORKING_MEMORY = """
import re
from pathlib import Path
import oneflow_py as flow

def resident(which):
    return int(re.search(which + r":\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

flow.set_num_threads(1)
operands = [flow.ones(*sizes) for sizes in {sizes}]
flow.einsum("ij,jk->ik", flow.ones(40, 40), flow.ones(40, 40))  # loads the code, which takes memory, too
Path("/proc/self/clear_refs").write_text("5")  # resets the peak
before = resident("VmRSS")
result = flow.einsum({equation!r}, *operands)
print(resident("VmHWM") - before - 4 * result.numel())
"""


@pytest.mark.parametrize(
    ("equation", "sizes"),
    [
        ("ij,jk->ik", [(1024, 2048), (2048, 2048)]),
        ("efbad,cf->abcde", [(32, 8, 16, 16, 32), (16, 8)]),
        ("bda,dc->abc", [(128, 128, 128), (128, 32)]),
        ("bij,bjk->bik", [(64, 128, 128), (64, 128, 128)]),
    ],
)
def test_contractions_need_little_memory(equation: str, sizes: list[tuple[int, ...]]) -> None:
    """A thread takes at most 4 MiB besides the result, whose size is a multiple of the huge page size."""
    assert 0 < int(run(WORKING_MEMORY.format(equation=equation, sizes=sizes))) <= 4 << 20


def matrix_of_windows() -> flow.Tensor:
    """Returns a matrix whose product with itself takes minutes, in 16 MB."""
    return flow.ones(4_000_000).unfold(0, 2_000_000, 1)[:2000]


class Late(Exception):
    """What the handlers of signals raise here."""


@pytest.fixture
def alarm() -> Iterator[Callable[..., None]]:
    """A function that calls `handler` after a time, and then repeatedly, through a signal."""

    def start(handler: Callable[[], Any], after: float, every: float = 0) -> None:
        signal.signal(signal.SIGALRM, lambda *_: handler())
        signal.setitimer(signal.ITIMER_REAL, after, every)

    before = signal.getsignal(signal.SIGALRM)
    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def raise_late() -> None:
    raise Late


@pytest.mark.parametrize(
    "work",
    [
        lambda x: x @ x.T,
        lambda x: flow.einsum("ij,kj->ik", x, x),
        lambda x: flow.einsum_expression("ij,kj->ik", x.shape, x.shape)(x, x),
        lambda x: flow.matmul(x, x.T, out=flow.zeros(2000, 2000)),
        lambda x: x.exp().sum(),
        lambda x: (flow.ones(2000, 2000, requires_grad=True) @ x).sum().backward(),
    ],
)
def test_the_exception_of_a_signal_handler_ends_a_long_call(
    alarm: Callable[..., None], work: Callable[[flow.Tensor], Any]
) -> None:
    x = matrix_of_windows()
    with flow.profile() as profile:
        alarm(raise_late, 0.2)
        with pytest.raises(Late):
            work(x)
    assert any(entry.failed for entry in profile.entries)
    assert flow.ones(300, 300).sum().item() == 90000


def test_the_exception_of_a_signal_handler_ends_the_passes_over_a_graph(alarm: Callable[..., None]) -> None:
    """They handle errors of the runs that measure what they change, but not that one."""

    def multiply(x: flow.Tensor) -> flow.Tensor:
        for _ in range(300):
            x = x @ x
        return x

    graph = flow.graph.capture(multiply, flow.ones(700, 700))
    alarm(raise_late, 0.1)
    with pytest.raises(Late):
        graph.optimize()


def test_a_signal_handler_that_returns_does_not_change_the_result(alarm: Callable[..., None]) -> None:
    sums = []
    x = flow.ones(2000, 2000)
    alarm(lambda: sums.append(flow.ones(300, 300).sum().item()), 0.01, 0.01)
    y = x.clone()
    while len(sums) < 5:
        y = (y @ x) * (1 / 2000)
    y.add_(1)
    assert set(sums) == {90000}
    assert flow.equal(y, x + 1)


def test_a_signal_handler_that_forks(alarm: Callable[..., None]) -> None:
    """The child has no threads to do the rest of the work with: its call ends with an error."""
    children = []
    alarm(lambda: children.append(os.fork()), 0.06)
    x, y = flow.ones(2000, 2000), flow.ones(2000, 2000)
    try:
        while not children:
            y = (y @ x) * (1 / 2000)
    except flow.Error as error:
        os._exit(0 if "the work was interrupted" in str(error) else 1)
    if children[0] == 0:  # the signal came between two calls
        os._exit(0)
    assert os.waitpid(children[0], 0)[1] == 0
    assert flow.equal(y, x)
