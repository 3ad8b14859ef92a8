"""Sentences about a record that `explain` and the reference manual share."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.expression import Expression
from codegen.kinds.base import branches, matched_values
from codegen.model import Argument, BaseType, Complex, Composite, Contraction, DTypeSet, Op, ResultRule

_SETS = {
    DTypeSet.ANY: "any type",
    DTypeSet.NUMERIC: "any type but bool",
    DTypeSet.FLOATING: "floating-point types",
    DTypeSet.INTEGRAL: "integers and bool",
    DTypeSet.BOOL: "bool",
    DTypeSet.INDEX: "int64 and int32",
}
_WITH_COMPLEX = (DTypeSet.ANY, DTypeSet.NUMERIC)
_RESULTS = {
    ResultRule.PROMOTE: "the type that the operands promote to",
    ResultRule.SAME: "the type of the first tensor",
    ResultRule.FLOATING: "the promoted type; integers and bool become the default floating-point type",
    ResultRule.BOOL: "bool",
    ResultRule.INT64: "int64",
    ResultRule.ACCUMULATE: "the promoted type; integers and bool become int64",
}


FORMS = ("function", "method", "in place", "out")
_MEANINGS = {  # one, several
    BaseType.OPERAND: ("a tensor or a number", "tensors or numbers"),
    BaseType.DIM: ("a dimension, from the end when negative", "dimensions, from the end when negative"),
    BaseType.SIZE: ("not negative", "sizes"),
    BaseType.DEVICE: ("where the result lies", "where the results lie, in this order"),
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
            complex_too = ", complex ones too" if op.takes_complex and accepted in _WITH_COMPLEX else ""
            yield f"{', '.join(others)}: {_SETS[accepted]}{any_type}{complex_too}"
    for result, rule in zip(op.signature.results, op.dtype.results, strict=True):
        text = _RESULTS[rule]
        if rule is ResultRule.FLOATING and not op.signature.tensor_arguments:
            text = "the default floating-point type"
        override = f", or {op.dtype.override} where it is given" if op.dtype.override else ""
        yield f"{result.name or 'result'}: {text}{override}"
    if op.dtype.holds:
        yield f"{', '.join(op.dtype.holds)}: as a number, it must fit into the type of the result"


def complex_text(op: Op) -> str:
    """What becomes of complex tensors, for operators that take them."""
    if isinstance(op.complex, Expression):
        return op.complex.text
    return "part by part" if op.complex is Complex.PARTS else "as real ones"


def meaning(op: Op, argument: Argument) -> str:
    """What may be passed, beyond what the summary says of it."""
    return "; ".join(_meanings(op, argument))


def _meanings(op: Op, argument: Argument) -> Iterator[str]:
    kind, type_ = op.kind, argument.type
    if argument.alias and argument.alias.written:
        yield "written to"
    if argument.name == getattr(kind, "match", None) and type_.base is BaseType.STR:
        yield "one of " + ", ".join(f"`'{value}'`" for value in matched_values(kind))
    elif argument.name == getattr(kind, "keepdim", None):
        yield "keep the reduced dimensions, with size 1"
    elif argument.name == op.dtype.override:
        yield "the type of the result, instead of the one below"
    elif type_.base in _MEANINGS:
        yield _MEANINGS[type_.base][type_.is_list]
    if type_.optional and argument.name == getattr(kind, "dims", None):
        yield "absent: all of them"
    elif type_.optional and type_.base is BaseType.DEVICE:
        yield "absent: the default device"


def definitions(op: Op) -> Iterator[tuple[str, str]]:
    """The expressions that say what the operator computes, each with the condition under which it does."""
    match = getattr(op.kind, "match", None)
    for name, part in getattr(op.kind, "let", {}).items():
        if isinstance(op.kind, Composite):
            yield "", f"{name} = {part.text}"
    for value, expression in branches(op.kind).items():
        yield ("" if value is None else f"{match} {value}"), " ".join(expression.text.split())
    if isinstance(op.kind, Contraction) and "->" in op.kind.equation:
        yield "", op.kind.equation


def forms(op: Op) -> Iterator[str]:
    """The ways in which the front ends offer a record."""
    offered = (True, op.receiver is not None, op.has_in_place, op.has_out)
    yield from (form for form, holds in zip(FORMS, offered, strict=True) if holds)
