"""Compares operators beyond those of a first hour with PyTorch's functions of the same name, on as many threads.

Every case is one expression over a library `lib` and tensors that both libraries share. Each must reach 0.7 of
PyTorch's speed, and the geometric mean of each group its speed.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

import oneflow_py as flow
from benchmarks.timing import interleaved, report

# Lets malloc keep the memory of large results, as PyTorch has no cache of its own for it on the CPU.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
for parameter in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
    ctypes.CDLL(None).mallopt(parameter, 1 << 30)

torch.set_num_threads(flow.get_num_threads())
random = np.random.default_rng(0)

N = 1 << 18
normal = functools.partial(random.standard_normal, dtype=np.float32)
complex_ = (normal(N) + 1j * normal(N)).astype(np.complex64)
ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "a": normal(N), "b": normal(N), "p": np.abs(normal(N)) + np.float32(0.1), "m": normal((512, 512)),
    "n": normal((512, 512)), "z": complex_, "w": complex_[::-1].copy(), "zm": complex_.reshape(512, 512),
    "i": random.integers(0, 512, (512, 512)), "row": random.integers(0, 512, 512), "k": random.integers(0, 1000, N),
    "mask": normal((512, 512)) > 0, "edges": np.sort(normal(1000)), "points": normal((512, 3)),
    "others": normal((512, 3)), "images": normal((4, 16, 64, 64)), "weights": np.abs(normal(1000)),
}  # fmt: skip
OURS = SimpleNamespace(**{name: flow.from_numpy(array) for name, array in ARRAYS.items()})
THEIRS = SimpleNamespace(**{name: torch.from_numpy(array) for name, array in ARRAYS.items()})

GROUPS: dict[str, list[str]] = {
    "elementwise": [
        "lib.lerp(t.a, t.b, 0.3)", "lib.addcmul(t.a, t.b, t.p)", "lib.addcdiv(t.a, t.b, t.p)", "lib.hypot(t.a, t.b)",
        "lib.logaddexp(t.a, t.b)", "lib.copysign(t.a, t.b)", "lib.xlogy(t.p, t.p)", "lib.nan_to_num(t.a)",
        "lib.asinh(t.a)", "lib.erfc(t.a)", "lib.erfinv(lib.tanh(t.a))", "lib.lgamma(t.p)", "lib.digamma(t.p)",
        "lib.sinc(t.a)", "lib.frac(t.a)", "lib.isclose(t.a, t.b)", "lib.heaviside(t.a, t.b)",
        "lib.nn.functional.selu(t.a)", "lib.nn.functional.celu(t.a)", "lib.nn.functional.softsign(t.a)",
        "lib.nn.functional.hardsigmoid(t.a)", "lib.nn.functional.relu6(t.a)", "lib.nn.functional.glu(t.m)",
        "lib.nn.functional.prelu(t.m, t.p[:1])",
    ],
    "folds": [
        "lib.nansum(t.m, 1)", "lib.std_mean(t.m, 1)", "lib.aminmax(t.m, dim=1)", "lib.median(t.m, 1)",
        "lib.quantile(t.m, 0.3, dim=1)", "lib.cummax(t.m, 1)", "lib.logcumsumexp(t.m, 1)", "lib.cumprod(t.m, 1)",
        "lib.logsumexp(t.m, 1)", "lib.kthvalue(t.m, 7, 1)", "lib.norm(t.m, 2.0, 1)", "lib.nn.functional.normalize(t.m)",
        "lib.nn.functional.cosine_similarity(t.m, t.n)", "lib.cdist(t.points, t.others)",
        "lib.cross(t.points, t.others)",
    ],
    "arranging": [
        "lib.diff(t.m)", "lib.repeat_interleave(t.m, 3, 1)", "lib.rot90(t.m)", "lib.diag_embed(t.m[:64])",
        "lib.tril(t.m)", "lib.nn.functional.pixel_shuffle(t.images, 2)",
        "lib.nn.functional.interpolate(t.images, scale_factor=2.0)",
        "lib.nn.functional.interpolate(t.images, scale_factor=2.0, mode='bilinear')",
        "lib.nn.functional.max_pool2d(t.images, 2)", "lib.nn.functional.max_pool2d(t.images, 2, return_indices=True)",
        "lib.nn.functional.avg_pool2d(t.images, 2)",
    ],
    "indexing": [
        "lib.take_along_dim(t.m, t.i, 1)", "lib.take(t.m, t.i)", "lib.index_add(t.m, 0, t.row, t.n)",
        "lib.index_copy(t.m, 0, t.row, t.n)", "lib.scatter(t.m, 1, t.i, t.n)", "lib.scatter_add(t.m, 1, t.i, t.n)",
        "lib.masked_select(t.m, t.mask)", "t.m.masked_scatter(t.mask, t.n)", "lib.argwhere(t.mask)",
        "lib.searchsorted(t.edges, t.a)", "lib.bucketize(t.a, t.edges)", "lib.bincount(t.k)", "lib.isin(t.k, t.row)",
        "lib.unique(t.k)", "lib.histc(t.a, 100)", "lib.multinomial(t.weights, 1000, True)",
    ],
    "complex": [
        "t.z * t.w", "t.z + t.w", "t.z / t.w", "lib.abs(t.z)", "lib.angle(t.z)", "lib.exp(t.z)", "lib.log(t.z)",
        "lib.sqrt(t.z)", "lib.sin(t.z)", "lib.tanh(t.z)", "lib.sum(t.zm, 1)", "lib.prod(t.zm, 1)", "t.zm @ t.zm",
        "lib.polar(t.p, t.a)",
    ],
}  # fmt: skip

wanted = sys.argv[1:] or list(GROUPS)
for group in wanted:
    for expression in GROUPS[group]:
        call = eval(f"lambda lib, t: {expression}")
        ours, theirs = functools.partial(call, flow, OURS), functools.partial(call, torch, THEIRS)
        text = expression.replace("lib.nn.functional.", "").replace("lib.", "").replace("t.", "")
        times = interleaved({"oneflow": ours, "PyTorch": theirs}, rounds=7)
        means = [{"group": group, "peer": "best", "at_most": 1.0}]
        report(f"{group}: {text}", times, [{"peer": "best", "at_most": 1 / 0.7}], means=means)
