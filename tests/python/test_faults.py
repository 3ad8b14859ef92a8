"""Tests devices that fail: the test accelerator (tests/accelerator), whose faults are enabled by options.

Every fault must raise a oneflow error that describes it, must not leak, and must not affect other work.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest

import oneflow_py as flow
from tests.python.support import raises

PLUGIN = Path(os.environ.get("OF_BUILD", Path(flow.__file__).parents[2])) / "test_plugins" / "accel.so"
MIB = 1 << 20
KNOWN = json.loads((Path(__file__).parents[1] / "faults.json").read_text())
TEXTS = KNOWN["texts"]


def fault(name: str, value: int = 1) -> None:
    flow.set_option(f"accel_{name}", value)


@pytest.fixture(autouse=True)
def sound_devices() -> Iterator[None]:
    """Disables all faults after a test, and checks that the device works."""
    try:
        yield
    finally:
        for name in KNOWN["options"]:
            fault(name, 0)
        fault("capacity", 256 * MIB)
        gc.collect()
    assert (flow.ones(3, device="accel") * 2).tolist() == [2, 2, 2]


def run_alone(program: str, **environment: str) -> str:
    """Runs a program in its own process, with a timeout, and returns what it prints."""
    program = f"import gc, os, threading\nimport oneflow_py as flow\n{program}"
    environment = {**os.environ, "ONEFLOW_DEVICE_PATH": str(PLUGIN), **environment}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize(("name", "reason"), KNOWN["rejected"].items())
def test_a_plugin_that_is_rejected(name: str, reason: str) -> None:
    program = f"""
try:
    flow.zeros(2, device="accel")
except flow.DeviceError as error:
    print(error)
