"""Does what this rank calls, as FOLDER/RANK.calls.json has it, and writes what it gets into FOLDER/RANK.results.json.

TEST_DEVICE is the device of the tensors. Of the test accelerator, the number of its collectives is written, too.
"""

import hashlib
import json
import math
import os
import sys
from pathlib import Path

import oneflow_py as flow

DEVICE = os.environ.get("TEST_DEVICE", "cpu")
RANK = flow.comm.rank()


def run(call: dict | None) -> list | None:
    if call is None:
        return None
    data, shape, dtype, options = call["data"], call["shape"], call["dtype"], call["options"]
    if isinstance(data, int):  # many elements, which follow from a number
        x = ((flow.arange(math.prod(shape)) * data % 4099).to(dtype) / 7).reshape(shape)
    else:
        x = flow.tensor(data, dtype=dtype).reshape(shape)
    x = x.to(DEVICE)
    x.requires_grad = call["gradient"]
    if isinstance(options.get("group"), list):
        options["group"] = flow.comm.Group(options["group"])
    function = getattr(flow.comm, call["call"] + ("_async" if call["is_async"] else ""))
    result = function(x, *call["positional"], **options)
    if call["is_async"]:
        result = result.wait()
    if call["gradient"]:
        weights = flow.arange(result.numel(), dtype=dtype).reshape(result.shape) + RANK
        (result * weights.to(DEVICE)).sum().backward()
        result = x.grad
    assert str(result.device) == str(x.device)
    result = result.to("cpu")
    if result.numel() > 1000:
        return [list(result.shape), hashlib.sha256(result.numpy().tobytes()).hexdigest()]
    return [list(result.shape), result.to(flow.float64).reshape([-1]).tolist()]


folder = Path(sys.argv[1])
calls = json.loads((folder / f"{RANK}.calls.json").read_text(encoding="utf-8"))
written = {"communicator": flow.comm.communicator(), "results": [run(each) for each in calls]}
if DEVICE.startswith("accel"):
    written["device_collectives"] = flow.get_option("accel_collectives")
(folder / f"{RANK}.results.json").write_text(json.dumps(written), encoding="utf-8")
flow.comm.finalize()
