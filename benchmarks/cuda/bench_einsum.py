"""Compares einsum at the sizes that suite.json gives for a GPU with PyTorch and CuPy, in one process.

No contestant rounds the factors of float32. Each of our results is first compared with PyTorch's. Prints nothing if
there is no GPU.

    PYTHONPATH=. python benchmarks/cuda/bench_einsum.py [PART OF AN EQUATION OR A GROUP...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

try:
    import cupy
except ImportError:
    cupy = None

import oneflow_py as flow
from benchmarks.cuda.measure import can_run, measure, torch

SUITE = Path(__file__).parents[1] / "einsum" / "suite.json"


def is_close(equation: str, found: Any, operands: list[Any]) -> bool:
    """Returns whether a result agrees with PyTorch's, relative to the sum of the absolute values of what is added."""
    scale = torch.einsum(equation, *(x.abs() for x in operands))
    return bool(((found - torch.einsum(equation, *operands)).abs() <= 1e-5 * scale).all())


def measure_case(case: dict[str, Any]) -> None:
    equation, sizes = case["equation"], case["gpu_sizes"]
    terms = equation.partition("->")[0].split(",")
    ours = [flow.randn(*(sizes[label] for label in term), device="cuda") for term in terms]
    theirs = [torch.from_numpy(x.to("cpu").numpy()).cuda() for x in ours]
    arrays = [cupy.from_dlpack(x) for x in theirs]
    found = torch.from_numpy(flow.einsum(equation, *ours).to("cpu").numpy()).cuda()
    assert is_close(equation, found, theirs), equation
    del found
    measure(
        f"CUDA {case['group']}: {equation} {' '.join(f'{label}={size}' for label, size in sizes.items())}",
        {
            "oneflow": lambda: flow.einsum(equation, *ours),
            "PyTorch": lambda: torch.einsum(equation, *theirs),
            "CuPy": lambda: cupy.einsum(equation, *arrays, optimize=True),
        },
        [{"peer": "best", "at_most": 1 / 0.95}],
        means=[{"group": "CUDA einsum suite", "peer": "best", "at_most": 1 / 1.2}],
    )


def main(wanted: list[str]) -> None:
    if not can_run():
        return
    if cupy is None:
        print("not run: this needs CuPy", file=sys.stderr)
        return
    for case in json.loads(SUITE.read_text())["cases"]:
        name = f"{case['group']} {case['equation']}"
        if "gpu_sizes" not in case or (wanted and not any(word in name for word in wanted)):
            continue
        measure_case(case)
        torch.cuda.empty_cache()
        cupy.get_default_memory_pool().free_all_blocks()
        flow.empty_cache()


if __name__ == "__main__":
    main(sys.argv[1:])
