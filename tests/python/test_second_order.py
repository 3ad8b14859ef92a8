"""Second-order gradients of all operators against differences, and first-order ones in all layouts.

Every case of the gradients' vectors in float64 or complex128 is moved by a little, so that no number is at a kink.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import array
from tests.python.test_conformance import value
from tests.python.test_gradients import GRADIENTS, tensors_of

STEP, TOLERANCE = 1e-5, 2e-5
WIDE = (flow.float64, flow.complex128)
# Operators without a case whose differences are exact enough.
NARROW = ("cast", "softmax.dtype", "log_softmax.dtype", "softmin.dtype")
UNCHECKED = dict.fromkeys(NARROW, "all cases compute in fewer bits")


class Case:
    """A call as a function of its tensors that have a gradient, and of weights of its results."""

    def __init__(self, function: str, case: dict[str, Any]) -> None:
        self.call = functools.reduce(getattr, function.split("."), flow)
        self.arguments = {name: value(spec, "cpu:0") for name, spec in case["arguments"].items()}
        self.places = []  # of these tensors: the argument, and the position in a list
        for name, spec in case["gradients"].items():
            for i, each in enumerate(spec) if isinstance(spec, list) else [(None, spec)]:
                if each is not None:
                    self.places.append((name, i))
        self.inputs = [array(x if i is None else x[i]) for x, i in ((self.arguments[n], i) for n, i in self.places)]
        self.differentiable = case["differentiable"]

    def results(self, inputs: list[flow.Tensor]) -> list[flow.Tensor]:
        """Calls the operator with copies, which may be overwritten, and returns the results that have a gradient."""
        arguments = {name: list(x) if isinstance(x, (list, tuple)) else x for name, x in self.arguments.items()}
        for (name, i), x in zip(self.places, inputs, strict=True):
            if i is None:
                arguments[name] = x * 1
            else:
                arguments[name][i] = x * 1
        flow.manual_seed(0)
        found = zip(tensors_of(self.call(**arguments)), self.differentiable, strict=True)
        return [each for each, is_root in found if is_root and each.requires_grad]

    def gradients(self, inputs: list[flow.Tensor], weights: list[flow.Tensor]) -> list[flow.Tensor]:
        """Returns the gradients of the sum of the results times weights, which may be differentiated again."""
        found = flow.grad(self.results(inputs), inputs, weights, create_graph=True, allow_unused=True)
        return [flow.zeros_like(x) if each is None else each for each, x in zip(found, inputs, strict=True)]


def drawn(random: np.random.Generator, like: np.ndarray) -> np.ndarray:
    numbers = random.normal(size=like.shape)
    return numbers + 1j * random.normal(size=like.shape) if np.iscomplexobj(like) else numbers


def projected(tensors: list[flow.Tensor], directions: list[np.ndarray]) -> float:
    """Returns the sum of the products with directions, as real numbers."""
    return sum(float(np.vdot(d, array(x)).real) for x, d in zip(tensors, directions, strict=True))


def slope(case: Case, random: np.random.Generator) -> tuple[float, float, float] | None:
    """Returns the slope of a projection of the gradients by differentiating, by differences, and their size.

    Returns None if the gradients are not finite, or no function of numbers nearby: at a kink, or at the end of the
    domain.
    """
    try:
        return _slope(case, random)
    except flow.InvalidArgument:
        return None


def _slope(case: Case, random: np.random.Generator) -> tuple[float, float, float] | None:
    with np.errstate(invalid="ignore"):  # infinity - infinity
        inputs = [x + 0.02 * drawn(random, x) * (1 + abs(x)) for x in case.inputs]
    leaves = [flow.tensor(x).requires_grad_() for x in inputs]
    results = case.results(leaves)
    weights = [drawn(random, array(each.detach())) for each in results]
    if not weights or any(each.dtype not in WIDE for each in results):
        return None
    outer = [flow.tensor(each).requires_grad_() for each in weights]
    found = case.gradients(leaves, outer)
    heads = [drawn(random, x) for x in inputs]
    moved = [drawn(random, x) for x in (*inputs, *weights)]
    roots = [(each, flow.tensor(head)) for each, head in zip(found, heads, strict=True) if each.requires_grad]
    second = [flow.zeros_like(x) for x in (*leaves, *outer)]
    if roots:
        given = flow.grad(
            [each for each, _ in roots], [*leaves, *outer], [head for _, head in roots], allow_unused=True
        )
        second = [none if each is None else each for each, none in zip(given, second, strict=True)]

    def value_at(step: float) -> float:
        points = [flow.tensor(x + step * m) for x, m in zip((*inputs, *weights), moved, strict=True)]
        for each in points:
            each.requires_grad_()
        return projected(case.gradients(points[: len(inputs)], points[len(inputs) :]), heads)

    differences = [(value_at(step) - value_at(-step)) / (2 * step) for step in (STEP, STEP / 2)]
    by_gradients = projected([each.detach() for each in second], moved)
    size = 1 + sum(float(np.abs(array(each.detach())).sum()) for each in (*second, *found))
    if not np.isfinite([*differences, by_gradients, size]).all() or size > 1e7:
        return None
    if abs(differences[0] - differences[1]) > TOLERANCE * size:  # a kink is nearby
        return None
    return by_gradients, differences[1], size


def cases_of(path: Path) -> Iterator[tuple[str, Case]]:
    content = json.loads(path.read_text())
    for case in content["cases"]:
        if case["name"].endswith(("float64", "complex128")) and not case["name"].startswith("kinks"):
            yield case["name"], Case(content["function"], case)


@pytest.mark.parametrize("path", GRADIENTS, ids=lambda path: path.stem)
def test_second_order(path: Path) -> None:
    problems, checked = [], 0
    for name, case in cases_of(path):
        if sum(x.size for x in case.inputs) > 2000:
            continue
        try:
            found = slope(case, np.random.default_rng(1))
        except flow.Error as error:
            problems.append(f"{name}: {type(error).__name__}: {error}")
            continue
        if found is None:
            continue
        checked += 1
        one, other, size = found
        if abs(one - other) > TOLERANCE * size:
            problems.append(f"{name}: {one} by gradients, {other} by differences, of {size}")
    assert not problems, "\n".join(problems[:20])
    assert (checked == 0) == (path.stem in UNCHECKED)


def layouts(x: np.ndarray) -> Iterator[tuple[str, Callable[[flow.Tensor], flow.Tensor]]]:
    """Yields functions that give a tensor with the same numbers, and other strides or another offset."""
    if x.ndim >= 2:
        yield "transposed", lambda t: t.transpose(0, -1).contiguous().transpose(0, -1)
    if x.ndim >= 1:
        yield "every second", lambda t: flow.stack([t, t + 1], -1).select(-1, 0)
        yield "offset", lambda t: flow.cat([t[:1] + 1, t], 0)[1:]
        yield "flipped memory", lambda t: flow.flip(flow.flip(t, [0]).contiguous(), [0])


@pytest.mark.parametrize("path", GRADIENTS, ids=lambda path: path.stem)
def test_layouts(path: Path) -> None:
    """Compares the gradients of inputs in other layouts with those of contiguous ones."""
    problems = []
    for name, case in cases_of(path):
        leaves = [flow.tensor(x).requires_grad_() for x in case.inputs]
        random = np.random.default_rng(2)
        try:
            weights = [flow.tensor(drawn(random, array(each.detach()))) for each in case.results(leaves)]
            if not weights:
                continue
            expected = case.gradients(leaves, weights)
            for layout in sorted({each for x in case.inputs for each, _ in layouts(x)}):
                inputs = [dict(layouts(x)).get(layout, lambda t: t)(flow.tensor(x)) for x in case.inputs]
                found = case.gradients([x.detach().requires_grad_() for x in inputs], weights)
                for i, (one, other) in enumerate(zip(found, expected, strict=True)):
                    if not np.allclose(array(one.detach()), array(other.detach()), 1e-9, 1e-11, equal_nan=True):
                        problems.append(f"{name}, {layout}: input {i}")
        except flow.Error as error:
            problems.append(f"{name}: {type(error).__name__}: {error}")
    assert not problems, "\n".join(problems[:20])


def test_derivatives_of_what_a_checkpoint_returns() -> None:
    """The gradient that a recorded pass found through a checkpoint did not depend on its arguments."""
    x, weight = (flow.tensor(number, dtype="float64").requires_grad_() for number in (3.0, 2.0))
    kept = flow.checkpoint(lambda a: a * a * a * weight, x)
    (slope,) = flow.grad(kept, [x], create_graph=True)
    assert slope.item() == 54
    assert [each.item() for each in flow.grad(slope + x * x, [x, weight])] == [42, 27]
    weight.grad = None
    whole = flow.checkpoint(lambda a, n, b: a * n * b, x * 2, 5, weight)
    (whole * whole).backward(create_graph=True)
    assert [x.grad.item(), weight.grad.item()] == [2400, 3600]
    assert flow.grad(x.grad, [x, weight])[0].item() == 800
