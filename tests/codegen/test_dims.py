"""Tests that dimension maps in words have the relations of those that the runtime finds, which its own tests prove."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from codegen.definitions import Definitions
from codegen.dims import Link, Relation
from codegen.model import Op
from tests.codegen.conftest import REPOSITORY

# The calls of runtime/tests/dispatch/dimension_map_test.cpp: "0.1->- folded" is dimension 1 of tensor 0.
CASES = json.loads((REPOSITORY / "tests" / "data" / "dimension_maps.json").read_text())

# What the sizes of one call can make of a relation in words.
FOUND = {
    Relation.SAME: {"same"},
    Relation.BROADCAST: {"same", "broadcast"},
    Relation.REGROUPED: {"split", "merged", "indexed", "opaque"},  # without common factors, nothing is known
    Relation.WINDOWED: {"same", "windowed"},
    Relation.INDEXED: {"indexed"},
    Relation.FOLDED: {"folded"},
    Relation.CONTRACTED: {"contracted"},
    Relation.OPAQUE: {"opaque"},
}

# The functions whose words name each dimension, by arguments. Those of others depend on sizes or an equation.
EXACT = {
    "broadcast_dimensions", "gather_dimensions", "kept_dimensions", "opaque_dimensions", "reduction_dimensions",
    "scan_dimensions",
}  # fmt: skip


def found(link: Link) -> set[str]:
    """Returns the relations that a call can have where a record has a link."""
    noted = {"broadcast"} if "a size of 1 is broadcast" in link.note else set()
    return FOUND[link.relation] | noted | ({"windowed"} if "cut to" in link.note else set())


def operands(op: Op, arguments: list[Any]) -> Iterator[str]:
    """Yields the name of the argument of each tensor."""
    for argument, value in zip(op.signature.arguments, arguments, strict=False):
        if isinstance(value, dict) and "integers" not in value:
            yield from [argument.name] * len(value.get("list", [value]))


def covered(link: Link, op: Op, arguments: list[Any], rank: int) -> set[int] | None:
    """Returns the dimensions of a tensor of this rank that the words of a link name; None if they are no argument."""
    if link.dims in ("every dimension", "all others"):
        return set(range(rank))
    argument = op.signature.argument(link.dims.strip("`"))
    if argument is None:
        return None
    position = op.position(argument.name)
    value = arguments[position] if position < len(arguments) else argument.default
    dims = value["integers"] if isinstance(value, dict) else [value]
    return set(range(rank)) if value is None or dims == [] else {dim % rank for dim in dims if rank}


def named(links: list[Link], op: Op, arguments: list[Any], dim: int, rank: int) -> list[Link]:
    """Returns the links whose words name a dimension of a tensor, of which "all others" leaves those before."""
    dims = [covered(link, op, arguments, rank) for link in links]
    if None in dims:
        return links
    first = next((link for link, each in zip(links, dims, strict=True) if each and dim in each), None)
    return [first] if first else []


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['operator']}: {case['links']}")
def test_words_agree_with_the_runtime(case: dict[str, Any], definitions: Definitions) -> None:
    op = definitions.by_name[case["operator"]]
    names = list(operands(op, case["arguments"]))
    links = op.kind.dimensions(op).links
    texts = list(filter(None, case["links"].split(", ")))
    ranks = {place: 1 + max(dims_of(texts, place)) for place in {text.split(".")[0] for text in texts}}
    for text in texts:
        place, relation = text.split(" ")[:2]
        number, dim = place.split("->")[0].split(".")
        name = names[int(number)]
        # A composite has the links of its calls, whose operands are values of its body, and may leave nothing of them.
        own = [*links] if op.kind.has_body else [link for link in links if link.operand in ("", name)]
        if op.kind.dimensions(op).function in EXACT:
            own = named(own, op, case["arguments"], int(dim), ranks[number])
        allowed = set().union(*map(found, own), {"opaque"} if op.kind.has_body else set())
        assert relation in allowed, text


def dims_of(texts: list[str], number: str) -> Iterator[int]:
    """Yields the dimensions of a tensor that have links."""
    for text in texts:
        if text.split(".")[0] == number:
            yield int(text.split("->")[0].split(".")[1])


def test_there_is_a_case_for_each_rule(definitions: Definitions) -> None:
    tested = {op.kind.dimensions(op).function for op in (definitions.by_name[case["operator"]] for case in CASES)}
    assert tested == {op.kind.dimensions(op).function for op in definitions.ops}
