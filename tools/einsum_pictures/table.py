"""The list of equations that have a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Picture:
    name: str
    title: str
    equation: str
    operands: tuple[Any, ...]  # nested lists
    place: tuple[int, ...]  # index of the element of the result whose computation is shown


SQUARE = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
WIDE = [[1, 2, 3], [4, 5, 6]]

PICTURES = (
    Picture("transpose", "transpose", "ij->ji", (WIDE,), (2, 0)),
    Picture("diagonal", "diagonal", "ii->i", (SQUARE,), (1,)),
    Picture("trace", "trace", "ii->", (SQUARE,), ()),
    Picture("row-sums", "sum over a dimension", "ij->i", (WIDE,), (0,)),
    Picture("broadcast", "elementwise product; a size of 1 broadcasts", "ij,ij->ij", (WIDE, [[2, 0, 5]]), (1, 2)),
    Picture("outer-product", "outer product", "i,j->ij", ([1, 2, 3], [4, 5]), (2, 0)),
    Picture("matrix-vector", "matrix times vector", "ij,j->i", (WIDE, [2, 0, 1]), (1,)),
    Picture("matrix-product", "matrix product", "ij,jk->ik", (WIDE, [[1, 0], [2, 1], [0, 3]]), (1, 1)),
    Picture(
        "batched-product",
        "one matrix product per batch",
        "bij,bjk->bik",
        ([[[1, 2], [3, 4]], [[0, 1], [1, 1]]], [[[1, 0, 2], [0, 1, 1]], [[5, 6, 7], [8, 9, 1]]]),
        (1, 1, 0),
    ),
    Picture("bilinear-form", "bilinear form", "i,ij,j->", ([1, 2], [[3, 0, 1], [1, 2, 4]], [2, 1, 3]), ()),
    Picture(
        "attention-scores",
        "attention scores, per batch b and head h",
        "bhqd,bhkd->bhqk",
        (
            [[[[1, 0], [2, 1]], [[0, 1], [1, 1]]], [[[2, 2], [1, 0]], [[1, 3], [0, 2]]]],
            [
                [[[1, 2], [0, 1], [3, 1]], [[1, 1], [2, 0], [0, 3]]],
                [[[1, 0], [1, 1], [2, 1]], [[0, 1], [1, 2], [3, 0]]],
            ],
        ),
        (0, 1, 1, 2),
    ),
)
