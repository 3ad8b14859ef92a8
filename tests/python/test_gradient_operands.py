"""Gradients of all operators where only one operand requires one.

Cases are those of the gradients' vectors: the shortest one for each set of arguments that are given, or all of them
with ONEFLOW_VECTORS=all.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import array
from tests.python.test_conformance import value
from tests.python.test_gradients import GRADIENTS, expected_tensor, tensors_of

Place = tuple[str, int | None]


def places_of(case: dict[str, Any]) -> list[Place]:
    """Returns the operands that have a gradient: the argument, and the position in a list."""
    found: list[Place] = []
    for name, spec in case["gradients"].items():
        for i, each in enumerate(spec) if isinstance(spec, list) else [(None, spec)]:
            if each is not None:
                found.append((name, i))
    return found


def gradients(function: str, case: dict[str, Any], places: list[Place]) -> list[flow.Tensor | None]:
    """Returns the gradients of the operands at places if no others require one; None for one that has none."""
    arguments = {name: value(spec, "cpu:0") for name, spec in case["arguments"].items()}
    leaves = []
    for name, i in places:
        if i is None:
            leaf = arguments[name] = arguments[name].detach().requires_grad_()
        else:
            arguments[name] = list(arguments[name])
            leaf = arguments[name][i] = arguments[name][i].detach().requires_grad_()
        leaves.append(leaf)
    flow.manual_seed(0)
    results = tensors_of(functools.reduce(getattr, function.split("."), flow)(**arguments))
    roots, weights = [], []
    for result, weight, is_root in zip(results, case["weights"], case["differentiable"], strict=True):
        if is_root and result.requires_grad:
            roots.append(result)
            weights.append(flow.tensor(expected_tensor(weight)))
    return list(flow.grad(roots, leaves, weights, allow_unused=True)) if roots else [None] * len(leaves)


def problems_of(function: str, case: dict[str, Any]) -> list[str]:
    places = places_of(case)
    if len(places) < 2:
        return []
    found = []
    try:
        for place, together in zip(places, gradients(function, case, places), strict=True):
            if together is None:
                continue
            (alone,) = gradients(function, case, [place])
            if alone is None:
                found.append(f"{place}: not recorded")
            elif not np.allclose(array(alone), array(together), case["relative"], case["absolute"], equal_nan=True):
                found.append(f"{place}: got {array(alone).ravel()[:4]}, together {array(together).ravel()[:4]}")
    except flow.Error as error:
        found.append(f"{type(error).__name__}: {error}")
    return [f"{case['name']}, {each}" for each in found]


@pytest.mark.parametrize("path", GRADIENTS, ids=lambda path: path.stem)
def test_each_operand_alone(path: Path) -> None:
    """Operators whose temporaries without a history had their memory used for the result were not recorded."""
    content = json.loads(path.read_text())
    cases = [case for case in content["cases"] if len(places_of(case)) > 1]
    if os.environ.get("ONEFLOW_VECTORS") != "all":
        by_length = sorted(cases, key=lambda case: -len(json.dumps(case["arguments"])))
        cases = list({tuple(case["arguments"]): case for case in by_length}.values())
    problems = [each for case in cases for each in problems_of(content["function"], case)]
    assert not problems, "\n".join(problems[:20])


def test_operators_that_use_the_memory_of_a_temporary() -> None:
    """Each of these results required no gradient."""
    ones, zeros = flow.ones([2, 2]), flow.zeros([2, 2])
    row = flow.ones([2])
    calls = {
        "addmm": lambda w: flow.addmm(zeros, ones, w),
        "addbmm": lambda w: flow.baddbmm(zeros[None], ones[None], w[None]),
        "addmv": lambda w: flow.addmv(row, w, row),
        "addr": lambda w: flow.addr(zeros, w[0], row),
        "kl_div": lambda w: flow.kl_div(ones, w, reduction="none"),
        "kl_div for the input": lambda w: flow.kl_div(w, ones, reduction="none"),
        "gaussian_nll_loss": lambda w: flow.gaussian_nll_loss(ones, ones, w, reduction="none"),
        "poisson_nll_loss": lambda w: flow.poisson_nll_loss(w, ones, reduction="none"),
    }
    for name, call in calls.items():
        assert call(flow.ones([2, 2]).requires_grad_()).requires_grad, name
    w = flow.ones([2, 2]).requires_grad_()
    flow.addmm(zeros, ones, w, beta=2, alpha=3).sum().backward()
    assert w.grad.tolist() == [[6, 6], [6, 6]]
