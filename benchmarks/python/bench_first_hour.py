"""Compares the operators of a first hour, at everyday sizes, with NumPy and PyTorch, on as many threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import oneflow_py as flow
from benchmarks.timing import interleaved, report

# Lets malloc keep the memory of large results. The peers, which have no cache of their own for it, would otherwise
# spend most of their time on page faults.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
for parameter in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
    ctypes.CDLL(None).mallopt(parameter, 1 << 30)

torch.set_num_threads(flow.get_num_threads())
random = np.random.default_rng(0)

Call = Callable[[], object]
# The cases that must reach 0.85 of the speed of the faster peer; small slices must reach 0.7 of NumPy's, all others 0.7
# of the faster peer.
MUSTS = {
    "tan",
    "argmax over dim 1",
    "flip of a vector",
    "flip of rows",
    "roll of rows",
    "sort",
    "sort of rows",
    "topk of rows",
    "randperm",
    "gather of rows",
    "softmax over dim 1",
    "log_softmax over dim 1",
    "linear 64x1024x1024",
}


def compare(group: str, name: str, ours: Call, numpy: Call | None, pytorch: Call | None) -> None:
    """Prints the row of a case: the time of a call, and those of the peers that have the operator."""
    contestants = {"oneflow": ours, "NumPy": numpy, "PyTorch": pytorch}
    times = interleaved({name: call for name, call in contestants.items() if call}, rounds=9)
    peer = "NumPy" if group == "small" else "best"
    at_most = 1 / 0.85 if name in MUSTS else 1 / 0.7
    report(f"{group}: {name}", times, [{"peer": peer, "at_most": at_most}])


def shared(array: np.ndarray[Any, Any]) -> tuple[Any, Any, Any]:
    """Returns an array, and tensors of both libraries over the same memory."""
    return array, flow.from_numpy(array), torch.from_numpy(array)


N = 1 << 20
a, x, t = shared(random.standard_normal(N, dtype=np.float32))
b, y, u = shared(random.standard_normal(N, dtype=np.float32))
p, px, pt = shared(np.abs(a) + np.float32(0.1))
mask, mx, mt = shared(a > 0)
integers, ix, it = shared(random.integers(0, 1000, N))
divisors, dx, dt = shared(random.integers(1, 30, N))

GROUP = "1M float32"
for name in ["exp", "sin", "tanh", "abs", "floor"]:
    calls = [getattr(library, name) for library in (flow, np, torch)]
    compare(GROUP, name, lambda f=calls[0]: f(x), lambda f=calls[1]: f(a), lambda f=calls[2]: f(t))
for name in ["log", "sqrt", "log1p"]:
    calls = [getattr(library, name) for library in (flow, np, torch)]
    compare(GROUP, name, lambda f=calls[0]: f(px), lambda f=calls[1]: f(p), lambda f=calls[2]: f(pt))
compare(GROUP, "a + b", lambda: x + y, lambda: a + b, lambda: t + u)
compare(GROUP, "a / b", lambda: x / y, lambda: a / b, lambda: t / u)
compare(GROUP, "a * 2 + 1", lambda: x * 2 + 1, lambda: a * 2 + 1, lambda: t * 2 + 1)
compare(GROUP, "a ** 2", lambda: x**2, lambda: a**2, lambda: t**2)
compare(GROUP, "a ** b", lambda: px**y, lambda: p**b, lambda: pt**u)
compare(GROUP, "a > b", lambda: x > y, lambda: a > b, lambda: t > u)
compare(GROUP, "maximum", lambda: flow.maximum(x, y), lambda: np.maximum(a, b), lambda: torch.maximum(t, u))
compare(GROUP, "clamp", lambda: x.clamp(-1, 1), lambda: np.clip(a, -1, 1), lambda: t.clamp(-1, 1))
compare(GROUP, "where", lambda: flow.where(mx, x, y), lambda: np.where(mask, a, b), lambda: torch.where(mt, t, u))
compare(GROUP, "relu", lambda: flow.relu(x), lambda: np.maximum(a, 0), lambda: torch.relu(t))
compare(GROUP, "sigmoid", lambda: flow.sigmoid(x), None, lambda: torch.sigmoid(t))
compare(GROUP, "gelu", lambda: flow.gelu(x), None, lambda: torch.nn.functional.gelu(t))
compare(GROUP, "to float64", lambda: x.to(flow.float64), lambda: a.astype(np.float64), lambda: t.to(torch.float64))
compare(GROUP, "integers // integers", lambda: ix // dx, lambda: integers // divisors, lambda: it // dt)
compare(GROUP, "integers % 7", lambda: ix % 7, lambda: integers % 7, lambda: it % 7)

for count in (1 << 12, 1 << 20):
    d, df, dp = shared(random.standard_normal(count))
    compare(f"{count} float64", "tan", lambda x=df: flow.tan(x), lambda a=d: np.tan(a), lambda t=dp: torch.tan(t))
    d, df, dp = shared(random.standard_normal(count, dtype=np.float32))
    compare(f"{count} float32", "tan", lambda x=df: flow.tan(x), lambda a=d: np.tan(a), lambda t=dp: torch.tan(t))

m, mf, mp = shared(random.standard_normal((1024, 1024), dtype=np.float32))
row, rf, rp = shared(random.standard_normal(1024, dtype=np.float32))
truths, tf, tp = shared(m > 5)

GROUP = "1024x1024 float32"
for name in ["sum", "mean", "max", "std"]:
    calls = [getattr(library, name) for library in (flow, np, torch)]
    compare(GROUP, f"{name} of all", lambda f=calls[0]: f(mf), lambda f=calls[1]: f(m), lambda f=calls[2]: f(mp))
for dim in (0, 1):
    for name in ["sum", "argmax"]:
        calls = [getattr(library, name) for library in (flow, np, torch)]
        compare(
            GROUP,
            f"{name} over dim {dim}",
            lambda f=calls[0], d=dim: f(mf, d),
            lambda f=calls[1], d=dim: f(m, d),
            lambda f=calls[2], d=dim: f(mp, d),
        )
    compare(GROUP, f"amax over dim {dim}", lambda d=dim: mf.amax(d), lambda d=dim: m.max(d), lambda d=dim: mp.amax(d))
    compare(GROUP, f"var over dim {dim}", lambda d=dim: mf.var(d), lambda d=dim: m.var(d), lambda d=dim: mp.var(d))
    compare(
        GROUP,
        f"cumsum over dim {dim}",
        lambda d=dim: mf.cumsum(d),
        lambda d=dim: m.cumsum(d),
        lambda d=dim: mp.cumsum(d),
    )
compare(GROUP, "min over dim 1", lambda: flow.min(mf, 1), None, lambda: torch.min(mp, 1))
compare(GROUP, "any", lambda: tf.any(), lambda: truths.any(), lambda: tp.any())
compare(GROUP, "norm", lambda: flow.norm(mf), lambda: np.linalg.norm(m), lambda: torch.norm(mp))
compare(GROUP, "plus a row", lambda: mf + rf, lambda: m + row, lambda: mp + rp)
compare(GROUP, "softmax over dim 1", lambda: flow.softmax(mf, 1), None, lambda: torch.softmax(mp, 1))
compare(GROUP, "log_softmax over dim 1", lambda: flow.log_softmax(mf, 1), None, lambda: torch.log_softmax(mp, 1))
compare(
    GROUP,
    "layer_norm",
    lambda: flow.layer_norm(mf, [1024]),
    None,
    lambda: torch.nn.functional.layer_norm(mp, [1024]),
)

GROUP = "arranging float32"
compare(GROUP, "flip of a vector", lambda: flow.flip(x, [0]), lambda: np.flip(a).copy(), lambda: torch.flip(t, [0]))
compare(GROUP, "flip of rows", lambda: flow.flip(mf, [1]), lambda: np.flip(m, 1).copy(), lambda: torch.flip(mp, [1]))
compare(GROUP, "flip of columns", lambda: flow.flip(mf, [0]), lambda: np.flip(m, 0).copy(), lambda: torch.flip(mp, [0]))
compare(GROUP, "roll of rows", lambda: flow.roll(mf, 3, 1), lambda: np.roll(m, 3, 1), lambda: torch.roll(mp, 3, 1))
compare(GROUP, "roll of columns", lambda: flow.roll(mf, 3, 0), lambda: np.roll(m, 3, 0), lambda: torch.roll(mp, 3, 0))
compare(GROUP, "transposed copy", lambda: mf.T.contiguous(), lambda: m.T.copy(), lambda: mp.T.contiguous())
compare(GROUP, "clone", lambda: (+mf).clone(), lambda: (+m).copy(), lambda: (+mp).clone())
compare(GROUP, "cat", lambda: flow.cat([mf, mf], 1), lambda: np.concatenate([m, m], 1), lambda: torch.cat([mp, mp], 1))
compare(GROUP, "stack", lambda: flow.stack([mf, mf]), lambda: np.stack([m, m]), lambda: torch.stack([mp, mp]))
compare(
    GROUP, "tile", lambda: flow.tile(rf, [1024, 1]), lambda: np.tile(row, (1024, 1)), lambda: torch.tile(rp, (1024, 1))
)
compare(
    GROUP,
    "pad",
    lambda: flow.pad(mf, [1, 1]),
    lambda: np.pad(m, ((0, 0), (1, 1))),
    lambda: torch.nn.functional.pad(mp, [1, 1]),
)
compare(GROUP, "tril", lambda: flow.tril(mf), lambda: np.tril(m), lambda: torch.tril(mp))
compare(GROUP, "strided slice", lambda: mf[::2, ::2] * 2, lambda: m[::2, ::2] * 2, lambda: mp[::2, ::2] * 2)

GROUP = "sorting"


def numpy_sort(array: np.ndarray[Any, Any]) -> tuple[object, object]:
    """Sorts as the other libraries do, which return indices, too."""
    order = np.argsort(array, -1)
    return np.take_along_axis(array, order, -1), order


compare(GROUP, "sort", lambda: flow.sort(x), lambda: numpy_sort(a), lambda: torch.sort(t))
compare(GROUP, "sort of rows", lambda: flow.sort(mf, 1), lambda: numpy_sort(m), lambda: torch.sort(mp, 1))
compare(GROUP, "sort of int64", lambda: flow.sort(ix), lambda: numpy_sort(integers), lambda: torch.sort(it))
compare(GROUP, "sort, NumPy's without indices", lambda: flow.sort(x), lambda: np.sort(a), None)
compare(GROUP, "sort of rows, NumPy's without indices", lambda: flow.sort(mf, 1), lambda: np.sort(m, 1), None)
compare(GROUP, "topk of rows", lambda: flow.topk(mf, 10), None, lambda: torch.topk(mp, 10))
compare(GROUP, "topk of a vector", lambda: flow.topk(x, 100), None, lambda: torch.topk(t, 100))
compare(GROUP, "randperm", lambda: flow.randperm(N), lambda: random.permutation(N), lambda: torch.randperm(N))

order, of_, ot = shared(random.permutation(1024))
along, af, at = shared(random.integers(0, 1024, (1024, 1024)))

GROUP = "indexing"
compare(
    GROUP,
    "gather of rows",
    lambda: flow.gather(mf, 1, af),
    lambda: np.take_along_axis(m, along, 1),
    lambda: torch.gather(mp, 1, at),
)
compare(
    GROUP,
    "gather of columns",
    lambda: flow.gather(mf, 0, af),
    lambda: np.take_along_axis(m, along, 0),
    lambda: torch.gather(mp, 0, at),
)
compare(
    GROUP,
    "index_select of rows",
    lambda: flow.index_select(mf, 0, of_),
    lambda: m.take(order, 0),
    lambda: mp.index_select(0, ot),
)
compare(
    GROUP,
    "index_select of columns",
    lambda: flow.index_select(mf, 1, of_),
    lambda: m.take(order, 1),
    lambda: mp.index_select(1, ot),
)
compare(GROUP, "x[order]", lambda: mf[of_], lambda: m[order], lambda: mp[ot])
compare(GROUP, "x[mask]", lambda: x[mx], lambda: a[mask], lambda: t[mt])
compare(GROUP, "nonzero", lambda: flow.nonzero(mx), lambda: np.nonzero(mask), lambda: torch.nonzero(mt))
compare(GROUP, "masked_fill", lambda: x.masked_fill(mx, 0), None, lambda: t.masked_fill(mt, 0))
compare(GROUP, "one_hot", lambda: flow.one_hot(of_, 1024), None, lambda: torch.nn.functional.one_hot(ot, 1024))

weights, wf, wp = shared(random.standard_normal((1024, 1024), dtype=np.float32))
batch, bf, bp = shared(random.standard_normal((64, 1024), dtype=np.float32))
small, sf, sp = shared(random.standard_normal((64, 64, 64), dtype=np.float32))

GROUP = "products float32"
compare(
    GROUP,
    "linear 64x1024x1024",
    lambda: flow.linear(bf, wf, rf),
    lambda: batch @ weights.T + row,
    lambda: torch.nn.functional.linear(bp, wp, rp),
)
compare(GROUP, "matmul 1024x1024x1024", lambda: mf @ wf, lambda: m @ weights, lambda: mp @ wp)
compare(GROUP, "matrix times vector", lambda: mf @ rf, lambda: m @ row, lambda: mp @ rp)
compare(GROUP, "dot", lambda: x @ y, lambda: a @ b, lambda: t @ u)
compare(GROUP, "batch of 64x64x64", lambda: sf @ sf, lambda: small @ small, lambda: sp @ sp)
compare(GROUP, "outer", lambda: flow.outer(rf, rf), lambda: np.outer(row, row), lambda: torch.outer(rp, rp))

s, sx, st = shared(random.standard_normal((8, 8), dtype=np.float32))

GROUP = "small"
compare(GROUP, "x[1]", lambda: sx[1], lambda: s[1], lambda: st[1])
compare(GROUP, "x[1:3]", lambda: sx[1:3], lambda: s[1:3], lambda: st[1:3])
compare(GROUP, "x[1:3, 2:5]", lambda: sx[1:3, 2:5], lambda: s[1:3, 2:5], lambda: st[1:3, 2:5])
compare(GROUP, "x[:, 1]", lambda: sx[:, 1], lambda: s[:, 1], lambda: st[:, 1])
compare(GROUP, "x[..., None]", lambda: sx[..., None], lambda: s[..., None], lambda: st[..., None])
compare(GROUP, "reshape", lambda: sx.reshape(4, 16), lambda: s.reshape(4, 16), lambda: st.reshape(4, 16))
compare(GROUP, "transpose", lambda: sx.T, lambda: s.T, lambda: st.T)
compare(GROUP, "x + x", lambda: sx + sx, lambda: s + s, lambda: st + st)
compare(GROUP, "sum", lambda: sx.sum(), lambda: s.sum(), lambda: st.sum())
