"""Sentences about a record that `explain` and the reference manual share."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.model import DTypeSet, Op, ResultRule

_SETS = {
    DTypeSet.ANY: "any type",
    DTypeSet.NUMERIC: "any type but bool",
    DTypeSet.FLOATING: "floating-point types",
    DTypeSet.INTEGRAL: "integers and bool",
    DTypeSet.BOOL: "bool",
    DTypeSet.INDEX: "int64 and int32",
}
_RESULTS = {
    ResultRule.PROMOTE: "the type that the operands promote to",
    ResultRule.SAME: "the type of the first tensor",
    ResultRule.FLOATING: "the promoted type; integers and bool become the default floating-point type",
    ResultRule.BOOL: "bool",
    ResultRule.INT64: "int64",
    ResultRule.ACCUMULATE: "the promoted type; integers and bool become int64",
}


def dtype_lines(op: Op) -> Iterator[str]:
    """What the tensor arguments may hold, and what the results hold."""
    if op.signature.tensor_arguments:
        named = {name: each for name, each in op.dtype.accepts.items() if name}
        for name, each in named.items():
            yield f"{name}: {_SETS[each]}"
        others = [a.name for a in op.signature.tensor_arguments if a.name not in named]
        if others:
            accepted = op.dtype.accepts.get("", DTypeSet.ANY)
            any_type = f"; any where {op.dtype.override} is given" if op.dtype.converts else ""
            yield f"{', '.join(others)}: {_SETS[accepted]}{any_type}"
    for result, rule in zip(op.signature.results, op.dtype.results, strict=True):
        text = _RESULTS[rule]
        if rule is ResultRule.FLOATING and not op.signature.tensor_arguments:
            text = "the default floating-point type"
        override = f", or {op.dtype.override} where it is given" if op.dtype.override else ""
        yield f"{result.name or 'result'}: {text}{override}"
    if op.dtype.holds:
        yield f"{', '.join(op.dtype.holds)}: as a number, it must fit into the type of the result"


def forms(op: Op) -> Iterator[str]:
    """The ways in which the front ends offer a record."""
    yield "function"
    if op.receiver:
        yield "method"
    if op.has_in_place:
        yield "in place"
    if op.has_out:
        yield "out"
