"""Tensors on a device of another kind: the plugin of the runtime's tests, whose memory the host cannot read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import oneflow_py as flow

PLUGIN = Path(flow.__file__).parents[2] / "test_plugins" / "far.so"

PROGRAM = f"""
import copy, pickle
import numpy as np
import pytest
import oneflow_py as flow

flow.load_device({str(PLUGIN)!r})
assert "far:0" in flow.devices()
x = flow.tensor([[1.0, 2.0], [3.0, 4.0]], device="far")
assert (x.device, x.device.type, x.device.index) == ("far:0", "far", 0)
assert x.tolist() == [[1, 2], [3, 4]]
assert repr(x) == "tensor([[1., 2.],\\n        [3., 4.]], device='far:0')"
for y in (x + 1, x @ x, x[0], x[:, ::-1], x.sum(), x[x > 1], flow.zeros(2, device="far:0"), copy.deepcopy(x)):
    assert y.device == "far:0"
    y.tolist()
assert (x @ x).tolist() == [[7, 10], [15, 22]]
assert flow.fallbacks()
here = x.to_device("cpu")
assert (here.device, here.tolist()) == ("cpu:0", x.tolist())
assert flow.tensor(x).device == "far:0"
assert flow.tensor(x, device="cpu").device == "cpu:0"
assert flow.tensor(np.ones(3), device="far", dtype="float16").tolist() == [1, 1, 1]
assert pickle.loads(pickle.dumps(x)).device == "far:0"
x.add_(1)
x[0] = 9
assert x.tolist() == [[9, 9], [4, 5]]
x.copy_(here)
x[1] = flow.tensor([7, 8])
assert x.tolist() == [[1, 2], [7, 8]]
for call in (lambda: x + here, x.numpy, x.data_ptr, lambda: memoryview(x)):
    with pytest.raises(flow.DeviceError):
        call()
with pytest.raises(flow.DeviceError):
    flow.zeros(2, device="far:7")
print("done")
"""


def test_another_device() -> None:
    assert PLUGIN.exists(), "the build folder has no test plugins"
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


def test_a_library_that_is_no_plugin() -> None:
    with pytest.raises(flow.DeviceError):
        flow.load_device("/nowhere/plugin.so")
    with pytest.raises(flow.DeviceError):
        flow.load_device(Path(flow.__file__))
    with pytest.raises(flow.TypeMismatch, match="load_device: path must be str or path, got int"):
        flow.load_device(3)
