"""Tests properties and names of devices, and tensors on a device whose memory the host cannot access.

The device `far` is a plugin of the runtime's tests, which `make test-python` adds to ONEFLOW_DEVICE_PATH.
"""

from __future__ import annotations

import copy
import gc
import itertools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import raises

HOST = flow.devices()[0]
PLUGINS = Path(os.environ.get("OF_BUILD", Path(flow.__file__).parents[2])) / "test_plugins"


@pytest.fixture
def default_far() -> Iterator[None]:
    flow.set_default_device("far:1")
    try:
        yield
    finally:
        flow.set_default_device(HOST)


def far() -> flow.Tensor:
    return flow.tensor([[1.0, 2.0], [3.0, 4.0]], device="far")


def test_the_test_plugin_is_loaded() -> None:
    assert "far:0" in flow.devices(), "make test-python adds it to ONEFLOW_DEVICE_PATH"


def test_properties_of_devices() -> None:
    names = [device.name for device in flow.devices()]
    assert names[0] == "cpu:0" == flow.get_default_device()
    assert len(set(names)) == len(names) >= 3
    for device in flow.devices():
        assert flow.device(device.name) == flow.device(device) == device == device.name == str(device)
        assert device.name == f"{device.type}:{device.index}"
        assert device.hardware
        assert device.hardware.isprintable()
        assert device.total_memory >= device.free_memory >= 0
        assert device.compute_units >= 0
        assert all(word.isidentifier() for word in device.capabilities)
        assert device.notes == ""
    second = flow.device("far:1")
    assert (second.hardware, second.total_memory, second.compute_units) == ("Far device B", 1 << 30, 1)
    assert second.capabilities == ()
    assert {"kernels", "host_accessible"} <= set(HOST.capabilities)
    assert repr(second) == "device('far:1')"
    assert pickle.loads(pickle.dumps(second)) == copy.deepcopy(second) == second


