"""Names, types, literals and calls in JavaScript."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from codegen import base_types
from codegen.base_types import Word, word
from codegen.model import Argument, Call, CallValue, Literal, Name, Op, TensorLiteral, Type
from codegen.names import camel, fill

WIDTH = 100  # of signatures in the manual

# Words that cannot be the name of a variable in a module.
RESERVED = frozenset(
    """arguments await break case catch class const continue debugger default delete do else enum eval export extends
    false finally for function if implements import in instanceof interface let new null package private protected
    public return static super switch this throw true try typeof var void while with yield""".split()
)

# Properties of every function or object, and `then`, which would make an object a promise.
MEMBERS = frozenset("constructor length name prototype then".split())

_WORDS = {
    base_types.TENSOR: Word("Tensor", "Tensors", "Tensor"),
    base_types.NUMBER: Word("number", "numbers", "Scalar"),
    base_types.INT: Word("integer", "integers", "Integer"),
    base_types.PAIR: Word("pair of integers", "pairs of integers", "readonly [Integer, Integer]"),
    base_types.INTS: Word("array of integers", "arrays of integers", "Integers"),
    base_types.FLOAT: Word("number", "numbers", "number"),
    base_types.BOOL: Word("boolean", "booleans", "boolean"),
    base_types.TRUE: Word("boolean", "booleans", "true"),
    base_types.FALSE: Word("boolean", "booleans", "false"),
    base_types.STR: Word("string", "strings", "string"),
    base_types.DTYPE: Word("dtype", "dtypes", "DType"),
    base_types.DEVICE: Word("device", "devices", "DeviceLike"),
    base_types.GENERATOR: Word("Generator", "Generators", "Generator"),
}
# The names of the types of values in error texts, if they differ from those of expected types.
_FOUND = {base_types.INT: "number", base_types.DTYPE: "string", base_types.DEVICE: "string"}


def item_word(type_: Type) -> str:
    """Returns the name of the type of an item of a list in error texts."""
    return word(type_.base, _WORDS).one


def expected_word(type_: Type) -> str:
    """Returns the name of an expected type in error texts: "integer or null", "array of Tensors"."""
    found = word(type_.base, _WORDS)
    words = f"array of {found.several}" if type_.is_list else found.one
    if not type_.optional:
        return words
    return words.replace(" or ", ", ") + " or null"


def found_word(type_: Type) -> str:
    """Returns the name of the type of a value in error texts; all numbers have the same type."""
    return "array" if type_.is_list else _FOUND.get(type_.base.converted, word(type_.base, _WORDS).one)


def _declared(argument: Argument) -> str:
    return "TensorLike" if argument.takes_arrays else word(argument.type.base, _WORDS).declared


def typescript_list(argument: Argument) -> str:
    """Returns the TypeScript type of an argument that is a list, without null."""
    type_, one = argument.type, _declared(argument)
    member = f"{one} | null" if type_.optional_members else one
    return f"readonly ({member})[]" if " " in member else f"readonly {member}[]"


def typescript(argument: Argument) -> str:
    """Returns the TypeScript type of an argument."""
    type_, words = argument.type, _declared(argument)
    if type_.is_list:
        words = "Integers" if type_.is_integer and not type_.is_nested else typescript_list(argument)
    return f"{words} | null" if type_.optional else words


def literal_text(value: Literal) -> str:
    """Returns plain data in JavaScript's syntax."""
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
    """Returns a string literal in single quotes."""
    return "'" + json.dumps(text)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"


def tensor_text(literal: TensorLiteral) -> str:
    """Returns a call that creates a tensor. Integers need a dtype, because numbers give float32 tensors by default."""
    dtype = literal.dtype or ("int64" if _members(literal.values) == {int} else None)
    options = f", {{dtype: '{dtype}'}}" if dtype else ""
    return f"flow.tensor({literal_text(literal.values)}{options})"


def _members(values: Literal) -> set[type]:
    if isinstance(values, tuple):
        return set().union(*map(_members, values)) if values else set()
    return {type(values)}


def value_text(value: CallValue, function_name: Mapping[str, str]) -> str:
    """Returns an argument of a call."""
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
    """Returns a call: `flow.sum(flow.tensor([1.0]), {dim: 0})`. `function_name` maps functions to public names."""
    values = [value_text(value, function_name) for value in call.positional]
    if call.keywords:
        pairs = (f"{camel(name)}: {value_text(value, function_name)}" for name, value in call.keywords)
        values.append(f"{{{', '.join(pairs)}}}")
    return f"flow.{function_name[call.op]}({', '.join(values)})"


def signature_line(name: str, op: Op) -> str:
    """Returns a signature for the manual: `flow.sum(input, dim = null, {dtype = null, out}): Tensor`."""
    positional = [_parameter(a) for a in op.signature.arguments if not a.keyword_only]
    named = [_parameter(a) for a in op.signature.arguments if a.keyword_only]
    if op.has_out:
        named.append("out")
    if op.makes_leaves:
        named.append("requiresGrad = false")
    if named:
        named[0] = "{" + named[0]
        named[-1] += "}"
    results = [camel(result.name or "") or "Tensor" for result in op.signature.results]
    gives = f"[{', '.join(results)}]" if len(results) > 1 else "Tensor" + "[]" * op.signature.gives_list
    return fill(f"flow.{name}(", [*positional, *named], f"): {gives}", WIDTH)


def _parameter(argument: Argument) -> str:
    name = camel(argument.name)
    return f"{name} = {literal_text(argument.default)}" if argument.has_default else name