reason = flow.rejected_plugins()[{str(PLUGIN)!r}]
assert {str(PLUGIN)!r} in reason and {reason!r} in reason
assert flow.ones(3).sum().item() == 3
assert [device.type for device in flow.devices()].count("accel") == 0
"""
    text = run_alone(program, ACCEL_FAULT=name)
    assert text.startswith("zeros: there is no device 'accel'; there ")
    assert str(PLUGIN) in text
    assert reason in text


def test_a_kernel_that_fails_in_a_chain() -> None:
    """The error is raised once, when the host waits for the device, and names the operator."""
    waits: list[Callable[[flow.Tensor], object]] = [
        lambda x: x[0].item(), lambda x: x.tolist(), lambda x: repr(x), lambda x: bytes(x), lambda x: x.to("cpu"),
        lambda x: flow.synchronize("accel"), lambda x: x.equal(x),
        lambda x: bool(x[0]), lambda x: x[x > 0], lambda x: x.nonzero(), lambda x: x + 1, lambda x: x.add_(1),
        lambda x: x.__setitem__(x > 0, 1), lambda x: flow.ones(4).copy_(x), lambda x: pickle.dumps(x),
    ]  # fmt: skip
    for wait in waits:
        x = flow.ones(4, device="accel")
        fault("fail_kernels:0")
        y = -x * 2 * x
        raises(flow.InvalidArgument, TEXTS["fail_kernels"], lambda: wait(y))  # noqa: B023
        assert (x * 3).tolist() == [3, 3, 3, 3]


def test_a_copy_that_fails() -> None:
    x = flow.ones(4, device="accel")
    calls: list[tuple[str, Callable[[], object]]] = [
        ("tensor", lambda: flow.tensor([1.0], device="accel")),
        ("to_device", lambda: flow.tensor(x, device="cpu")), ("to", lambda: flow.ones(2).to("accel")),
        ("to", lambda: x.to("cpu")), ("to", lambda: x.to("accel:1")),
        ("clone", x.clone), ("add", lambda: x + 1), ("item", x[0].item), ("format", lambda: repr(x)),
        ("read", x.tolist), ("read", lambda: bytes(x)), ("equal", lambda: x.equal(-x)),
    ]  # fmt: skip
    for name, call in calls:
        for kind in ("fail_copies", "fail_silently"):
            fault(kind)
            raises(flow.DeviceError, f"{name}: {TEXTS[kind]}", call)
            fault(kind, 0)
    assert x.tolist() == [1, 1, 1, 1]


def test_an_allocation_that_fails() -> None:
    x = flow.ones(4, device="accel")
    fault("fail_allocations:0", 1)  # a second attempt succeeds
    assert flow.ones(MIB, device="accel").device == "accel:0"
    for kind in ("fail_allocations:0", "empty_allocations:0"):
        flow.empty_cache("accel")
        fault(kind, 100)
        with pytest.raises(flow.OutOfMemory):
            flow.ones(2 * MIB, device="accel")
        assert flow.ones(MIB, device="accel:1").device == "accel:1"
        assert (x * 2).tolist() == [2, 2, 2, 2]
        fault(kind, 0)
    assert flow.ones(2 * MIB, device="accel").device == "accel:0"
    fault("fail_host_allocations:0", 100)
    with pytest.raises(flow.OutOfMemory, match="pin_memory: page-locked memory of accel:0 has no memory"):
        flow.ones(MIB).pin_memory(device="accel")
    flow.empty_cache("accel")
    assert flow.ones(MIB).to("accel").to("far").to("cpu").sum().item() == MIB  # copies do not need page-locked memory


def test_exhausted_memory() -> None:
    """Allocations fail while tensors hold the memory or leave it fragmented, and succeed once it is freed."""
    gc.collect()
    flow.empty_cache("accel")
    fault("capacity:0", flow.get_option("accel_used_memory:0") + 16 * MIB)
    held = [flow.empty(MIB // 4, device="accel") for _ in range(16)]
    with pytest.raises(flow.OutOfMemory):
        flow.empty(MIB // 4, device="accel")
    held = held[::2]  # every other MiB is free
    with pytest.raises(flow.OutOfMemory):
        flow.empty(MIB, device="accel")
    assert flow.empty(MIB // 4, device="accel").numel() == MIB // 4
    assert flow.ones(MIB).sum().item() == MIB
    held.clear()
    assert flow.empty(3 * MIB, device="accel").numel() == 3 * MIB
    flow.empty_cache("accel")


MAKERS: dict[str, Callable[[flow.Tensor], flow.Tensor]] = {
    "creation": lambda _: flow.empty(MIB, device="accel"),
    "tensor": lambda _: flow.tensor(numpy.ones(MIB, numpy.float32), device="accel"),
    "to": lambda _: flow.ones(MIB).to("accel"),
    "operator": lambda x: -x,
    "fallback": lambda x: x + 1,
    "index": lambda x: x.reshape(4, MIB // 4)[[0, 1, 2, 3]],
}


@pytest.mark.parametrize("name", MAKERS)
def test_garbage_that_holds_memory_is_collected_first(name: str) -> None:
    """Automatic collection is disabled, so only the runtime runs the collector. Referenced tensors stay alive."""
    x = flow.ones(MIB, device="accel")
    gc.collect()
    flow.empty_cache("accel")
    fault("capacity:0", flow.get_option("accel_used_memory:0") + 16 * MIB)
    gc.disable()
    collections: list[str] = []
    gc.callbacks.append(lambda phase, _: collections.append(phase))
    try:
        for _ in range(12):
            cycle: list[object] = [MAKERS[name](x)]
            cycle.append(cycle)
        assert collections
        del cycle
        collections.clear()
        held: list[flow.Tensor] = []
        with pytest.raises(flow.OutOfMemory):
            held.extend(MAKERS[name](x) for _ in range(100))
        assert collections
        assert 2 <= len(held) <= 4
    finally:
        gc.callbacks.pop()
        gc.enable()


def in_many_channels(name: str) -> flow.Tensor:
    """Returns values of KNOWN["statistics"] on the device, repeated so that each has an allocation of its own."""
    values = flow.tensor(KNOWN["statistics"][name], dtype=flow.float32, device="accel")
    return values.repeat([1, 8192, 1] if values.ndim == 3 else [8192])


WRITERS: dict[str, tuple[Callable[[list[flow.Tensor]], object], list[str]]] = {
    "batch_norm": (
        lambda stats: flow.batch_norm(in_many_channels("input"), *stats, training=True, momentum=0.5),
        ["mean", "variance"],
    ),
    "sgd_": (
        lambda stats: flow.optim.sgd_(stats[:2], [stats[0].neg(), stats[1].neg()], stats[2:], lr=0.5, momentum=0.5),
        ["mean", "variance", "new_mean", "new_variance"],
    ),
    "adam_": (
        lambda stats: flow.optim.adam_(stats[:1], [stats[0].neg()], stats[1:2], stats[2:], step=1),
        ["mean", "variance", "new_variance"],
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_call_that_runs_out_of_memory_writes_nothing(name: str) -> None:
    """Statistics moved although the result had no memory, and the first one although the second one had none."""
    write, names = WRITERS[name]
    before = [in_many_channels(each) for each in names]
    written = [each.neg().neg() for each in before]
    for failing in range(1, 100):
        clones = [flow.tensor(each) for each in written]  # they share the memory of what is written, until it is
        gc.collect()
        flow.empty_cache("accel")
        fault("fail_from:0", failing)
        try:
            write(written)
        except flow.OutOfMemory:
            fault("fail_from:0", 0)
        else:
            break
        for found, clone, expected in zip(written, clones, before, strict=True):
            assert found.equal(expected), f"allocation {failing}"
            assert clone.equal(expected), f"allocation {failing}"
    fault("fail_from:0", 0)
    assert failing > len(names)
    assert not any(found.equal(expected) for found, expected in zip(written, before, strict=True))
    assert all(clone.equal(expected) for clone, expected in zip(clones, before, strict=True))


def test_a_device_that_is_lost() -> None:
    """Each use of the device raises DeviceError; other devices and the attributes of its tensors keep working."""
    program = """
