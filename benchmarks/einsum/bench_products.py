"""Products of matrices of random sizes, orders and batches, against NumPy and PyTorch on one thread: looks for shapes
that lists of cases lack. Prints how often einsum is slower than the better peer, and where it is slowest.

    .venv/bin/python benchmarks/einsum/bench_products.py [SEED [SECONDS [DTYPE]]]
"""

from __future__ import annotations

import math
import os
import random
import sys
import time
from collections.abc import Callable

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import torch

import oneflow_py as flow

SIZES = [1, 2, 3, 4, 5, 7, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 400, 512, 1000, 1024, 2000]
BATCHES = [2, 8, 16, 32, 100, 500, 1000]
LEAST_WORK, MOST_WORK, MOST_ELEMENTS = 2e4, 3e7, 4e6
SLOWEST = 30


def best_of(call: Callable[[], object]) -> float:
    """Microseconds of the quickest call in about 12 ms."""
    call()
    best, calls, start = math.inf, 0, time.perf_counter()
    while calls < 3 or time.perf_counter() - start < 0.012:
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
        calls += 1
    return best * 1e6


def choose(numbers: random.Random) -> tuple[str, dict[str, int]]:
    """An equation of two matrices, perhaps with a batch before or between their labels, and the sizes of its labels."""
    sizes = {label: numbers.choice(SIZES) for label in "ijk"}
    terms = [numbers.choice(orders) for orders in (["ij", "ji"], ["jk", "kj"], ["ik", "ik", "ki"])]
    if numbers.random() < 1 / 3:
        sizes["b"] = numbers.choice(BATCHES)
        at = numbers.choice([0, 0, 1])
        terms = [term[:at] + "b" + term[at:] for term in terms]
    return f"{terms[0]},{terms[1]}->{terms[2]}", sizes


def is_measurable(equation: str, sizes: dict[str, int]) -> bool:
    terms = equation.replace("->", ",").split(",")
    elements = (math.prod(sizes[label] for label in term) for term in terms)
    return max(elements) <= MOST_ELEMENTS and LEAST_WORK <= math.prod(sizes.values()) <= MOST_WORK


def measure(equation: str, sizes: dict[str, int], dtype: str) -> dict[str, float]:
    generator = np.random.default_rng(0)
    terms = equation.split("->")[0].split(",")
    arrays = [generator.standard_normal([sizes[label] for label in term]).astype(dtype) for term in terms]
    ours, tensors = [flow.from_numpy(each) for each in arrays], [torch.from_numpy(each) for each in arrays]
    return {
        "oneflow": best_of(lambda: flow.einsum(equation, *ours)),
        "PyTorch": best_of(lambda: torch.einsum(equation, *tensors).contiguous()),
        "NumPy": best_of(lambda: np.einsum(equation, *arrays, optimize=True)),
    }


def main(seed: int = 0, seconds: int = 60, dtype: str = "float32") -> None:
    torch.set_num_threads(1)
    flow.set_num_threads(1)
    numbers, end = random.Random(seed), time.monotonic() + seconds
    found = []
    while time.monotonic() < end:
        equation, sizes = choose(numbers)
        if is_measurable(equation, sizes):
            times = measure(equation, sizes, dtype)
            found.append((times["oneflow"] / min(times["PyTorch"], times["NumPy"]), equation, sizes, times))
    found.sort(key=lambda each: -each[0])
    mean = math.exp(sum(math.log(each[0]) for each in found) / len(found))
    slower = sum(each[0] > 1 / 0.95 for each in found)
    print(f"{len(found)} products, {dtype}: {mean:.2f} of the better peer's time, {slower} slower")
    for ratio, equation, sizes, times in found[:SLOWEST]:
        shown = " ".join(f"{label}={size}" for label, size in sizes.items())
        print(f"{ratio:6.2f}  {equation} {shown}:", ", ".join(f"{who} {us:.0f} us" for who, us in times.items()))


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:3]), *sys.argv[3:4])
