"""Runs random programs of views, branches, reuse and writes in place, and compares their gradients with PyTorch's."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import oneflow_py as flow

UNARY = ("sin", "cos", "tanh", "sigmoid", "relu", "square", "abs", "exp", "neg")
BINARY = ("add", "sub", "mul", "maximum", "minimum")
IN_PLACE_UNARY = ("sin_", "tanh_", "sigmoid_", "neg_", "relu_")
MOST_ELEMENTS = 64


def is_view_of_leaf(value: torch.Tensor) -> bool:
    return value._base is not None and value._base.is_leaf


class Program:
    """A program under construction, with the values of both libraries."""

    def __init__(self, seed: int, length: int) -> None:
        self.random = random.Random(seed)
        self.text: list[str] = []
        self.values: list[tuple[Any, Any]] = []
        self.leaves: list[tuple[Any, Any]] = []
        numbers = np.random.default_rng(seed)
        for _ in range(3):
            shape = tuple(self.random.choices((1, 2, 3), k=self.random.randint(1, 3)))
            array = numbers.normal(size=shape)
            leaf = flow.tensor(array).requires_grad_(), torch.tensor(array, requires_grad=True)
            self.leaves.append(leaf)
            self.values.append(leaf)
            self.text.append(f"v{len(self.values) - 1} = leaf {shape}")
        for _ in range(length):
            self.random.choice(STEPS)(self)

    def pick(self, fits: Callable[[Any], bool] = lambda _: True) -> int | None:
        """Returns a value, of the last ones rather than of the first."""
        found = [i for i, (_, value) in enumerate(self.values) if fits(value)]
        return self.random.choice(found[-4:] + found) if found else None

    def add(self, text: str, apply: Callable[[Any, int], Any]) -> None:
        """Adds the value of a step, which both libraries compute; `apply` gets the module and the position."""
        value = apply(flow, 0), apply(torch, 1)
        if value[1].numel() > MOST_ELEMENTS:
            return
        self.values.append(value)
        self.text.append(f"v{len(self.values) - 1} = {text}")

    def unary(self) -> None:
        i, name = self.pick(), self.random.choice(UNARY)
        if name == "exp":
            self.add(f"exp(tanh(v{i}))", lambda m, k: m.exp(m.tanh(self.values[i][k])))
        else:
            self.add(f"{name}(v{i})", lambda m, k: getattr(m, name)(self.values[i][k]))

    def binary(self) -> None:
        i, name = self.pick(), self.random.choice(BINARY)
        shape = self.values[i][1].shape

        def broadcasts(value: Any) -> bool:
            try:
                return torch.broadcast_shapes(value.shape, shape).numel() <= MOST_ELEMENTS
            except RuntimeError:
                return False

        j = self.pick(broadcasts)
        self.add(f"{name}(v{i}, v{j})", lambda m, k: getattr(m, name)(self.values[i][k], self.values[j][k]))

    def view(self) -> None:
        i = self.pick(lambda value: value.dim() > 0)
        if i is None:
            return
        rank, dim = self.values[i][1].dim(), self.random.randrange(self.values[i][1].dim())
        other, size = self.random.randrange(rank), self.values[i][1].shape[dim]
        first = self.random.randrange(size)
        view = self.random.choice(("transpose", "unsqueeze", "narrow", "select", "reshape", "flip", "expand", "unfold"))
        values = {
            "transpose": lambda m, k: m.transpose(self.values[i][k], dim, other),
            "unsqueeze": lambda m, k: m.unsqueeze(self.values[i][k], dim),
            "narrow": lambda m, k: m.narrow(self.values[i][k], dim, first, size - first),
            "select": lambda m, k: m.select(self.values[i][k], dim, first),
            "reshape": lambda m, k: m.reshape(self.values[i][k], [-1]),
            "flip": lambda m, k: m.flip(self.values[i][k], [dim]),
            "expand": lambda m, k: m.unsqueeze(self.values[i][k], 0).expand([2, *self.values[i][1].shape]),
            "unfold": lambda m, k: self.values[i][k].unfold(dim, min(2, size), 1),
        }
        self.add(f"{view}(v{i}, {dim}, {other}, {first})", values[view])

    def fold(self) -> None:
        i = self.pick(lambda value: value.dim() > 0)
        if i is None:
            return
        dim = self.random.randrange(self.values[i][1].dim())
        fold = self.random.choice(("sum", "mean", "amax", "cumsum", "softmax", "logsumexp", "prod"))
        self.add(f"{fold}(v{i}, {dim})", lambda m, k: getattr(m, fold)(self.values[i][k], dim))

    def join(self) -> None:
        i = self.pick(lambda value: value.dim() > 0)
        if i is None:
            return
        j = self.pick(lambda value: value.shape == self.values[i][1].shape)
        self.add(f"cat(v{i}, v{j})", lambda m, k: m.cat([self.values[i][k], self.values[j][k]], 0))

    def product(self) -> None:
        i = self.pick(lambda value: value.dim() == 2)
        j = self.pick(lambda value: i is not None and value.dim() == 2 and value.shape[0] == self.values[i][1].shape[1])
        if i is not None and j is not None:
            self.add(f"matmul(v{i}, v{j})", lambda m, k: m.matmul(self.values[i][k], self.values[j][k]))

    def write(self) -> None:
        """Writes to a value that is no leaf, or to a part of it, unless elements of it share memory."""
        i = self.pick(lambda value: value.grad_fn is not None and value.dim() > 0 and not is_view_of_leaf(value))
        if i is None:
            return
        kind = self.random.choice(("unary", "scale", "copy", "part"))
        name = self.random.choice(IN_PLACE_UNARY)
        j = self.pick(lambda value: value.dim() == 0 or value.shape == self.values[i][1].shape)

        def run(k: int) -> None:
            target = self.values[i][k]
            if kind == "unary":
                getattr(target, name)()
            elif kind == "scale":
                target.mul_(0.5)
            elif kind == "copy" and j is not None:
                target.copy_(self.values[j][k])
            elif kind == "part":
                target[0].mul_(2.0)

        try:
            run(0)
        except flow.Error as error:
            if "share memory" in str(error) or "overlaps an operand" in str(error) or "contiguous" in str(error):
                return
            raise
        run(1)
        self.text.append(f"write {kind} to v{i} ({name}, v{j})")


STEPS = (
    Program.unary, Program.unary, Program.binary, Program.binary, Program.view, Program.view, Program.fold,
    Program.join, Program.product, Program.write,
)  # fmt: skip


# Gradients that read the operand, which may have been overwritten, where PyTorch's read the result (docs/semantics.md).
READS_OPERAND = re.compile("which the gradient of (tanh|sigmoid) reads, was changed")


@settings(deadline=None, max_examples=250)
@given(st.integers(0, 2**32), st.integers(2, 30))
def test_gradients_of_random_programs(seed: int, length: int) -> None:
    program = Program(seed, length)
    roots = [pair for pair in program.values[3:] if pair[1].requires_grad][-3:]
    if not roots:
        return
    ours = flow.zeros([], dtype=flow.float64)
    theirs = torch.zeros((), dtype=torch.float64)
    for one, other in roots:
        ours, theirs = ours + (one * one).sum(), theirs + (other * other).sum()
    listing = "\n".join(program.text)
    np.testing.assert_allclose(ours.item(), theirs.item(), 1e-9, err_msg=listing)
    wanted = [leaf[1] for leaf in program.leaves]
    try:
        expected = torch.autograd.grad(theirs, wanted, allow_unused=True)
    except RuntimeError:  # what a gradient reads was overwritten
        return
    try:
        found = flow.grad(ours, [leaf[0] for leaf in program.leaves], allow_unused=True)
    except flow.Error as error:
        if READS_OPERAND.search(str(error)):
            return
        raise AssertionError(f"{error}\n{listing}") from None
    for one, other in zip(found, expected, strict=True):
        want = np.zeros(()) if other is None else other.numpy()
        got = np.zeros(want.shape) if one is None else one.numpy()
        scale = max(1.0, float(np.abs(want).max(initial=0.0)))
        np.testing.assert_allclose(got, np.broadcast_to(want, got.shape), 1e-8, 1e-9 * scale, err_msg=listing)