x = flow.ones(4, device="accel")
other = flow.ones(4, device="accel:1")
flow.synchronize("accel")
flow.set_option("accel_lose:0", 1)
y = x * 2
calls = {
    "first": y.tolist, "item": x[0].item, "tolist": x.tolist, "print": lambda: repr(y), "operator": lambda: x * 2,
    "fallback": lambda: x + 1, "make": lambda: flow.ones(2, device="accel"), "to": lambda: x.to("cpu"),
    "bring": lambda: other.to("accel:0"), "synchronize": lambda: flow.synchronize("accel"),
    "index": lambda: x[x > 0], "copy": lambda: other.copy_(x), "name": lambda: flow.device("accel").hardware,
    "write": lambda: x.add_(1), "data": lambda: flow.tensor([1.0], device="accel:0"),
    "default": lambda: flow.set_default_device("accel:0"), "reduce": lambda: flow.comm.local.all_reduce([x, other]),
}
for name, call in calls.items():
    for _ in range(2):
        try:
            call()
            print(name, "worked")
        except flow.DeviceError as error:
            print(name, error)
assert (x.shape, x.device, y.dtype) == ((4,), "accel:0", flow.float32)
assert "accel:0" in flow.devices()
assert (other * 2).to("cpu").tolist() == [2, 2, 2, 2]
assert flow.ones(3).sum().item() == 3
flow.synchronize("accel:1")
del x, y
gc.collect()
print("done")
"""
    *lines, last = run_alone(program).splitlines()
    assert last == "done"
    assert len(lines) == 34
    for line in lines[1:]:
        assert TEXTS["lose"] in line, lines


def test_properties_of_a_device_that_does_not_answer() -> None:
    device = flow.device("accel")
    fault("fail_info")
    with pytest.raises(flow.DeviceError, match=TEXTS["fail_info"]):
        device.hardware  # noqa: B018
    fault("fail_info", 0)
    fault("endless_name")
    assert device.hardware == "x" * 127
    fault("endless_name", 0)
    assert device.hardware == "Test accelerator 0"


def test_a_plugin_that_is_removed_after_it_was_loaded(tmp_path: Path) -> None:
    file = Path(shutil.copy(PLUGIN, tmp_path))
    program = """
x = flow.ones(4, device="accel")
before = flow.devices()
os.remove(os.environ.pop("ONEFLOW_DEVICE_PATH"))
assert (x * 2 + 1).tolist() == [3, 3, 3, 3]
assert (-x.to("accel:1")).tolist() == [-1, -1, -1, -1]
assert flow.device("accel:1").hardware == "Test accelerator 1"
assert flow.devices() == before
try:
    flow.zeros(1, device="toaster")
except flow.DeviceError as error:
    print(error)
