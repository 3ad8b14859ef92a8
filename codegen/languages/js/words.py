"""What JavaScript calls things: names, types, values, calls."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from codegen.model import Argument, BaseType, Call, CallValue, Literal, Name, Op, TensorLiteral, Type
from codegen.names import camel

# Words that cannot name a variable of a module.
RESERVED = frozenset(
    """arguments await break case catch class const continue debugger default delete do else enum eval export extends
    false finally for function if implements import in instanceof interface let new null package private protected
    public return static super switch this throw true try typeof var void while with yield""".split()
)

# What every function or object of JavaScript has, and what makes a promise of one.
MEMBERS = frozenset("constructor length name prototype then".split())

_EXPECTED: Mapping[BaseType, tuple[str, str]] = {  # one, several
    BaseType.TENSOR: ("Tensor", "Tensors"),
    BaseType.OPERAND: ("Tensor or number", "Tensors or numbers"),
    BaseType.NUMBER: ("number", "numbers"),
    BaseType.INT: ("integer", "integers"),
    BaseType.FLOAT: ("number", "numbers"),
    BaseType.BOOL: ("boolean", "booleans"),
    BaseType.STR: ("string", "strings"),
    BaseType.DIM: ("integer", "integers"),
    BaseType.SIZE: ("integer", "integers"),
    BaseType.PAIR: ("pair of integers", "pairs of integers"),
    BaseType.DTYPE: ("dtype", "dtypes"),
    BaseType.DEVICE: ("device", "devices"),
}
_FOUND: Mapping[BaseType, str] = {  # where it is not the first of the above
    BaseType.INT: "number",
    BaseType.DIM: "number",
    BaseType.SIZE: "number",
    BaseType.DTYPE: "string",
    BaseType.DEVICE: "string",
}
_TYPESCRIPT: Mapping[BaseType, str] = {
    BaseType.TENSOR: "Tensor",
    BaseType.OPERAND: "Tensor | Scalar",
    BaseType.NUMBER: "Scalar",
    BaseType.INT: "Integer",
    BaseType.FLOAT: "number",
    BaseType.BOOL: "boolean",
    BaseType.STR: "string",
    BaseType.DIM: "Integer",
    BaseType.SIZE: "Integer",
    BaseType.PAIR: "readonly [Integer, Integer]",
    BaseType.DTYPE: "DType",
    BaseType.DEVICE: "DeviceLike",
}


def expected_word(type_: Type) -> str:
    """What an error text says must be there: "integer or null", "array of Tensors"."""
    one, several = _EXPECTED[type_.base]
    words = f"array of {several}" if type_.is_list else one
    if not type_.optional:
        return words
    return words.replace(" or ", ", ") + " or null"


def found_word(type_: Type) -> str:
    """What an error text calls a value that was found; numbers are all alike."""
    return "array" if type_.is_list else _FOUND.get(type_.base, _EXPECTED[type_.base][0])


def typescript_list(type_: Type) -> str:
    """The type of a list's members, as a list, in a declaration."""
    one = _TYPESCRIPT[type_.base]
    member = f"{one} | null" if type_.optional_members else one
    return f"readonly ({member})[]" if " " in member else f"readonly {member}[]"


def typescript(type_: Type) -> str:
    """The type of an argument in a declaration."""
    words = _TYPESCRIPT[type_.base]
    if type_.is_list:
        words = "Integers" if type_.is_integer and not type_.is_pairs else typescript_list(type_)
    return f"{words} | null" if type_.optional else words


def literal_text(value: Literal) -> str:
    """Plain data in JavaScript's syntax."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value}n" if abs(value) > 2**53 else str(value)
        case float():
            if math.isnan(value):
                return "NaN"
            if math.isinf(value):
                return "Infinity" if value > 0 else "-Infinity"
            return repr(value)
        case str():
            return quoted(value)
        case _:
            return f"[{', '.join(map(literal_text, value))}]"


def quoted(text: str) -> str:
    """A string literal in single quotes."""
    return "'" + json.dumps(text)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"


def tensor_text(literal: TensorLiteral) -> str:
    """How a tensor is made: integers need their dtype, since a plain number makes a float32 tensor."""
    dtype = literal.dtype or ("int64" if _members(literal.values) == {int} else None)
    options = f", {{dtype: '{dtype}'}}" if dtype else ""
    return f"flow.tensor({literal_text(literal.values)}{options})"


def _members(values: Literal) -> set[type]:
    if isinstance(values, tuple):
        return set().union(*map(_members, values)) if values else set()
    return {type(values)}


def value_text(value: CallValue, function_name: Mapping[str, str]) -> str:
    match value:
        case TensorLiteral():
            return tensor_text(value)
        case Name(name=name):
            return quoted(name)
        case Call():
            return call_text(value, function_name)
        case tuple():
            return f"[{', '.join(value_text(member, function_name) for member in value)}]"
        case _:
            return literal_text(value)


def call_text(call: Call, function_name: Mapping[str, str]) -> str:
    """`flow.sum(flow.tensor([1.0]), {dim: 0})`; `function_name` gives public names by those of the definitions."""
    values = [value_text(value, function_name) for value in call.positional]
    if call.keywords:
        pairs = (f"{camel(name)}: {value_text(value, function_name)}" for name, value in call.keywords)
        values.append(f"{{{', '.join(pairs)}}}")
    return f"flow.{function_name[call.op]}({', '.join(values)})"


def signature_line(name: str, op: Op) -> str:
    """One call form for the manual: `flow.sum(input, dim = null, keepdim = false, {dtype = null, out}): Tensor`."""
    positional = [_parameter(a) for a in op.signature.arguments if not a.keyword_only]
    named = [_parameter(a) for a in op.signature.arguments if a.keyword_only]
    if op.has_out:
        named.append("out")
    results = [camel(result.name or "") or typescript(result.type) for result in op.signature.results]
    gives = f"[{', '.join(results)}]" if len(results) > 1 else "Tensor" + "[]" * op.signature.gives_list
    return f"flow.{name}({', '.join(positional + ([braced(named)] if named else []))}): {gives}"


def _parameter(argument: Argument) -> str:
    name = camel(argument.name)
    return f"{name} = {literal_text(argument.default)}" if argument.has_default else name


def braced(parts: Sequence[str]) -> str:
    return f"{{{', '.join(parts)}}}"
