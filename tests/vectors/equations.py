"""Random einsum equations of every kind, and the oracles of einsum (NumPy's einsum in 64 bits) and of trace."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from tests.einsum.equations import in_letters
from tests.vectors.encode import DTYPE_NAMES
from tests.vectors.layouts import LAYOUTS, LaidOut, contiguous

RANDOM = "random/"  # in the names of cases
REQUIRED = {"equation", "operands"}  # the arguments that drawn() yields
COUNT = 20_000
MAX_OPERANDS = 6
MAX_DIMS = 8
MAX_ELEMENTS = 200  # of a tensor
MAX_PRODUCTS = 60_000  # of the sizes of all labels
LETTERS = "abcdxyzABZäßЖ日"
SIZES = (1, 2, 2, 3, 3, 4, 5)


def einsum(equation: str, operands: list[torch.Tensor], **options: Any) -> torch.Tensor:
    """The oracle of einsum. Ignores the options, which only select the path."""
    dtype = functools.reduce(torch.promote_types, [each.dtype for each in operands])
    wide = torch.complex128 if dtype.is_complex else torch.float64 if dtype.is_floating_point else torch.int64
    inputs, arrow, output = in_letters(equation).replace(" ", "").partition("->")
    summed = bool(arrow) and "..." in inputs and "..." not in output  # NumPy requires the ellipsis in the output
    equation = inputs + arrow + ("..." if summed else "") + output
    exact = np.einsum(equation, *[each.to(wide).numpy() for each in operands], optimize=len(operands) > 2)
    if summed:
        exact = exact.sum(axis=tuple(range(exact.ndim - len(output))))
    result = torch.from_numpy(np.array(exact))
    return (result != 0) if dtype is torch.bool else result.to(dtype)


def trace(input: torch.Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> torch.Tensor:
    """The oracle of trace, because torch.trace only supports matrices."""
    return torch.diagonal(input, offset, dim1, dim2).sum(-1)


class _Drawn:
    """A random equation with shapes."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        count = source.choice((1, 1, 2, 2, 2, 2, 3, 3, 4, 5, MAX_OPERANDS))
        labels = source.sample(LETTERS, source.randint(1, 7))
        self.sizes = {label: 0 if source.random() < 0.01 else source.choice(SIZES) for label in labels}
        self.ellipsis = [source.choice(SIZES) for _ in range(source.randint(0, 3))] if source.random() < 0.3 else None
        self.used: set[str] = set()
        self.has_ellipsis = False
        self.shapes: list[list[int]] = []
        self.terms = [self.term() for _ in range(count)]
        self.output = self.result() if source.random() < 0.75 else None

    def term(self) -> list[str]:
        source = self.source
        labels = source.choices(list(self.sizes), k=min(source.randint(0, 5), MAX_DIMS))
        shape = [self.sizes[label] for label in labels]
        # Sizes of 1 broadcast, except for a repeated label.
        shape = [
            1 if labels.count(label) == 1 and source.random() < 0.08 else size
            for label, size in zip(labels, shape, strict=True)
        ]
        self.used.update(labels)
        if self.ellipsis is not None and source.random() < 0.6:
            own = self.ellipsis[source.randint(0, len(self.ellipsis)) :]
            at = source.randint(0, len(labels))
            shape[at:at] = [1 if source.random() < 0.15 else size for size in own]
            labels.insert(at, "...")
            self.has_ellipsis = True
        self.shapes.append(shape)
        return labels

    def result(self) -> list[str]:
        labels = self.source.sample(sorted(self.used), self.source.randint(0, len(self.used)))
        if self.has_ellipsis and self.source.random() < 0.8:  # without it, its dimensions are summed
            labels.insert(self.source.randint(0, len(labels)), "...")
        return labels

    def is_small(self) -> bool:
        all_labels = math.prod(self.sizes[label] for label in self.used) * math.prod(self.ellipsis or [])
        return (
            all_labels <= MAX_PRODUCTS
            and all(math.prod(shape) <= MAX_ELEMENTS for shape in self.shapes)
            and all(len(shape) <= MAX_DIMS for shape in self.shapes)
        )

    def equation(self) -> str:
        numbers = {label: str(i) for i, label in enumerate(sorted(self.sizes))}
        as_numbers = self.source.random() < 0.2

        def text(labels: list[str]) -> str:
            if as_numbers:
                return f"[{','.join(numbers.get(label, label) for label in labels)}]"
            return (" " if self.source.random() < 0.1 else "").join(labels)

        result = "" if self.output is None else "->" + text(self.output)
        return ",".join(map(text, self.terms)) + result


def _operand(shape: list[int], dtype: torch.dtype, layout: str, generator: torch.Generator) -> LaidOut:
    """Returns a random operand.

    Floating-point elements are multiples of 1/4 up to 2: the sums of their products are exact in the dtypes in which
    they are accumulated.
    """
    if dtype.is_complex:
        values = torch.view_as_complex(torch.randint(-8, 9, [*shape, 2], generator=generator) / 4)
    elif dtype.is_floating_point:
        values = torch.randint(-8, 9, shape, generator=generator) / 4
    elif dtype is torch.bool:
        values = torch.randint(0, 2, shape, generator=generator)
    else:
        values = torch.randint(0 if DTYPE_NAMES[dtype].startswith("u") else -9, 10, shape, generator=generator)
    # LaidOut out before the conversion, because PyTorch cannot copy some unsigned dtypes.
    laid = LAYOUTS[layout](values) or contiguous(values)
    return LaidOut(laid.values.to(dtype), laid.storage.to(dtype), laid.strides, laid.offset)


def drawn() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields names and arguments, with tensors in random layouts."""
    source = random.Random(0)
    generator = torch.Generator().manual_seed(0)
    dtypes = list(DTYPE_NAMES)
    made = 0
    while made < COUNT:
        case = _Drawn(source)
        if not case.is_small():
            continue
        dtype = source.choice((torch.float32, torch.float64, *dtypes))
        operands = [_operand(shape, dtype, source.choice(list(LAYOUTS)), generator) for shape in case.shapes]
        yield f"{DTYPE_NAMES[dtype]}/{RANDOM}{made}", {"equation": case.equation(), "operands": operands}
        made += 1


def number_of(name: str) -> int | None:
    """Returns the number of a random equation by the name of its case, and None for any other case."""
    _, found, number = name.partition(RANDOM)
    return int(number) if found else None


def chain_matmul(matrices: list[torch.Tensor]) -> torch.Tensor:
    return torch.linalg.multi_dot(matrices) if len(matrices) > 1 else matrices[0].clone()


def vander(x: torch.Tensor, n: int | None = None, increasing: bool = False) -> torch.Tensor:
    return torch.vander(x, n, increasing)
