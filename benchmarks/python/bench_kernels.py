"""Compares elementwise operators, reductions and large results with NumPy and PyTorch, on as many threads."""

import numpy as np
import torch

import oneflow_py as flow
from benchmarks.timing import interleaved, report

torch.set_num_threads(flow.get_num_threads())
random = np.random.default_rng(0)

a, b = (random.standard_normal(1 << 20, dtype=np.float32) for _ in range(2))
condition = a > 0
x, y, c = flow.from_numpy(a), flow.from_numpy(b), flow.from_numpy(condition)
tx, ty, tc = torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy(condition)
elementwise = {
    "add": {"oneflow": lambda: flow.add(x, y), "NumPy": lambda: np.add(a, b), "PyTorch": lambda: torch.add(tx, ty)},
    "exp": {"oneflow": lambda: flow.exp(x), "NumPy": lambda: np.exp(a), "PyTorch": lambda: torch.exp(tx)},
    "tanh": {"oneflow": lambda: flow.tanh(x), "NumPy": lambda: np.tanh(a), "PyTorch": lambda: torch.tanh(tx)},
    "gelu": {"oneflow": lambda: flow.gelu(x), "PyTorch": lambda: torch.nn.functional.gelu(tx)},
    "where": {
        "oneflow": lambda: flow.where(c, x, y),
        "NumPy": lambda: np.where(condition, a, b),
        "PyTorch": lambda: torch.where(tc, tx, ty),
    },
}
GROUP = "elementwise float32, 1M elements"
for name, contestants in elementwise.items():
    report(f"{GROUP}: {name}", interleaved(contestants), [{"peer": "best", "at_most": 1.0}], group=GROUP)

m = random.standard_normal((4096, 1024), dtype=np.float32)
x, tx = flow.from_numpy(m), torch.from_numpy(m)
GROUP = "reductions float32, 4096x1024"
for dim in (1, 0):
    folds = {
        "sum": (lambda d=dim: flow.sum(x, d), lambda d=dim: torch.sum(tx, d)),
        "max": (lambda d=dim: flow.max(x, d), lambda d=dim: torch.max(tx, d)),
        "argmax": (lambda d=dim: flow.argmax(x, d), lambda d=dim: torch.argmax(tx, d)),
    }
    for name, (ours, peers) in folds.items():
        times = interleaved({"oneflow": ours, "PyTorch": peers})
        report(f"{GROUP}: {name} over dim {dim}", times, [{"peer": "PyTorch", "at_most": 1 / 0.9}], group=GROUP)

others = {
    "sum of all": (lambda: flow.sum(x), lambda: torch.sum(tx)),
    "softmax over dim 1": (lambda: flow.softmax(x, 1), lambda: torch.softmax(tx, 1)),
    "plus a column": (lambda: x + x[:, :1], lambda: tx + tx[:, :1]),
    "clamp": (lambda: flow.clamp(x, -1, 1), lambda: torch.clamp(tx, -1, 1)),
    "remainder": (lambda: x % 0.7, lambda: tx % 0.7),
    "square by power": (lambda: x**2, lambda: tx**2),
    "randn": (lambda: flow.randn(4096, 1024), lambda: torch.randn(4096, 1024)),
}
for name, (ours, peers) in others.items():
    report(f"float32, 4096x1024: {name}", interleaved({"oneflow": ours, "PyTorch": peers}), [])

a = np.ones(1 << 26, dtype=np.float32)
x, tx = flow.from_numpy(a), torch.from_numpy(a)
times = interleaved({"oneflow": lambda: x + x, "NumPy": lambda: a + a, "PyTorch": lambda: tx + tx}, rounds=7)
report("64M-element float32 add, fresh result", times, [{"peer": "PyTorch", "at_most": 1 / 1.3}], unit="ms")

n = 1024
a, b = (random.standard_normal((n, n), dtype=np.float32) for _ in range(2))
x, y, tx, ty = flow.from_numpy(a), flow.from_numpy(b), torch.from_numpy(a), torch.from_numpy(b)
times = interleaved({"oneflow": lambda: x @ y, "NumPy": lambda: a @ b, "PyTorch": lambda: tx @ ty})
report("matmul float32, 1024x1024x1024", times, [], unit="us")
