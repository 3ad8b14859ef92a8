"""einsum over products of matrices of random sizes, orders and batches, against NumPy and PyTorch on one thread: looks
for shapes that lists of cases lack.

    PYTHONPATH=. .venv/bin/python benchmarks/einsum/bench_products.py [SEED [SECONDS [DTYPE]]]
"""

from __future__ import annotations

import math
import random
import sys
import time

from benchmarks.einsum.bench_everyday import measure, use_one_thread

SIZES = [1, 2, 3, 4, 5, 7, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 400, 512, 1000, 1024, 2000]
BATCHES = [2, 8, 16, 32, 100, 500, 1000]
LEAST_WORK, MOST_WORK, MOST_ELEMENTS = 2e4, 3e7, 4e6


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


def main(seed: int = 0, seconds: int = 60, dtype: str = "float32") -> None:
    use_one_thread()
    numbers, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        equation, sizes = choose(numbers)
        if is_measurable(equation, sizes):
            operands = equation.split("->")[0].split(",")
            shapes = ["x".join(str(sizes[label]) for label in term) for term in operands]
            measure(equation, shapes, dtype, group="random products")


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:3]), *sys.argv[3:4])
