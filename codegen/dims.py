"""Dimension maps: which dimension of a result follows which dimension of which operand, without a call.

`runtime/dispatch/dimension_map.h` has the same relations for the sizes of one call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum


class Relation(Enum):
    """How a dimension of a result depends on a dimension of an operand."""

    SAME = "the same"
    BROADCAST = "broadcast"
    REGROUPED = "split or merged"
    WINDOWED = "windowed: index = begin + factor x index of the result"
    INDEXED = "indexed by arguments"
    FOLDED = "folded"
    CONTRACTED = "contracted"
    OPAQUE = "not known"


ALIGNED = "aligned at the end; a size of 1 is broadcast"


@dataclass(frozen=True)
class Link:
    """Dimensions of an operand, and how the result depends on them."""

    operand: str  # the name of an argument; empty: every tensor
    dims: str  # "`dim`", "every dimension", "label `j`"
    relation: Relation
    note: str = ""  # what is special: "in another order"

    @property
    def text(self) -> str:
        """Returns the link in words: "input: every dimension the same, in another order"."""
        note = f", {self.note}" if self.note else ""
        return f"{self.operand or 'tensors'}: {self.dims} {self.relation.value}{note}"


def sharding_lines(links: Sequence[Link]) -> Iterator[str]:
    """Yields what follows from the links for tensors that are split along a dimension."""
    same = [link for link in links if link.relation in (Relation.SAME, Relation.BROADCAST)]
    partial = [link for link in links if link.relation in (Relation.FOLDED, Relation.CONTRACTED)]
    if same:
        yield f"can be split: {_listed(same)}"
    if partial:
        yield f"gives partial results when split: {_listed(partial)}"
    if others := [link for link in links if link not in same and link not in partial]:
        yield f"cannot be split: {_listed(others)}"


def _listed(links: Sequence[Link]) -> str:
    return "; ".join(f"{link.dims} of {link.operand or 'the tensors'}" for link in links)
