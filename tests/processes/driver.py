"""Runs the cases of a file as one rank of a job, and prints a line of JSON for each.

TEST_DEVICE is the device of the tensors. If it is one of the test accelerator, its number of collectives comes last.
"""

import hashlib
import json
import math
import os
import sys

import oneflow_py as flow

DEVICE = os.environ.get("TEST_DEVICE", "cpu")


def run(case: dict) -> object:
    rank = flow.comm.rank()
    group = case["options"].get("group")
    if group is not None and rank not in flow.comm.Group(case["ranks"]).ranks:
        return None
    given = case["inputs"][rank]
    if isinstance(given["data"], int):  # many elements, which follow from a number
        numbers = flow.arange(math.prod(given["shape"])) * given["data"] % 4099
        x = (numbers.to(case["dtype"]) / 7).reshape(given["shape"])
    else:
        x = flow.tensor(given["data"], dtype=case["dtype"]).reshape(given["shape"])
    x = x.to(DEVICE)
    x.requires_grad = case["gradient"]
    function = getattr(flow.comm, case["call"] + ("_async" if case["is_async"] else ""))
    result = function(x, *case["positional"], **case["options"])
    if case["is_async"]:
        result = result.wait()
    if case["gradient"]:
        weights = flow.arange(result.numel(), dtype=case["dtype"]).reshape(result.shape) + rank
        (result * weights.to(DEVICE)).sum().backward()
        result = x.grad
    assert str(result.device) == str(x.device)
    result = result.to("cpu")
    numbers = result.to(flow.float64).reshape([-1])
    is_long = numbers.numel() > 1000
    data = hashlib.sha256(numbers.numpy().tobytes()).hexdigest() if is_long else numbers.tolist()
    return [list(result.shape), data]


with open(sys.argv[1], encoding="utf-8") as file:
    for each in json.load(file):
        print(json.dumps(run(each)), flush=True)
if DEVICE.startswith("accel"):
    print(flow.get_option("accel_collectives"))
flow.comm.finalize()
