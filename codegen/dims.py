"""Dimension maps: which dimension of a result follows which dimension of which operand.

A kind gives one `DimensionRule`: the C++ function that finds the links of a call from the sizes of its operands
(`runtime/dispatch/dimension_map.h`), and the same links in words, without a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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


BROADCAST = "a size of 1 is broadcast"
ALIGNED = f"aligned at the end; {BROADCAST}"


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


@dataclass(frozen=True)
class DimensionRule:
    """The dimension map of an operator."""

    function: str  # of C++
    links: tuple[Link, ...]
    headers: tuple[str, ...] = ()  # that declare the function; empty: those of the kind do


_SHARED = ("ops/dimension_rules.h",)


def broadcast(operands: Iterable[str]) -> DimensionRule:
    """Returns the rule of operands whose dimensions follow those of the result, aligned at the end."""
    links = (Link(name, "every dimension", Relation.SAME, ALIGNED) for name in operands)
    return DimensionRule("broadcast_dimensions", tuple(links), _SHARED)


def kept(operands: Sequence[str], unknown: Sequence[str] = (), note: str = "") -> DimensionRule:
    """Returns the rule of operands with the dimensions of the result, of which those in arguments are not known."""
    links = [Link(name, f"`{each}`", Relation.OPAQUE, note) for name in operands for each in unknown]
    rest = "all others" if unknown else "every dimension"
    return DimensionRule("kept_dimensions", (*links, *(Link(name, rest, Relation.SAME) for name in operands)), _SHARED)


def opaque(operands: Iterable[str]) -> DimensionRule:
    """Returns the rule of operands of which nothing is known."""
    links = (Link(name, "every dimension", Relation.OPAQUE) for name in operands)
    return DimensionRule("opaque_dimensions", tuple(links), _SHARED)


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
