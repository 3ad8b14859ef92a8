"""Tests generators of random numbers, and the file of numbers that the tests of all languages share."""

from __future__ import annotations

import copy
import json
import os
import pickle
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests import random_numbers
from tests.python.support import array, raises

CASES = json.loads(random_numbers.FILE.read_text(encoding="utf-8"))["cases"]


@pytest.fixture(autouse=True)
def kept_state() -> Iterator[None]:
    """Restores the state of the default generator."""
    state = flow.get_rng_state()
    yield
    flow.set_rng_state(state)


def draw(case: dict[str, Any], generator: flow.Generator | None) -> None:
    """Makes the calls of a case and compares their results."""
    for each in case["draws"]:
        found = getattr(flow, each["function"])(*each["arguments"], dtype=each["dtype"], generator=generator)
        np.testing.assert_allclose(array(found).ravel(), each["gives"], rtol=0, atol=each["tolerance"])


def test_the_shared_file_is_up_to_date() -> None:
    assert random_numbers.text() == random_numbers.FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["seed"])
def test_numbers_are_those_of_an_independent_philox(case: dict[str, Any]) -> None:
    seed, before, after = int(case["seed"]), int(case["offset"]), int(case["after"])
    generator = flow.Generator()
    generator.set_state((seed, before))
    draw(case, generator)
    assert generator.get_state() == (seed, after)
    flow.default_generator.set_state([seed, before])
    draw(case, None)
    assert flow.get_rng_state() == flow.default_generator.get_state() == (seed, after)


def test_seeds() -> None:
    generator = flow.Generator(5)
    assert generator.initial_seed() == 5
    assert generator.manual_seed(-1) is generator
    assert generator.get_state() == (2**64 - 1, 0)
    assert flow.Generator().initial_seed() == flow.Generator(None).initial_seed() == 67280421310721
    chosen = generator.seed()
    assert generator.get_state() == (chosen, 0)
    assert chosen != generator.seed()
    assert flow.manual_seed(3) is flow.default_generator
    assert flow.initial_seed() == 3
    assert repr(flow.Generator(-(2**63))) == f"Generator(seed={2**63}, offset=0)"


def test_copies_are_independent() -> None:
    generator = flow.Generator(5)
    flow.rand(7, generator=generator)
    for twin in (copy.copy(generator), copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))):
        assert twin is not generator
        assert twin.get_state() == (5, 7)
        flow.rand(1, generator=twin)
        assert generator.get_state() == (5, 7)


def test_threads_draw_different_numbers() -> None:
    generator = flow.Generator(5)
    found: list[float] = []

    def work() -> None:
        for _ in range(50):
            found.extend(flow.rand(3, generator=generator).tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(flow.rand(600, generator=flow.Generator(5)).tolist())


def test_forked_children_have_their_own() -> None:
    generator = flow.Generator(5)
    child = os.fork()
    if child == 0:
        flow.rand(3, generator=generator)
        os._exit(0 if generator.get_state() == (5, 3) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert generator.get_state() == (5, 0)


def test_failed_calls_draw_nothing() -> None:
    generator = flow.Generator(5)
    with pytest.raises(flow.ShapeError):
        flow.rand([-1], generator=generator)
    with pytest.raises(flow.ShapeError):
        flow.rand([2], generator=generator, out=flow.ones(3))
    with pytest.raises(flow.InvalidArgument):
        flow.randint(0, [2], generator=generator)
    assert generator.get_state() == (5, 0)


def test_errors() -> None:
    large = "must fit into 64 bits, got a larger integer"
    raises(flow.TypeMismatch, "Generator: seed must be int, got str", lambda: flow.Generator("a"))
    raises(flow.TypeMismatch, "Generator: seed must be int, got bool", lambda: flow.Generator(True))
    raises(flow.InvalidArgument, f"Generator: seed {large}", lambda: flow.Generator(2**64))
    raises(flow.InvalidArgument, f"Generator: seed {large}", lambda: flow.Generator(-(2**63) - 1))
    generator = flow.Generator()
    raises(flow.TypeMismatch, "manual_seed: seed must be int, got float", lambda: generator.manual_seed(1.5))
    raises(
        flow.TypeMismatch,
        "set_state: state must be tuple of two ints, the seed and the offset, got int",
        lambda: generator.set_state(3),
    )
    raises(flow.TypeMismatch, "set_state: offset must be int, got None", lambda: generator.set_state((1, None)))
    raises(flow.TypeMismatch, "rand: generator must be Generator, got int", lambda: flow.rand(2, generator=5))
    raises(flow.TypeMismatch, "ones: unknown argument generator", lambda: flow.ones(2, generator=generator))


class Own(flow.Generator):
    """A subclass with a constructor of its own."""

    def __init__(self, name: str) -> None:
        super().__init__(7)
        self.name = name


def test_subclasses() -> None:
    own = Own("first")
    assert repr(own) == "Own(seed=7, offset=0)"
    assert flow.rand(3, generator=own).tolist() == flow.rand(3, generator=flow.Generator(7)).tolist()
    for twin in (copy.copy(own), copy.deepcopy(own), pickle.loads(pickle.dumps(own))):
        assert (type(twin), twin.name, twin.get_state()) == (Own, "first", (7, 3))
    unfinished = Own.__new__(Own)
    text = "seed: __init__ of the class Generator has not been called"
    raises(flow.InvalidArgument, text, lambda: unfinished.seed())
    text = "rand: generator must be a live Generator, got one without a value"
    raises(flow.InvalidArgument, text, lambda: flow.rand(2, generator=unfinished))
