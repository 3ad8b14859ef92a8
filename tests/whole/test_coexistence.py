"""Tests that libraries with thread pools and vector functions of their own work beside oneflow in one process.

NumPy brings OpenBLAS, PyTorch brings oneDNN and an OpenMP, and a library that is compiled here uses the compiler's
OpenMP. Whichever is loaded first, all compute, one after the other and at the same time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = """
double dot(const double* x, const double* y, long n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}
"""

# What each part does when it is loaded, and what it computes.
PROGRAM = """
import sys
from concurrent.futures import ThreadPoolExecutor

def load_oneflow():
    import oneflow_py as flow
    x = flow.arange(200 * 300, dtype="float64").reshape(200, 300)
    def work():
        assert flow.einsum("ij,ij->", x, x).item() == sum(i * i for i in range(200 * 300))
        assert abs(flow.exp(flow.log(x[1:])).sum().item() - x[1:].sum().item()) < 1e-3
        assert flow.matmul(x, x.T).trace().item() == (x * x).sum().item()
    return work

def load_numpy():
    import numpy as np
    x = np.arange(200 * 300, dtype="float64").reshape(200, 300)
    def work():
        assert np.trace(x @ x.T) == (x * x).sum()
    return work

def load_torch():
    import torch
    x = torch.arange(2 * 3 * 16 * 16, dtype=torch.float32).reshape(2, 3, 16, 16) / 1000
    kernel = torch.ones(4, 3, 3, 3)
    def work():
        y = torch.nn.functional.conv2d(x, kernel)
        assert torch.allclose(y[0, 0, 0, 0], x[0, :, :3, :3].sum())
        assert torch.allclose(torch.exp(torch.log(x + 1)), x + 1)
    return work

def load_openmp():
    import ctypes
    library = ctypes.CDLL(sys.argv[1])
    library.dot.restype = ctypes.c_double
    numbers = (ctypes.c_double * 100_000)(*range(100_000))
    def work():
        assert library.dot(numbers, numbers, ctypes.c_long(1000)) == sum(i * i for i in range(1000))
    return work

parts = [globals()[f"load_{name}"]() for name in sys.argv[2:]]
for work in parts * 2:
    work()
with ThreadPoolExecutor(len(parts)) as pool:
    for done in [pool.submit(work) for work in parts * 20]:
        done.result()
print("all compute")
"""

PARTS = ("oneflow", "numpy", "torch", "openmp")
# Each pair in both orders.
ORDERS = [PARTS, PARTS[::-1], ("numpy", "openmp", "oneflow", "torch"), ("torch", "oneflow", "openmp", "numpy")]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("openmp")
    (folder / "dot.c").write_text(LIBRARY, encoding="utf-8")
    path = folder / "libdot.so"
    subprocess.run(["cc", "-O2", "-fopenmp", "-shared", "-fPIC", folder / "dot.c", "-o", path], check=True)
    return path


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "-".join(order))
def test_all_compute(order: tuple[str, ...], library: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, library, *order],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
    )
    assert (done.returncode, done.stdout) == (0, "all compute\n"), done.stderr
