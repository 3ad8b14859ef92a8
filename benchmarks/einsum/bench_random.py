"""Compares einsum for random contractions of two operands with NumPy and PyTorch, on one thread.

Labels, dimension orders and sizes are random, to find slow cases that no list contains. KIND is `products` (products of
matrices and batches of matrices) or `contractions`.

    PYTHONPATH=. .venv/bin/python benchmarks/einsum/bench_random.py [KIND [SEED [SECONDS [DTYPE]]]]
"""

from __future__ import annotations

import math
import random
import sys
import time

from benchmarks.einsum.bench_everyday import measure, use_one_thread

SIZES = [1, 2, 3, 4, 5, 7, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 400, 512, 1000, 1024, 2000]
BATCHES = [2, 8, 16, 32, 100, 500, 1000]
MOST_LABELS = 6
LEAST_WORK, MOST_WORK, MOST_ELEMENTS = 2e4, 3e7, 4e6


def choose_product(numbers: random.Random) -> tuple[list[str], dict[str, int]]:
    """Returns the terms of two matrices and their product, and the sizes of the labels.

    With a probability of one third, the terms also have a batch label before or between the others.
    """
    sizes = {label: numbers.choice(SIZES) for label in "ijk"}
    terms = [numbers.choice(orders) for orders in (["ij", "ji"], ["jk", "kj"], ["ik", "ik", "ki"])]
    if numbers.random() < 1 / 3:
        sizes["b"] = numbers.choice(BATCHES)
        at = numbers.choice([0, 0, 1])
        terms = [term[:at] + "b" + term[at:] for term in terms]
    return terms, sizes


def choose_contraction(numbers: random.Random) -> tuple[list[str], dict[str, int]]:
    """Returns random terms, and the sizes of their labels. Each label is in two or all three of the terms."""
    sizes = {label: numbers.choice(SIZES) for label in "abcdef"[: numbers.randint(2, MOST_LABELS)]}
    terms: list[list[str]] = [[], [], []]
    for label in sizes:
        lacking = numbers.choice([None, 0, 0, 1, 1, 2, 2])
        for number, term in enumerate(terms):
            if number != lacking:
                term.append(label)
    for term in terms:
        numbers.shuffle(term)
    return ["".join(term) for term in terms], sizes


KINDS = {"products": choose_product, "contractions": choose_contraction}


def is_measurable(terms: list[str], sizes: dict[str, int]) -> bool:
    """Returns whether the operands have labels, and the sizes are within the limits."""
    elements = [math.prod(sizes[label] for label in term) for term in terms]
    has_labels = all(terms[:2])
    return has_labels and max(elements) <= MOST_ELEMENTS and LEAST_WORK <= math.prod(sizes.values()) <= MOST_WORK


def main(kind: str = "contractions", seed: int = 0, seconds: int = 60, dtype: str = "float32") -> None:
    use_one_thread()
    numbers, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        terms, sizes = KINDS[kind](numbers)
        if is_measurable(terms, sizes):
            shapes = ["x".join(str(sizes[label]) for label in term) for term in terms[:2]]
            measure(f"{terms[0]},{terms[1]}->{terms[2]}", shapes, dtype, group=f"random {kind}")


if __name__ == "__main__":
    main(*sys.argv[1:2], *(int(number) for number in sys.argv[2:4]), *sys.argv[4:5])
