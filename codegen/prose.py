"""Texts about a record that `explain`, the reference manual and docstrings share."""

from __future__ import annotations

import math
from collections.abc import Iterator

from codegen import base_types
from codegen.dtypes import DTypeSet, ResultRule
from codegen.model import Complex, Op
from codegen.program import Program
from codegen.types import Argument, Literal, Type

_SETS = {
    DTypeSet.ANY: "any type",
    DTypeSet.NUMERIC: "any type except bool",
    DTypeSet.FLOATING: "floating-point types",
    DTypeSet.INTEGRAL: "integers and bool",
    DTypeSet.BOOL: "bool",
    DTypeSet.INDEX: "integers",
}
_RESULTS = {
    ResultRule.PROMOTE: "the promoted type of the operands",
    ResultRule.SAME: "that of `{first}`",
    ResultRule.LAST: "that of `{last}`",
    ResultRule.FLOATING: "the promoted type; integers and bool become the default floating-point type",
    ResultRule.BOOL: "bool",
    ResultRule.INT64: "int64",
    ResultRule.ACCUMULATE: "the promoted type; integers and bool become int64",
    ResultRule.NUMBERS: "the type of the numbers",
}

# The forms of a call that front ends offer.
FORMS = ("function", "method", "in place", "out")


def type_words(type_: Type) -> str:
    """Returns the name of a type in the manual, such as "tensor" or "list of dimensions"."""
    if not type_.is_list:
        return type_.base.noun
    return f"list of {type_.base.plural}{' or null' * type_.optional_members}"


def value_text(value: Literal) -> str:
    """Returns plain data as the manual shows it: `[[1.0, true], [nan, null]]`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float() if not math.isfinite(value):
            return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        case tuple():
            return f"[{', '.join(map(value_text, value))}]"
        case _:
            return repr(value)


def dtype_lines(op: Op) -> Iterator[str]:
    """Yields the types that the tensor arguments accept, and those of the results: "`input`: any type"."""
    override = op.signature.argument(op.dtype.override) if op.dtype.override else None
    accepted: dict[str, list[str]] = {}
    for argument in op.signature.tensor_arguments:
        accepted.setdefault(_accepted(op, argument, override), []).append(argument.name)
    yield from (f"{_names(names)}: {text}" for text, names in accepted.items())
    for result, rule in zip(op.signature.results, op.dtype.results, strict=True):
        names = [a.name for a in op.signature.tensor_arguments] or [""]
        text = _RESULTS[rule].format(first=names[0], last=names[-1])
        if rule is ResultRule.FLOATING and not op.signature.tensor_arguments:
            text = "the default floating-point type"
        if override:
            text = f"{text}; `{override.name}` if it is given" if override.has_default else f"`{override.name}`"
        yield f"{f'`{result.name}`' if result.name else 'result'}: {text}"
    if op.dtype.holds:
        yield f"{_names(op.dtype.holds)}: a number must fit into the type of the result"


def _accepted(op: Op, argument: Argument, override: Argument | None) -> str:
    """Returns the types that a tensor argument accepts, in words."""
    if argument.name in op.dtype.accepts:
        return _SETS[op.dtype.accepts[argument.name]]
    accepts = op.dtype.accepts.get("", DTypeSet.ANY)
    converted = override if op.dtype.converts else None
    if converted and not converted.has_default:
        accepts = DTypeSet.ANY
    complex_too = ", including complex" if op.takes_complex and accepts.may_be_floating else ""
    any_type = f"; any type if `{converted.name}` is given" if converted and converted.has_default else ""
    return f"{_SETS[accepts]}{complex_too}{any_type}"


def _names(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def complex_text(op: Op) -> str:
    """Returns how an operator that supports complex tensors computes them."""
    if isinstance(op.complex, Program):
        return " ".join(op.complex.text.split())
    return "the real and the imaginary parts separately" if op.complex is Complex.PARTS else "as real tensors"


def meaning(op: Op, argument: Argument) -> str:
    """Returns what the record says about the values of an argument, beyond its type and the summary."""
    return "; ".join(_meanings(op, argument))


def _meanings(op: Op, argument: Argument) -> Iterator[str]:
    kind, type_ = op.kind, argument.type
    own = list(kind.meanings(op, argument))
    if argument.alias and argument.alias.written:
        yield "written to"
    if argument.name == kind.matched and type_.base is base_types.STR:
        yield "one of " + ", ".join(f"`'{value}'`" for value in kind.matched_values)
    elif own:
        yield from own
    elif argument.name == op.dtype.override:
        yield "the type of the result"
    elif type_.base is base_types.DEVICE:
        yield from _device_meanings(op, argument)
    elif type_.base.meaning:
        yield type_.base.meaning
    if type_.optional and argument.name == kind.folded:
        yield "all dimensions if omitted"


def _device_meanings(op: Op, argument: Argument) -> Iterator[str]:
    tensors = op.signature.tensor_arguments
    if argument.type.is_list:
        yield "the devices of the results, in this order"
    elif not argument.type.optional:
        yield "the device of the result"
    elif not tensors:
        yield "the device of the result; the default device if omitted"
    elif op.kind.follows_device:
        owner = f"the first of `{tensors[0].name}`" if tensors[0].type.is_list else f"`{tensors[0].name}`"
        yield f"the device of the result; that of {owner} if omitted"


def definitions(op: Op) -> Iterator[tuple[str, str]]:
    """Yields the expressions that define what the operator computes, each with the condition under which it applies."""
    argument = op.signature.argument(op.kind.matched or "")
    for value, text in op.kind.definitions():
        yield (_condition(argument, value) if argument and value is not None else ""), text


def _condition(argument: Argument, value: str) -> str:
    if argument.type.base is base_types.STR:
        return f"if `{argument.name}` is `'{value}'`"
    return f"if `{argument.name}` is {'omitted' if value == 'none' else value}"


def forms(op: Op) -> Iterator[str]:
    """Yields the forms of FORMS in which front ends offer a record."""
    offered = (True, op.receiver is not None, op.has_in_place, op.has_out)
    yield from (form for form, holds in zip(FORMS, offered, strict=True) if holds)
