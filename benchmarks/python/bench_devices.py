"""Compares device plugins with the CPU backend, on the same work.

PoCL shows the quality of the OpenCL kernels, because it compiles them for the processor that the CPU backend runs on.
"""

from functools import partial

import oneflow_py as flow
from benchmarks.timing import interleaved, report

ELEMENTS = 16 << 20
OPERATORS = {"add": lambda x: x + x, "exp": flow.exp, "gelu": flow.gelu}


def run(operator: object, x: flow.Tensor) -> None:
    operator(x)
    flow.synchronize(x.device)


here = flow.randn(ELEMENTS)
others = [device for device in flow.devices() if device.index == 0 and device != here.device]
for device in others:
    there = here.to(device)
    group = f"{device.type}, elementwise float32, 16M elements"
    for name, operator in OPERATORS.items():
        times = interleaved({"oneflow": partial(run, operator, there), "CPU backend": partial(run, operator, here)})
        bounds = [{"peer": "CPU backend", "at_most": 1 / 0.6}]
        report(f"{group}: {name}", times, bounds, unit="ms", group=group)