NAMES = [
    "", "far:", ":0", "far:7", "far:-1", "far:-0", "far:01", "far:x", "far:0x0", "far:+1", "far: 1", "far:1 ", " far",
    "FAR", "fra", "far:0:0", "far:2147483648", "far:99999999999999999999", "f\u00e4r", "far" * 100, "%s%n",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_without_a_device(name: str) -> None:
    x = flow.ones(2)
    calls: dict[str, Callable[[], object]] = {
        "device": lambda: flow.device(name),
        "zeros": lambda: flow.zeros(1, device=name),
        "tensor": lambda: flow.tensor([1], device=name),
        "to": lambda: x.to(name),
        "to_device": lambda: x.to_device(name),
        "set_default_device": lambda: flow.set_default_device(name),
        "synchronize": lambda: flow.synchronize(name),
        "memory_stats": lambda: flow.memory_stats(name),
        "reset_peak_memory_stats": lambda: flow.reset_peak_memory_stats(name),
        "empty_cache": lambda: flow.empty_cache(name),
        "set_memory_limit": lambda: flow.set_memory_limit(1, name),
    }
    there = ", ".join(device.name for device in flow.devices())
    shown = name if len(name) <= 80 else name[:80] + "…"
    for function, call in calls.items():
        with pytest.raises(flow.DeviceError) as found:
            call()
        text = str(found.value).partition("\n")[0]
        assert text == f"{function}: there is no device '{shown}'; there are {there}"


def test_invalid_names() -> None:
    for value, word in ((3, "int"), (None, "None"), (b"far", "bytes"), (["far"], "list")):
        raises(flow.TypeMismatch, f"device: name must be device, got {word}", lambda: flow.device(value))  # type: ignore[arg-type]  # noqa: B023
    raises(flow.InvalidArgument, "device: name must not have a null byte", lambda: flow.device("far\0"))
    raises(flow.TypeMismatch, "device: missing argument name", lambda: flow.device())  # type: ignore[call-arg]


def test_the_error_for_an_unknown_type_lists_rejected_plugins() -> None:
    program = """
import oneflow_py as flow
path, reason = next(iter(flow.rejected_plugins().items()))
print(path); print(reason)
try:
    flow.zeros(1, device="toaster")
except flow.DeviceError as error:
    print(error)
"""
    broken = PLUGINS / "accel.so"
    environment = {**os.environ, "ONEFLOW_DEVICE_PATH": str(broken), "ACCEL_FAULT": "newer_version"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    path, reason, first, *rest = done.stdout.splitlines()
    assert path == str(broken)
    assert path in reason
    assert "API version" in reason
    assert first.startswith("zeros: there is no device 'toaster'; there ")
    assert reason in rest
    assert any("ONEFLOW_DEVICE_PATH" in line for line in rest)


def test_loading_a_plugin() -> None:
    program = f"""
import pathlib
import oneflow_py as flow
assert "far:0" not in flow.devices()
flow.load_device(pathlib.Path({str(PLUGINS / "far.so")!r}))
assert flow.ones(3, device="far:1").sum().item() == 3
try:
    flow.load_device({str(PLUGINS / "far.so")!r})
except flow.DeviceError as error:
    print(error)
"""
    environment = {name: value for name, value in os.environ.items() if name != "ONEFLOW_DEVICE_PATH"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("there already is a device type 'far'\n")


def test_a_library_that_is_not_a_plugin(tmp_path: Path) -> None:
    for path in ("/nowhere/plugin.so", Path(flow.__file__), PLUGINS.parent / "lib" / "liboneflow.so"):
        with pytest.raises(flow.DeviceError):
            flow.load_device(path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(flow.DeviceError, match="pipe: it is not a regular file"):
        flow.load_device(pipe)
    raises(flow.TypeMismatch, "load_device: path must be str or path, got int", lambda: flow.load_device(3))  # type: ignore[arg-type]
    text = "load_device: path must be the name of a file, got ''"
    raises(flow.InvalidArgument, text, lambda: flow.load_device(""))
    raises(flow.InvalidArgument, "load_device: path must not have a null byte", lambda: flow.load_device("far.so\0"))


def test_tensors_on_another_device() -> None:
    x = far()
    assert (x.device, x.device.type, x.device.index) == ("far:0", "far", 0)
    assert x.tolist() == [[1, 2], [3, 4]]
    assert repr(x) == "tensor([[1., 2.],\n        [3., 4.]], device='far:0')"
    for y in (x + 1, x @ x, x[0], x[:, ::-1], x.sum(), x[x > 1], x[[1, 0]], flow.zeros(2, device="far:0")):
        assert y.device == "far:0"
        y.tolist()
    assert (x @ x).tolist() == [[7, 10], [15, 22]]
    here = x.to_device(HOST)
    assert (here.device, here.tolist()) == (HOST, x.tolist())
    assert x.to("far:1").device == x.to(flow.device("far:1")).device == "far:1"
    assert flow.tensor(x).device == copy.deepcopy(x).device == copy.copy(x).device == "far:0"
    assert flow.tensor(x, device=HOST).device == HOST
    assert flow.tensor(np.ones(3), device="far", dtype="float16").tolist() == [1, 1, 1]
    assert pickle.loads(pickle.dumps(x)).device == "far:0"
    x.add_(1)
    x[0] = 9
    assert x.tolist() == [[9, 9], [4, 5]]
    x.copy_(here)
    x[1] = flow.tensor([7, 8])
    assert x.tolist() == [[1, 2], [7, 8]]


def test_to_another_device_and_dtype_at_once() -> None:
    x = flow.tensor([[1.75, -2.5], [3.0, 300.0]])
    for source in (x, x.to("far:1").t(), x.to("accel")[0], x[0:1].expand(3, 2), x[0, 0], x[0:0]):
        for dtype in ("float64", "float32", "bfloat16", "int16", "bool"):
            expected = source.to("cpu").to(dtype).tolist()
            for device in ("cpu", "far", "accel:1"):
                moved = source.to(device, dtype)
                assert (moved.device, moved.dtype.name) == (flow.device(device), dtype)
                assert moved.is_contiguous()
                assert moved.tolist() == expected == source.to(device=device, dtype=dtype).tolist()
    assert x.to("far", None).dtype == flow.float32
    raises(flow.TypeMismatch, "to: dtype must be dtype, got int", lambda: x.to("cpu", 3))  # type: ignore[call-overload]


def test_copies_from_another_device_into_a_tensor() -> None:
    def targets() -> Iterator[flow.Tensor]:
        yield flow.zeros(3, 4)
        yield flow.zeros(5, 4)[1:4]
        yield flow.zeros(4, 3).t()
        yield flow.zeros(3, 8)[:, ::2]
        yield flow.zeros(3, 4, dtype="float64")
        yield flow.zeros(3, 4, dtype="int16")
        yield flow.zeros(2, 3, 4)
        yield flow.zeros(3, 4, dtype="complex64")

    whole = flow.arange(24, dtype="float32").reshape(4, 6)
    for device, other in itertools.permutations(("cpu", "far", "far:1", "accel"), 2):
        for source in (whole[:3, :4].contiguous(), whole[1:, 2:], whole[0, :4], whole[1, 1], whole[:, :1].t()):
            for target in targets():
                expected = target.clone().copy_(source).tolist()
                base, there = target.to(device), source.to(other)
                assert base.copy_(there) is base
                assert (base.device, base.tolist()) == (flow.device(device), expected)
                view = flow.zeros(7, *target.shape, dtype=target.dtype, device=device)
                view[3].copy_(there)
                assert (view[3].tolist(), view[2].sum().item(), view[4].sum().item()) == (expected, 0, 0)
    with pytest.raises(flow.ShapeError, match=r"copy_: shapes \[2\] and \[3\] do not broadcast"):
        flow.zeros(2).copy_(flow.zeros(3, device="far"))
    with pytest.raises(flow.InvalidArgument, match="several elements share memory"):
        flow.zeros(1).expand(3).copy_(flow.zeros(3, device="far"))


def test_page_locked_memory() -> None:
    x = flow.tensor([1.0, 2.0])
    pinned = x.pin_memory(device="accel")
    assert pinned.tolist() == [1, 2]
    assert (x.is_pinned(), pinned.is_pinned(), pinned[1:].is_pinned()) == (False, True, True)
    assert not (pinned * 2).is_pinned()
    assert not pinned.to("accel").is_pinned()
    assert not x.pin_memory(device="far").is_pinned()  # it has no page-locked memory


def test_creation_functions_take_a_device() -> None:
    """Calls all creation functions: those whose signature has an optional argument `device`."""
    makers = [
        name for name in dir(flow)
        if "device: DeviceLike | None = None" in (getattr(flow, name).__doc__ or "") and not name.startswith("pin")
    ]  # fmt: skip
    sizes: dict[str, tuple[Any, ...]] = {
        "arange": (3,), "eye": (2,), "full": ([2], 1.0), "linspace": (0, 1, 3), "randint": (3, [2]), "randperm": (3,),
        "full_like": (far(), 1.0), "logspace": (0, 1, 3), "randint_like": (far(), 3), "tril_indices": (2, 2),
        "triu_indices": (2, 2), "normal": (0.0, 1.0, [2]),
    }  # fmt: skip
    assert len(makers) >= 11
    for name in makers:
        given: tuple[Any, ...] = sizes.get(name, (far(),) if name.endswith("_like") else ([2],))
        for device in (*flow.devices()[:3], "far:1"):
            assert getattr(flow, name)(*given, device=device).device == device, name


def test_the_default_device(default_far: None) -> None:
    here = flow.ones(3, device=HOST)
    assert flow.get_default_device() == "far:1"
    for x in (flow.tensor([1, 2]), flow.tensor(3), flow.zeros(2), flow.arange(3), flow.rand(2), flow.randperm(3)):
        assert x.device == "far:1"
        assert "device" not in repr(x)
    assert "device='cpu:0'" in repr(here)
    assert flow.from_numpy(np.ones(2)).device == HOST  # shared memory stays on its device
    assert flow.tensor(np.ones(2)).device == "far:1"
    assert flow.zeros_like(here).device == HOST
    here[[0]] = 5
    here[[1, 2]] = [6, 7]
    assert here[[0, 2]].tolist() == [5, 7]
    assert here[[True, False, True]].device == HOST
    assert (here + np.ones(3)).device == HOST
    flow.synchronize()
    held = flow.zeros(1 << 18)
    assert flow.memory_stats()["in_use"] == flow.memory_stats("far:1")["in_use"] >= held.nbytes


def test_the_same_random_numbers() -> None:
    def draw(device: str) -> list[Any]:
        flow.manual_seed(7)
        return [flow.rand(5, device=device).tolist(), flow.randn(5, device=device).tolist()]

    assert len({str(draw(device.name)) for device in flow.devices() if device.type in ("cpu", "far")}) == 1


def test_memory_that_the_host_cannot_access() -> None:
    x, here = far(), flow.ones(2, 2)
    for call in (x.numpy, lambda: np.asarray(x), x.data_ptr, lambda: memoryview(x)):
        with pytest.raises(flow.DeviceError, match="the host cannot reach memory on far:0; copy the tensor first"):
            call()
    with pytest.raises(flow.Unsupported, match="memory on far:0 cannot be exported; copy the tensor to the host"):
        np.from_dlpack(x)
    text = "other must be on far:0, as input is, got a tensor on cpu:0"
    raises(flow.DeviceError, f"add: {text}", lambda: x + here)
    raises(flow.DeviceError, f"add_: {text}", lambda: x.add_(here))
    text = "add: other must be on cpu:0, as input is, got a tensor on far:0"
    raises(flow.DeviceError, text, lambda: here + x)
    with pytest.raises(flow.DeviceError):
        flow.cat([x, here])
    with pytest.raises(flow.DeviceError):
        flow.add(x, x, out=here)
    with pytest.raises(flow.DeviceError):
        flow.ones(2, device="far:1") + flow.ones(2, device="far:0")
    assert (x + 1).tolist() == [[2, 3], [4, 5]]


def test_fallbacks() -> None:
    flow.reset_fallbacks()
    assert flow.fallbacks() == {}
    x = far() * 2 + 1
    assert flow.fallbacks() == {"mul": 1, "add": 1}
    flow.ones(2) * 2
    assert flow.fallbacks() == {"mul": 1, "add": 1}
    flow.set_option("fallback_is_error", True)
    try:
        with pytest.raises(flow.Unsupported, match="exp"):
            x.exp()
        assert x.tolist() == [[3, 5], [7, 9]]
        assert flow.ones(1).exp().item() > 2
    finally:
        flow.set_option("fallback_is_error", False)
    assert flow.get_option("fallback_is_error") == 0
    flow.reset_fallbacks()


def test_memory_of_a_device() -> None:
    gc.collect()
    flow.empty_cache("far")
    before = flow.memory_stats("far")
    x = flow.zeros(1 << 20, device="far")
    assert flow.memory_stats("far")["in_use"] >= before["in_use"] + (4 << 20)
    flow.set_memory_limit(flow.memory_stats("far")["in_use"] + 1024, "far")
    try:
        with pytest.raises(flow.OutOfMemory):
            flow.zeros(1 << 20, device="far")
        assert flow.zeros(1 << 20).sum().item() == 0  # each device has its own limit
        held = []
        with pytest.raises(flow.OutOfMemory):
            held.extend(flow.zeros(4, device="far") for _ in range(17))  # 64 bytes each
        held.clear()
    finally:
        flow.set_memory_limit(0, "far")
    flow.reset_peak_memory_stats("far")
    del x
    assert flow.memory_stats("far")["in_use"] <= before["in_use"]
    flow.empty_cache("far")
    assert flow.memory_stats("far")["cached"] == 0
    raises(
        flow.InvalidArgument, "set_memory_limit: bytes must not be negative, got -1", lambda: flow.set_memory_limit(-1)
    )
    raises(flow.InvalidArgument, "get_option: there is no option 'speed'", lambda: flow.get_option("speed"))
    raises(flow.TypeMismatch, "set_option: value must be int or bool, got float", lambda: flow.set_option("speed", 0.5))  # type: ignore[arg-type]
