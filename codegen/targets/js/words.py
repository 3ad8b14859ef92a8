"""Names, types, literals and calls in JavaScript."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from codegen import base_types
from codegen.examples import TensorLiteral
from codegen.model import Op
from codegen.names import camel, fill
from codegen.types import Argument, Literal, Type
from codegen.words import Word, Words

WIDTH = 100  # of signatures in the manual

# Words that cannot be the name of a variable in a module.
RESERVED = frozenset(
    """arguments await break case catch class const continue debugger default delete do else enum eval export extends
    false finally for function if implements import in instanceof interface let new null package private protected
    public return static super switch this throw true try typeof var void while with yield""".split()
)

# Properties of every function or object, and `then`, which would make an object a promise.
MEMBERS = frozenset("constructor length name prototype then toString valueOf".split())

# The names of the types of values in error texts, if they differ from those of expected types.
_FOUND = {base_types.INT: "number", base_types.DTYPE: "string", base_types.DEVICE: "string"}


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
    base_types.GROUP: Word("Group or string", "Groups", "comm.Group | string"),
}


class JsWords(Words):
    types = _WORDS
    list_name = "array"
    data = "TensorLike"
    null = "null"

    def type_word(self, type_: Type) -> str:
        """Returns the name of an expected type in error texts: "integer or null", "array of Tensors"."""
        words = super().type_word(type_)
        return words.replace(" or ", ", ") + " or null" if type_.optional else words

    def found_word(self, type_: Type) -> str:
        """Returns the name of the type of a value in error texts; all numbers have the same type."""
        return self.list_name if type_.is_list else _FOUND.get(type_.base.converted, self.word(type_).one)

    def declared_list(self, argument: Argument) -> str:
        is_integers = argument.type.is_integer and not argument.type.is_nested
        return "Integers" if is_integers else self.declared_array(argument)

    def declared_array(self, argument: Argument) -> str:
        """Returns the TypeScript type of an argument that is a list, without null."""
        one = self.declared_item(argument)
        return self.list_of(self.or_null(one) if argument.type.optional_members else one)

    def list_of(self, item: str) -> str:
        return f"readonly ({item})[]" if " " in item else f"readonly {item}[]"

    def or_null(self, text: str) -> str:
        return f"{text} | null"

    def number(self, value: float) -> str:
        return f"{value}n" if isinstance(value, int) and abs(value) > 2**53 else repr(value)

    def not_finite(self, value: float) -> str:
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"

    def string(self, text: str) -> str:
        return "'" + json.dumps(text)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"

    def invocation(self, name: str, positional: Sequence[str], named: Mapping[str, str]) -> str:
        options = [self.map_({camel(name): value for name, value in named.items()})] if named else []
        return f"flow.{name}({', '.join([*positional, *options])})"

    def map_(self, items: Mapping[str, str]) -> str:
        """Returns an object literal."""
        return f"{{{', '.join(key if key == text else f'{key}: {text}' for key, text in items.items())}}}"

    def dtype(self, name: str) -> str:
        return self.string(name)

    def dtype_of(self, literal: TensorLiteral) -> str | None:
        """Returns the dtype that must be given: also that of integers, because numbers give float32 tensors."""
        return literal.dtype or ("int64" if _members(literal.values) == {int} else None)


JS = JsWords()


def _members(values: Literal) -> set[type]:
    if isinstance(values, tuple):
        return set().union(*map(_members, values)) if values else set()
    return {type(values)}


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
    return f"{name} = {JS.literal(argument.default)}" if argument.has_default else name
