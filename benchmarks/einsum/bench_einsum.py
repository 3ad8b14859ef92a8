"""Compares einsum for the equations of suite.json with NumPy, PyTorch, JAX and opt_einsum on PyTorch, on two threads.

Each result is first checked in double precision. The limits of the machine are measured in the same rounds as the
contestants (machine.cpp): multiply-adds in registers, and copies of memory. Each case belongs to one of three classes:

    compute    at these limits, its operations take at least four times as long as reading and writing its data
    bandwidth  at these limits, its data take at least four times as long as its operations
    overhead   a handful of elements

A case has the bound of its class in addition to the bounds against the peers. Cases of TCCG, the tensor contraction
benchmark, are also compared with the matrix product of the same size by the fastest peer.

    PYTHONPATH=. .venv/bin/python benchmarks/einsum/bench_einsum.py [PART OF AN EQUATION OR A GROUP...]
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "2"

import jax
import numpy as np
import opt_einsum
import torch

import oneflow_py as flow
from benchmarks.timing import interleaved, report

THREADS = 2
HERE = Path(__file__).parent
BUILD = Path(os.environ.get("OF_BUILD", HERE.parents[1] / "build"))
CASES = json.loads((HERE / "suite.json").read_text())["cases"]
PEERS = ("NumPy", "PyTorch", "JAX", "opt_einsum")

Contestants = dict[str, Callable[[], object]]


def limits() -> dict[str, Callable[[], int]]:
    """Returns the limits of the machine as contestants. Each returns the amount of work that it did."""
    library = ctypes.CDLL(str(BUILD / "lib" / "bench_machine.so"))
    functions = {"multiply and add": library.bench_multiply_and_add, "copy": library.bench_copy}
    for function in functions.values():
        function.restype = ctypes.c_int64
    return {name: partial(function, THREADS) for name, function in functions.items()}


def wait(function: Callable[..., Any], *arguments: object) -> None:
    """Calls a function of JAX and waits for its result."""
    function(*arguments).block_until_ready()


def contestants(equation: str, arrays: list[np.ndarray[Any, Any]]) -> Contestants:
    # All contestants but JAX read the same memory, so that the caches serve them alike.
    tensors = [torch.from_numpy(each) for each in arrays]
    ours = [flow.from_numpy(each) for each in arrays]
    shapes = [each.shape for each in arrays]
    theirs = [jax.device_put(each) for each in arrays]
    expression = opt_einsum.contract_expression(equation, *shapes)
    return {
        "oneflow": lambda: flow.einsum(equation, *ours),
        "NumPy": lambda: np.einsum(equation, *arrays, optimize=True),
        "PyTorch": lambda: torch.einsum(equation, *tensors),
        "JAX": partial(wait, jax.jit(partial(jax.numpy.einsum, equation, precision="highest")), *theirs),
        "opt_einsum": lambda: expression(*tensors, backend="torch"),
    }


def check(equation: str, arrays: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Compares the result with one in double precision, and returns it."""
    wide = [torch.from_numpy(each).double() for each in arrays]
    wanted = opt_einsum.contract(equation, *wide, backend="torch").numpy()
    scale = opt_einsum.contract(equation, *[each.abs() for each in wide], backend="torch").numpy()
    found = flow.einsum(equation, *[flow.tensor(each) for each in arrays]).numpy()
    assert found.shape == wanted.shape, equation
    assert np.all(np.abs(found - wanted) <= 1e-5 * scale + 1e-30), equation
    return found


def product_sizes(equation: str, sizes: dict[str, int]) -> tuple[int, int, int]:
    """Returns M, N and K of the matrix product equivalent to a contraction of two operands without batch labels."""
    first, second = equation.partition("->")[0].split(",")
    m, n, k = (
        math.prod(sizes[label] for label in set(labels))
        for labels in (set(first) - set(second), set(second) - set(first), set(first) & set(second))
    )
    return m, n, k


def matrix_products(m: int, n: int, k: int) -> Contestants:
    a, b = (np.random.default_rng(0).standard_normal(size, dtype=np.float32) for size in ((m, k), (k, n)))
    ta, tb = torch.from_numpy(a), torch.from_numpy(b)
    return {
        "NumPy": lambda: a @ b,
        "PyTorch": lambda: ta @ tb,
        "JAX": partial(
            wait, jax.jit(partial(jax.numpy.matmul, precision="highest")), jax.device_put(a), jax.device_put(b)
        ),
    }


def measure(case: dict[str, Any]) -> None:
    equation, sizes, group = case["equation"], case["sizes"], case["group"]
    inputs = equation.partition("->")[0].split(",")
    random = np.random.default_rng(0)
    arrays = [
        np.asarray(random.standard_normal([sizes[label] for label in term]), dtype=case["dtype"]) for term in inputs
    ]
    result = check(equation, arrays)
    info = opt_einsum.contract_path(equation, *arrays, optimize="optimal")[1]
    what = f"{group}: {equation} {' '.join(f'{label}={size}' for label, size in sizes.items())}"
    machine = limits()
    times = interleaved({**contestants(equation, arrays), **machine}, rounds=9, seconds=0.05)
    operations, bytes_ = (work() / times.pop(name) for name, work in machine.items())
    at_peak = float(info.opt_cost) / operations
    moved = (sum(each.nbytes for each in arrays) + result.nbytes) / bytes_
    best = {"peer": "best"}
    bounds: list[dict[str, Any]] = [{**best, "at_most": 1 / 0.95}]
    means = [
        {"group": "suite", **best, "at_most": 1 / 2},
        {"group": "suite against PyTorch", "peer": "PyTorch", "at_most": 1 / 3},
    ]
    references = {}
    if case.get("note", "") in ("tiny K", "tiny batched"):
        bounds.append({**best, "at_most": 1 / 8})
    if group == "tccg":
        blas = interleaved(matrix_products(*product_sizes(equation, sizes)), rounds=9, seconds=0.05)
        references["BLAS"] = min(blas.values())
        bounds.append({"peer": "BLAS", "at_most": 1 / 0.35})
        means += [
            {"group": "TCCG", **best, "at_most": 1 / 2.5},
            {"group": "TCCG against the matrix product", "peer": "BLAS", "at_most": 1 / 0.65},
        ]
    if group != "overhead":
        if at_peak >= 4 * moved:
            references["FMA peak"] = at_peak
            bounds.append(
                {"peer": "FMA peak", "at_most": 1 / (0.93 if equation in ("ij,jk->ik", "ac,cb->ab") else 0.85)}
            )
        elif moved >= 4 * at_peak or group == "bandwidth":
            references["copy"] = moved
            bounds.append({"peer": "copy", "at_most": 1 / 0.85})
    report(what, times, bounds, references=references, means=means)


def main(wanted: list[str]) -> None:
    torch.set_num_threads(THREADS)
    flow.set_num_threads(THREADS)
    for case in CASES:
        if not wanted or any(word in f"{case['group']} {case['equation']}" for word in wanted):
            measure(case)


if __name__ == "__main__":
    main(sys.argv[1:])
