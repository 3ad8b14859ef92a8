"""Compares the CUDA backend with PyTorch on the same GPU, in one process.

The time of a kernel is measured until the GPU has finished a batch of calls, the cost of a call until it returns.
Prints nothing if there is no GPU.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import oneflow_py as flow
from benchmarks.cuda.measure import EQUAL, can_run, measure, torch
from benchmarks.timing import report

GIB = 1 << 30
ELEMENTS = 256 << 20


def elementwise() -> None:
    x, y = flow.randn(ELEMENTS, device="cuda"), flow.randn(ELEMENTS, device="cuda")
    tx, ty = torch.randn(ELEMENTS, device="cuda"), torch.randn(ELEMENTS, device="cuda")
    copy = partial(torch.empty_like(tx).copy_, tx)
    bounds = [{"peer": "copy of as many bytes", "at_most": 1 / 0.92}, *EQUAL]
    for name, ours, theirs, operands in (
        ("add", lambda: x + y, lambda: tx + ty, 3),
        ("exp", lambda: flow.exp(x), lambda: torch.exp(tx), 2),
        ("gelu", lambda: flow.gelu(x), lambda: torch.nn.functional.gelu(tx), 2),
    ):
        contestants = {"oneflow": ours, "copy of as many bytes": copy, "PyTorch": theirs}
        factors = {"copy of as many bytes": operands / 2}
        measure(f"CUDA {name}, 256M float32", contestants, bounds, factors=factors)


def strided() -> None:
    group = "CUDA strided operands and reductions, float32"
    n = 8192
    x, row, column = flow.randn(n, n, device="cuda"), flow.randn(n, device="cuda"), flow.randn(n, 1, device="cuda")
    tx, trow, tcolumn = (torch.randn(s, device="cuda") for s in ((n, n), (n,), (n, 1)))
    cube, tcube = flow.randn(256, 512, 512, device="cuda"), torch.randn(256, 512, 512, device="cuda")
    cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "transposed copy, 8192 x 8192": (lambda: x.t().contiguous(), lambda: tx.t().contiguous()),
        "x + x.t()": (lambda: x + x.t(), lambda: tx + tx.t()),
        "permuted copy of 256 x 512 x 512": (
            lambda: cube.permute(2, 0, 1).contiguous(),
            lambda: tcube.permute(2, 0, 1).contiguous(),
        ),
        "x + a row": (lambda: x + row, lambda: tx + trow),
        "x + a column": (lambda: x + column, lambda: tx + tcolumn),
        "every second column + 1": (lambda: x[:, ::2] + 1, lambda: tx[:, ::2] + 1),
        "sum of all": (lambda: flow.sum(x), lambda: torch.sum(tx)),
        "sum over dim 0": (lambda: flow.sum(x, dim=0), lambda: torch.sum(tx, dim=0)),
        "sum over dim 1": (lambda: flow.sum(x, dim=1), lambda: torch.sum(tx, dim=1)),
        "max over dim 1 of 256 x 512 x 512": (lambda: flow.amax(cube, dim=1), lambda: torch.amax(tcube, dim=1)),
        "argmax over dim 1": (lambda: flow.argmax(x, dim=1), lambda: torch.argmax(tx, dim=1)),
    }
    for name, (ours, theirs) in cases.items():
        measure(f"CUDA {name}", {"oneflow": ours, "PyTorch": theirs}, EQUAL, group=group)


def products() -> None:
    bounds = [{"peer": "PyTorch", "at_most": 1 / 0.98}]
    for name, shape, dtype in (
        ("8192 x 8192 x 8192, bfloat16", (8192, 8192), "bfloat16"),
        ("4096 x 4096 x 4096, float32", (4096, 4096), "float32"),
        ("128 of 512 x 512 x 512, bfloat16", (128, 512, 512), "bfloat16"),
        ("128 of 512 x 512 x 512, float32", (128, 512, 512), "float32"),
    ):
        a, b = (flow.randn(*shape, device="cuda").to(dtype) for _ in range(2))
        ta, tb = (torch.randn(shape, device="cuda").to(getattr(torch, dtype)) for _ in range(2))
        contestants = {"oneflow": partial(flow.matmul, a, b), "PyTorch": partial(torch.matmul, ta, tb)}
        measure(f"CUDA matmul {name}", contestants, bounds)


def submission() -> None:
    """Times calls until they return, in batches that are small enough not to fill the queue of the GPU."""
    x, tx = flow.randn(4, device="cuda"), torch.randn(4, device="cuda")
    calls, rounds = 200, 51
    contestants = {
        "oneflow": (lambda: x + x, partial(flow.synchronize, "cuda:0")),
        "PyTorch": (lambda: tx + tx, torch.cuda.synchronize),
    }
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, (function, wait) in contestants.items():
            wait()
            start = time.perf_counter()
            for _ in range(calls):
                function()
            times[name].append((time.perf_counter() - start) / calls)
            wait()
    medians = {name: statistics.median(values) for name, values in times.items()}
    report("CUDA submission of a + b, 4 floats", medians, [{"peer": "PyTorch", "at_most": 0.7}], unit="ns")


def copies() -> None:
    host, there = flow.randn(GIB // 4), flow.empty(GIB // 4, device="cuda")
    thost, tthere = torch.randn(GIB // 4), torch.empty(GIB // 4, device="cuda")
    pinned, tpinned = host.pin_memory(), thost.pin_memory()
    near, tnear = flow.empty(GIB // 4, device="cuda"), torch.empty(GIB // 4, device="cuda")
    for name, ours, theirs in (
        ("device to device, 1 GiB", lambda: near.copy_(there), lambda: tnear.copy_(tthere)),
        ("host to device, 1 GiB pinned", lambda: there.copy_(pinned), lambda: tthere.copy_(tpinned)),
        ("host to device, 1 GiB pageable", lambda: there.copy_(host), lambda: tthere.copy_(thost)),
        ("device to host, 1 GiB pinned", lambda: pinned.copy_(there), lambda: tpinned.copy_(tthere)),
        ("device to host, 1 GiB pageable", lambda: host.copy_(there), lambda: thost.copy_(tthere)),
    ):
        measure(f"CUDA {name}", {"oneflow": ours, "PyTorch": theirs}, [{"peer": "PyTorch", "at_most": 1 / 0.95}])


if can_run():
    for part in (submission, elementwise, strided, products, copies):
        part()
        torch.cuda.empty_cache()
        flow.empty_cache()
