"""Writes tests/random.json, which the tests of every language read: what generators draw, by an independent Philox.

`python -m tests.random_numbers` writes the file; tests/python/test_generator.py checks that it is up to date. Integers
are strings, because those of 64 bits are not exact in JavaScript's numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests import philox

FILE = Path(__file__).with_name("random.json")
SEEDS = [(0, 0), (1, 0), (67280421310721, 3), (2**32, 2**32 - 2), (2**63, 2**40), (2**64 - 1, 1)]

Draw = Callable[[int, int], list[Any]]


def below(n: int) -> Callable[[int, int, int], list[int]]:
    def numbers(seed: int, offset: int, count: int) -> list[int]:
        words = philox.words(seed, offset, count)
        return [((int(a) << 32 | int(b)) * n) >> 64 for a, b in zip(words[0], words[1], strict=True)]

    return numbers


def permutation(seed: int, offset: int, count: int) -> list[int]:
    words = philox.words(seed, offset, count)
    keys = [int(a) << 32 | int(b) for a, b in zip(words[0], words[1], strict=True)]
    return sorted(range(count), key=keys.__getitem__)


def draw(
    function: str, arguments: Sequence[Any], dtype: str, values: Sequence[Any], tolerance: float = 0.0
) -> dict[str, Any]:
    """Returns the entry of a call; `values` are the elements in row-major order."""
    return {
        "function": function,
        "arguments": arguments,
        "dtype": dtype,
        "tolerance": tolerance,
        "gives": [float(v) if "float" in dtype else int(v) for v in values],
    }


def case(seed: int, offset: int) -> dict[str, Any]:
    """Returns calls that draw one after the other from a generator, and its states before and after them."""
    start = offset
    draws = []

    def add(shape: list[int], make: Callable[[int, int, int], dict[str, Any]]) -> None:
        nonlocal offset
        draws.append(make(seed, offset, math.prod(shape)))
        offset += math.prod(shape)

    add([5], lambda *at: draw("rand", [[5]], "float32", philox.uniform(*at)))
    add([2, 3], lambda *at: draw("rand", [[2, 3]], "float64", philox.uniform_float64(*at)))
    add([0, 4], lambda *at: draw("rand", [[0, 4]], "float32", []))
    add([3, 2], lambda *at: draw("randn", [[3, 2]], "float32", philox.normal(*at), 2e-6))
    add([4], lambda *at: draw("randint", [10, [4]], "int64", below(10)(*at)))
    add([2, 2], lambda *at: draw("randint", [-7, 1000, [2, 2]], "int32", [v - 7 for v in below(1007)(*at)]))
    add([6], lambda *at: draw("randperm", [6], "int64", permutation(*at)))
    add([1], lambda *at: draw("rand", [[1]], "float32", philox.uniform(*at)))
    return {"seed": str(seed), "offset": str(start), "draws": draws, "after": str(offset)}


def text() -> str:
    about = [
        "Written by tests/random_numbers.py: what a generator in the state (seed, offset) draws, call after call.",
        "The state after the calls is (seed, after). A result may differ from `gives` by `tolerance`.",
    ]
    return json.dumps({"about": about, "cases": [case(*state) for state in SEEDS]}, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
