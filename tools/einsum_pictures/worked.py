"""Evaluates an equation element by element, and keeps the terms of each sum."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tools.einsum_pictures.table import Picture


@dataclass(frozen=True)
class Tensor:
    """An operand or the result of an equation: its labels and its elements by index."""

    labels: str
    shape: tuple[int, ...]
    values: dict[tuple[int, ...], int]

    def place(self, at: dict[str, int]) -> tuple[int, ...]:
        """Returns the index of the element for the given values of the labels. Dimensions of size 1 broadcast."""
        return tuple(min(at[label], size - 1) for label, size in zip(self.labels, self.shape, strict=True))


def indices(labels: str, sizes: dict[str, int]) -> Iterator[dict[str, int]]:
    """Yields all combinations of values of the labels, the last label varying fastest."""
    for values in itertools.product(*(range(sizes[label]) for label in labels)):
        yield dict(zip(labels, values, strict=True))


def read(labels: str, data: Any) -> Tensor:
    """Returns the tensor of nested lists."""
    shape: list[int] = []
    inner = data
    while isinstance(inner, list):
        shape.append(len(inner))
        inner = inner[0]
    values = {}
    for place in itertools.product(*map(range, shape)):
        element = data
        for at in place:
            element = element[at]
        values[place] = element
    return Tensor(labels, tuple(shape), values)


@dataclass(frozen=True)
class Term:
    """One product in the sum that gives an element of the result."""

    at: dict[str, int]  # the value of each label
    factors: list[int]


@dataclass
class Worked:
    """The equation of a picture with its operands, its sizes and its computed result."""

    picture: Picture
    operands: list[Tensor] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        inputs, _, self.output = self.picture.equation.partition("->")
        self.operands = [read(*pair) for pair in zip(inputs.split(","), self.picture.operands, strict=True)]
        for operand in self.operands:
            for label, size in zip(operand.labels, operand.shape, strict=True):
                self.sizes[label] = max(self.sizes.get(label, 1), size)
        self.summed = "".join(label for label in self.sizes if label not in self.output)
        places = [tuple(at.values()) for at in indices(self.output, self.sizes)]
        values = {place: sum(map(product, self.terms(place))) for place in places}
        self.result = Tensor(self.output, tuple(self.sizes[label] for label in self.output), values)

    def terms(self, place: tuple[int, ...]) -> list[Term]:
        """Returns the products that add up to the element of the result at this index."""
        fixed = dict(zip(self.output, place, strict=True))
        return [
            Term(at, [operand.values[operand.place(at)] for operand in self.operands])
            for found in indices(self.summed, self.sizes)
            for at in [fixed | found]
        ]


def product(term: Term) -> int:
    result = 1
    for factor in term.factors:
        result *= factor
    return result
