"""Tries the least that everything else needs: the plugin loads, and one addition, one copy and one product are right.

Ends at the first failure, with what is known of it.
"""

from __future__ import annotations

import sys

import torch  # first, so that oneflow uses the cuBLASLt that PyTorch loads

import oneflow_py as flow


def main() -> int:
    if not torch.cuda.is_available():
        print("PyTorch finds no GPU")
    print("devices:", [f"{device.name}: {device}" for device in flow.devices()])
    if not any(device.type == "cuda" for device in flow.devices()):
        print("the plugin provides no devices:", flow.rejected_plugins())
        return 1
    x = flow.arange(1000, dtype="float32")
    there = x.to("cuda")
    is_copied, is_added = there.to("cpu").equal(x), (there + there).to("cpu").equal(x + x)
    print("copied:", is_copied)
    print("added:", is_added)
    a, b = flow.randn(64, 48), flow.randn(48, 80)
    difference = flow.amax(flow.abs((a.to("cuda") @ b.to("cuda")).to("cpu") - a @ b)).item()
    print("largest difference of a product of 64 x 48 x 80:", difference)
    with open("/proc/self/maps") as maps:
        libraries = {line.split()[-1] for line in maps if "cublasLt" in line}
    print("cuBLASLt:", *(libraries or ["not found; products use the shared kernels"]))
    return 0 if is_copied and is_added and difference < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
