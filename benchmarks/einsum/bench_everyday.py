"""Compares einsum for common shapes with NumPy and PyTorch, on one thread.

The cases are matrices of up to 1,000 rows, batches of them, vectors, sums, and operands in other dimension orders;
suite.json has larger ones. NumPy has no bfloat16.

    PYTHONPATH=. .venv/bin/python benchmarks/einsum/bench_everyday.py [PART OF AN EQUATION...]
"""

from __future__ import annotations

import os
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import torch

import oneflow_py as flow
from benchmarks.timing import interleaved, report

# Equations, each with the shapes of the operands; "-" is the shape of a scalar. Cases with a star are also measured
# with the other dtypes.
CASES = """
ik->i 100000x16
* ik->i 10000x100
ik->i 10000x300
ijk->k 100x100x100
ijk->i 100x100x100
ijk->ij 100x100x100
bii->b 10000x16x16
* ijk->j 100x100x100
ijk->ik 100x100x100
ijk->ki 100x100x100
ijk->kj 100x100x100
ijkl->il 20x30x40x50
ii-> 2000x2000
ii->i 2000x2000
iji->j 100x100x100
iij->ji 100x100x100
iij->j 100x100x100
* ij,jk->ik 64x64 64x64
ij,jk->ik 16x16 16x16
* ij,jk->ik 200x200 200x200
ij,jk->ki 200x200 200x200
ji,jk->ik 200x200 200x200
ij,kj->ik 200x200 200x200
ij,jk->ik 1000x10 10x1000
ij,jk->ik 10x1000 1000x10
ij,jk->ik 1000x1000 1000x10
ij,jk->ik 10x1000 1000x1000
ij,jk->ik 1000x1000 1000x3
ij,jk->ik 3x1000 1000x1000
ij,jk->ik 1000x3 3x1000
* bi,oi->bo 4x1024 1024x1024
bi,oi->bo 16x1024 1024x1024
bi,oi->bo 64x1024 1024x1024
bi,io->bo 4x1024 1024x1024
bi,io->bo 16x1024 1024x1024
* ij,j->i 1000x1000 1000
* ij,i->j 1000x1000 1000
j,ij->i 1000 1000x1000
* bij,bjk->bik 1000x8x8 1000x8x8
bij,bjk->bik 1000x3x3 1000x3x3
bij,bjk->bik 1000x5x7 1000x7x6
* bij,bjk->bik 1000x16x16 1000x16x16
bij,bjk->bik 1000x20x20 1000x20x20
bij,bjk->bik 300x32x32 300x32x32
bij,bjk->bik 100x64x64 100x64x64
* bij,bkj->bik 1000x16x16 1000x16x16
bji,bjk->bik 1000x16x16 1000x16x16
ijb,jkb->ikb 16x16x1000 16x16x1000
* bij,bj->bi 1000x30x30 1000x30
bij,bi->bj 1000x30x30 1000x30
* bi,bi->b 1000x300 1000x300
bi,bi->b 10000x10 10000x10
bi,bi->b 100000x3 100000x3
bi,bi->i 1000x300 1000x300
bi,ij,bj->b 500x64 64x64 500x64
bi,bij->bj 500x64 500x64x64
* ijk,k->ij 100x100x100 100
ijk,j->ik 100x100x100 100
ijk,i->jk 100x100x100 100
ijkl,k->ijl 30x30x30x30 30
ijkl,kl->ij 30x30x30x30 30x30
ijkl,ij->kl 30x30x30x30 30x30
ijkl,ik->jl 30x30x30x30 30x30
ijkl,jl->ik 30x30x30x30 30x30
* ijkl,lm->ijkm 30x30x30x30 30x20
ijkl,jm->imkl 30x30x30x30 30x20
ijkl,im->mjkl 30x30x30x30 30x20
ijkl,km->ijml 30x30x30x30 30x20
ijkl,klmn->ijmn 20x20x20x20 20x20x20x20
ijkl,lkmn->ijmn 20x20x20x20 20x20x20x20
ijkl,jinm->klnm 20x20x20x20 20x20x20x20
ijk,jl->ikl 50x50x50 50x50
ijk,kl,lm->ijm 50x50x50 50x50 50x50
i,i-> 1000 1000
* i,i-> 100000 100000
i,i->i 100000 100000
i,->i 100000 -
ab,cd->abcd 30x30 30x30
ab,cd->acbd 30x30 30x30
ab,bc,ca-> 100x100 100x100 100x100
ab,ab-> 300x300 300x300
abc,abc->c 100x100x100 100x100x100
abc,abc->a 100x100x100 100x100x100
abc,abc->b 100x100x100 100x100x100
abc,cba->b 100x100x100 100x100x100
abc,bac->c 100x100x100 100x100x100
abc,bad->cd 60x60x60 60x60x60
abc,acd->bd 60x60x60 60x60x60
* abcd,bcde->ae 20x20x20x20 20x20x20x20
tbh,hk->tbk 100x16x64 64x256
tbh,kh->tbk 100x16x64 256x64
oihw,bihw->bo 32x16x9x9 64x16x9x9
bchw,oc->bohw 4x32x28x28 64x32
bhwc,co->bhwo 4x28x28x32 32x64
bnqd,bnkd->bnqk 4x8x64x64 4x8x64x64
bnqk,bnkd->bnqd 4x8x64x64 4x8x64x64
bqnd,bknd->bnqk 4x64x8x64 4x64x8x64
bnqk,bknd->bqnd 4x8x64x64 4x64x8x64
bnd,bnd->bn 64x128x64 64x128x64
bsd,bsd->bd 64x128x64 64x128x64
bs,bsd->bd 64x128 64x128x64
bsd,d->bs 64x128x64 64
bsd,bd->bs 64x128x64 64x64
ij,kj,lj->ikl 40x64 40x64 40x64
ir,jr,kr->ijk 50x10 50x10 50x10
i,j,k,l->ijkl 30 30 30 30
iij,jkk->ik 50x50x50 50x50x50
ij,jj->i 1000x1000 1000x1000
ij,ji->ij 1000x1000 1000x1000
ij,ij->ji 1000x1000 1000x1000
ij,ji-> 1000x1000 1000x1000
abcd,cdab->abcd 32x32x32x32 32x32x32x32
ij,j,k->ikj 300x50 50 80
bij,ji->bij 100x100x100 100x100
ij,i->ij 1000x1000 1000
ij,j->ij 1000x1000 1000
ij,i->ji 1000x1000 1000
bi,bj->bij 1000x30 1000x30
ia,ib->iab 10000x8 10000x8
nf,f->nf 10000x64 64
nhwc,c->nhwc 8x56x56x64 64
nchw,c->nchw 8x64x56x56 64
nchw,c->nhwc 8x64x56x56 64
n,f->nf 10000 3
n,f->fn 10000 3
* i,j->ij 1000 1000
* ij,ji->ij 300x300 300x300
"""
DTYPES = ["float32", "float64", "complex64", "float16", "bfloat16"]