"""
    assert f"ONEFLOW_DEVICE_PATH (set to {file})" in run_alone(program, ONEFLOW_DEVICE_PATH=str(file))


def test_mixed_devices_in_one_call() -> None:
    x, other, here = flow.ones(4, device="accel"), flow.ones(4, device="accel:1"), flow.ones(4)
    for y in (other, here):
        text = f"must be on accel:0, as input is, got a tensor on {y.device}"
        raises(flow.DeviceError, f"mul: other {text}", lambda: x * y)  # noqa: B023
        raises(flow.DeviceError, f"mul_: other {text}", lambda: x.mul_(y))  # noqa: B023
        text = f"add: other must be on {y.device}, as input is, got a tensor on accel:0"
        raises(flow.DeviceError, text, lambda: y + x)  # noqa: B023
        calls: list[Callable[[], object]] = [
            lambda: flow.cat([x, y]), lambda: flow.mul(x, x, out=y),  # noqa: B023
            lambda: flow.where(x > 0, x, y), lambda: x.dot(y),  # noqa: B023
        ]  # fmt: skip
        for call in calls:
            with pytest.raises(flow.DeviceError):
                call()
    assert [y.tolist() for y in (x, other, here)] == [[1, 1, 1, 1]] * 3


WAITS = [
    "x.item()", "x.tolist()", "repr(x)", "bytes(x)", "bool(x)", "x.equal(x)", "x.nonzero()", "x[x > 0]", "x + 1",
    "x.add_(1)", "x.__setitem__(0, 2.0)", "flow.ones(1).copy_(x)", "x.to('cpu')", "x.to('accel:1')[0].item()",
    "flow.tensor([1.0], device='accel')", "flow.from_numpy(numpy.ones(1)).to('accel')", "flow.ones(1).to('accel')",
    "flow.synchronize('accel')",
    "flow.empty(1 << 16, device='accel').numel() and flow.empty_cache('accel')",
    "flow.comm.local.scatter(flow.ones(2), ['cpu', 'accel'])",
]  # fmt: skip


@pytest.mark.parametrize("wait", WAITS)
def test_other_threads_run_while_one_waits(wait: str) -> None:
    """The device is held until this thread releases it: if the waiting thread kept the GIL, both would wait forever."""
    program = f"""
import numpy
x = -flow.ones(1, device="accel")
({wait})  # allocates what later calls reuse
flow.synchronize("accel")
flow.set_option("accel_hold", 1)
x = -x
begun = threading.Event()
def waits():
    begun.set()
    {wait}
thread = threading.Thread(target=waits)
thread.start()
begun.wait()
for _ in range(1000):
    gc.collect(0)
assert thread.is_alive()
flow.set_option("accel_hold", 0)
thread.join()
print("done")
"""
    assert run_alone(program) == "done\n"


def test_many_threads() -> None:
    fault("slow", 50)
    wrong: list[object] = []

    def work(number: int) -> None:
        try:
            device = f"accel:{number % 2}"
            x = flow.full([100], float(number), device=device)
            for _ in range(20):
                x = -(x * 1.0)
            moved = x.to(f"accel:{(number + 1) % 2}")
            if moved.tolist() != [float(number)] * 100:
                wrong.append((number, moved))
        except flow.Error as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_child() -> None:
    """A forked child has no worker thread: the device is lost in the child, but not in its parent."""
    program = f"""
x = flow.ones(4, device="accel")
assert (x * 2).tolist() == [2, 2, 2, 2]
child = os.fork()
if child == 0:
    status = 1
    try:
        x.tolist()
    except flow.DeviceError as error:
        here = flow.ones(3).sum().item() == 3
        status = 0 if here and {TEXTS["fork"]!r} in str(error) else 2
    os._exit(status)
assert os.waitpid(child, 0)[1] == 0
assert (x * 3).tolist() == [3, 3, 3, 3]
print("done")
"""
    assert run_alone(program) == "done\n"


def test_a_forked_child_that_uses_the_device_first() -> None:
    program = """
child = os.fork()
if child == 0:
    os._exit(0 if (flow.ones(4, device="accel") * 2).tolist() == [2, 2, 2, 2] else 1)
assert os.waitpid(child, 0)[1] == 0
print("done")
"""
    assert run_alone(program) == "done\n"


def test_nothing_leaks() -> None:
    """Work, failures and garbage leave as much memory and as many tensors in use as before."""

    def round_of_work() -> None:
        x = flow.ones(1000, device="accel")
        for _ in range(10):
            cycle: list[object] = [x * 2, -x, x + 1, x[::2], x.to("accel:1")]
            cycle.append(cycle)
        fault("fail_copies")
        with pytest.raises(flow.DeviceError):
            x.tolist()
        fault("fail_copies", 0)
        fault("fail_kernels:0")
        y = -x
        with pytest.raises(flow.InvalidArgument):
            y.tolist()

    def in_use() -> tuple[int, ...]:
        gc.collect()
        on_devices = [flow.memory_stats(f"accel:{i}")["in_use"] for i in range(2)]
        return (*on_devices, flow.memory_stats()["tensors"])

    round_of_work()
    before = in_use()
    thresholds = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        for _ in range(20):
            round_of_work()
    finally:
        gc.set_threshold(*thresholds)
    assert in_use() == before
