"""Types, literals, calls and signatures in Python."""

from __future__ import annotations

import json
import keyword
import math
from collections.abc import Callable, Iterable

from codegen import base_types
from codegen.base_types import Word, word
from codegen.model import DTYPES, Argument, Call, CallValue, Literal, Name, Op, TensorLiteral, Type
from codegen.names import fill, pascal

RESERVED = frozenset(keyword.kwlist) | {"self"}
WIDTH = 100  # of signatures and docstrings

_WORDS = {
    base_types.TENSOR: Word("Tensor", "Tensors", "Tensor"),
    base_types.NUMBER: Word("number", "numbers", "Number"),
    base_types.INT: Word("int", "ints", "int"),
    base_types.PAIR: Word("pair of ints", "pairs of ints", "tuple[int, int]"),
    base_types.INTS: Word("list of ints", "lists of ints", "int | Sequence[int]"),
    base_types.FLOAT: Word("float", "floats", "float"),
    base_types.BOOL: Word("bool", "bools", "bool"),
    base_types.TRUE: Word("bool", "bools", "Literal[True]"),
    base_types.FALSE: Word("bool", "bools", "Literal[False]"),
    base_types.STR: Word("str", "strs", "str"),
    base_types.DTYPE: Word("dtype", "dtypes", "DTypeLike"),
    base_types.DEVICE: Word("device", "devices", "DeviceLike"),
    base_types.GENERATOR: Word("Generator", "Generators", "Generator"),
}


def item_word(type_: Type) -> str:
    """Returns the name of the type of an item of a list in error texts."""
    return word(type_.base, _WORDS).one


def type_word(type_: Type) -> str:
    """Returns the name of a type in error texts: "int", "list of ints"."""
    found = word(type_.base, _WORDS)
    return f"list of {found.several}" if type_.is_list else found.one


def annotation(argument: Argument) -> str:
    """Returns the annotation of an argument: "int", "int | Sequence[int] | None"."""
    type_ = argument.type
    text = "Data" if argument.takes_arrays else word(type_.base, _WORDS).declared
    if type_.is_list:
        member = f"{text} | None" if type_.optional_members else text
        text = f"Sequence[{member}]" if type_.is_nested else f"{text} | Sequence[{member}]"
    return f"{text} | None" if type_.optional else text


def literal(value: Literal) -> str:
    """Returns plain data in Python's syntax."""
    match value:
        case float() if math.isnan(value) or math.isinf(value):
            return f'float("{value}")'
        case str():
            return json.dumps(value, ensure_ascii=False)
        case tuple():
            return f"[{', '.join(map(literal, value))}]"
        case _:
            return repr(value)


def call(node: Call, public: Callable[[str], str]) -> str:
    """Returns a call: `flow.sum(flow.tensor([1.0]), dim=0)`. `public` returns the public name of a function."""

    def text(value: CallValue) -> str:
        match value:
            case Call():
                return call(value, public)
            case TensorLiteral(values=values, dtype=dtype):
                return f"flow.tensor({literal(values)}{f', dtype=flow.{dtype}' if dtype else ''})"
            case Name(name=name):
                return f"flow.{name}" if name in DTYPES else literal(name)
            case tuple():
                return f"[{', '.join(map(text, value))}]"
            case _:
                return literal(value)

    arguments = [*map(text, node.positional), *(f"{name}={text(value)}" for name, value in node.keywords)]
    return f"flow.{public(node.op)}({', '.join(arguments)})"


# ------------------------------------------------------------------------------------------------ results


def result_type(op: Op) -> str:
    """Returns the annotation of the result of a call; for several named results, the class of their named tuple."""
    results = op.signature.results
    if op.signature.gives_list:
        return "tuple[Tensor, ...]"
    if len(results) == 1:
        return "Tensor"
    if all(result.name for result in results):
        return "".join(pascal(result.name or "") for result in results)
    return f"tuple[{', '.join(['Tensor'] * len(results))}]"


def named_results(op: Op) -> tuple[str, ...]:
    """Returns the fields of the named tuple that a call returns; none if it does not return one."""
    results = op.signature.results
    names = tuple(result.name for result in results if result.name)
    return names if len(results) > 1 and len(names) == len(results) else ()


# ------------------------------------------------------------------------------------------------ signatures


def signature(name: str, op: Op) -> str:
    """Returns the signature of an overload for people: `flow.sum(input: Tensor, ...) -> Tensor`."""
    parameters = typed_parameters(op, op.signature.arguments, op.has_out)
    return fill(f"flow.{name}(", parameters, f") -> {result_type(op)}", WIDTH)


def _joined(arguments: Iterable[Argument], show: Callable[[Argument], str], others: list[str]) -> list[str]:
    """Returns the parameters with a `*` before those that are keyword-only."""
    arguments = list(arguments)
    texts = [show(a) for a in arguments if not a.keyword_only]
    named = [show(a) for a in arguments if a.keyword_only] + others
    return [*texts, "*", *named] if named else texts


def plain_parameters(op: Op, arguments: Iterable[Argument], has_out: bool) -> str:
    """Returns the parameters as `inspect.signature` reads them: `input, dim=None, *, out=None`."""

    def show(argument: Argument) -> str:
        return f"{argument.name}={literal(argument.default)}" if argument.has_default else argument.name

    others = ["out=None"] * has_out + ["requires_grad=False"] * (has_out and op.makes_leaves)
    return ", ".join(_joined(arguments, show, others))


def typed_parameters(op: Op, arguments: Iterable[Argument], has_out: bool) -> list[str]:
    """Returns the parameters with annotations and defaults: `input: Tensor`, `dim: int | None = None`, ..."""

    def show(argument: Argument) -> str:
        default = f" = {literal(argument.default)}" if argument.has_default else ""
        return f"{argument.name}: {annotation(argument)}{default}"

    others = [f"out: {out_type(op)} | None = None"] * has_out
    return _joined(arguments, show, others + ["requires_grad: bool = False"] * (has_out and op.makes_leaves))


def out_type(op: Op) -> str:
    """Returns the annotation of `out`."""
    count = len(op.signature.results)
    return "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"


def without_receiver(op: Op) -> tuple[Argument, ...]:
    """Returns the arguments of a method."""
    return tuple(argument for argument in op.signature.arguments if argument != op.receiver)


def takes_members(arguments: Iterable[Argument]) -> Argument | None:
    """Returns the list at the end whose items may be separate arguments, or None."""
    positional = [a for a in arguments if not a.keyword_only]
    last = positional[-1] if positional else None
    return last if last and last.type.is_list and not any(a.has_default for a in positional) else None