def operand(sizes: str, dtype: str, random: np.random.Generator) -> np.ndarray:
    shape = [] if sizes == "-" else [int(size) for size in sizes.split("x")]
    numbers = random.standard_normal(shape)
    if dtype == "bfloat16":
        return np.asarray(numbers, "float32")
    return np.asarray(numbers + 1j * numbers if dtype == "complex64" else numbers, dtype)


def measure(equation: str, sizes: list[str], dtype: str, group: str = "every day") -> None:
    random = np.random.default_rng(0)
    arrays = [operand(each, dtype, random) for each in sizes]
    ours = [flow.from_numpy(each).to(dtype) for each in arrays]
    tensors = [torch.from_numpy(each).to(getattr(torch, dtype)) for each in arrays]
    # The peers may return views. Ours are contiguous in the order of the equation, so theirs are made contiguous too.
    contestants = {
        "oneflow": lambda: flow.einsum(equation, *ours),
        "NumPy": lambda: np.ascontiguousarray(np.einsum(equation, *arrays, optimize=True)),
        "PyTorch": lambda: torch.einsum(equation, *tensors).contiguous(),
    }
    if dtype == "bfloat16":
        del contestants["NumPy"]
    means = [{"group": f"{group}, {dtype}", "peer": "best", "at_most": 1.0}]
    what = f"{dtype}: {equation} {' '.join(sizes)}"
    report(what, interleaved(contestants, rounds=5), [{"peer": "best", "at_most": 1 / 0.95}], means=means)


def use_one_thread() -> None:
    torch.set_num_threads(1)
    flow.set_num_threads(1)


def main(wanted: list[str]) -> None:
    use_one_thread()
    for dtype in DTYPES:
        for case in CASES.strip().splitlines():
            equation, *sizes = case.removeprefix("* ").split()
            is_measured = dtype == "float32" or case.startswith("*")
            if is_measured and (not wanted or any(word in equation for word in wanted)):
                measure(equation, sizes, dtype)


if __name__ == "__main__":
    main(sys.argv[1:])
