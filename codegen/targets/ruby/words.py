"""Types, literals, calls and operators in Ruby."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from codegen import base_types
from codegen.examples import CallValue
from codegen.names import pascal
from codegen.types import Argument
from codegen.words import Word, Words

# The operators of Ruby, by the function that each of them calls. `==` is not one of them: in Ruby it compares whole
# objects and returns a boolean, and `!=` is derived from it.
OPERATORS: Mapping[str, str] = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "remainder": "%",
    "pow": "**",
    "neg": "-@",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "bitwise_not": "~",
    "bitwise_left_shift": "<<",
    "bitwise_right_shift": ">>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}

# Parts of namespaces that are abbreviations.
ABBREVIATIONS: Mapping[str, str] = {"nn": "NN"}

# Functions that are not methods, with the reason.
WITHOUT_METHOD: Mapping[str, str] = {
    "clone": "Object#clone makes the same copy, and accepts `freeze:`",
}

# Methods of Ruby's Enumerable whose names operators may have; with a block, a call reaches the method of Enumerable.
ENUMERABLE = frozenset(
    """
    chain chunk collect compact count cycle detect drop entries filter find first grep inject lazy map max min minmax
    partition reduce reject select sort sum take tally uniq zip
    """.split()
)

# Methods of every object or module in Ruby.
MEMBERS = frozenset(
    """class display dup extend freeze hash initialize inspect itself method methods name object_id send tap then to_s
    """.split()
)


def module_name(space: str) -> str:
    """Returns the module of a namespace: nn.functional -> NN::Functional."""
    return "::".join(ABBREVIATIONS.get(part) or pascal(part) for part in space.split("."))


def qualified(name: str) -> str:
    """Returns the name with its module: OneFlow.sum for "sum", OneFlow::Comm::Local.reduce for "Comm::Local.reduce"."""
    return f"OneFlow{'::' if '.' in name else '.'}{name}"


_WORDS = {
    base_types.TENSOR: Word("Tensor", "Tensors", "Tensor"),
    base_types.OPERAND: Word("Tensor or real Numeric", "Tensors or real Numerics", "operand"),
    base_types.NUMBER: Word("real Numeric", "real Numerics", "scalar"),
    base_types.INT: Word("Integer", "Integers", "Integer"),
    base_types.PAIR: Word("pair of Integers", "pairs of Integers", "[Integer, Integer]"),
    base_types.INTS: Word("Array of Integers", "Arrays of Integers", "(Integer | Array[Integer])"),
    base_types.FLOAT: Word("Float", "Floats", "scalar"),
    base_types.BOOL: Word("bool", "bools", "bool"),
    base_types.TRUE: Word("bool", "bools", "true"),
    base_types.FALSE: Word("bool", "bools", "false"),
    base_types.STR: Word("String", "Strings", "name"),
    base_types.DTYPE: Word("dtype", "dtypes", "name"),
    base_types.DEVICE: Word("device", "devices", "name"),
    base_types.GENERATOR: Word("Generator", "Generators", "Generator"),
    base_types.GROUP: Word("Group or String", "Groups", "Comm::Group | String"),
}


class RubyWords(Words):
    types = _WORDS
    list_name = "Array"
    data = "nested"
    null = "nil"

    def list_of(self, item: str) -> str:
        return f"Array[{item}]"

    def or_null(self, text: str) -> str:
        return f"{text}?"

    def either(self, first: str, second: str) -> str:
        return f"({super().either(first, second)})"

    def number(self, value: float) -> str:
        return f"{value:_}" if abs(value) >= 10_000 else repr(value)

    def not_finite(self, value: float) -> str:
        return "Float::NAN" if math.isnan(value) else "Float::INFINITY" if value > 0 else "-Float::INFINITY"

    def string(self, text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("#", "\\#").replace("\n", "\\n")
        return f'"{escaped}"'

    def invocation(self, name: str, positional: Sequence[str], named: Mapping[str, str]) -> str:
        return f"{qualified(name)}({', '.join([*positional, *self.named(named)])})"

    def named(self, values: Mapping[str, str]) -> list[str]:
        """Returns arguments by name, with the name alone for a variable of the same name."""
        return [f"{name}:" if name == value else f"{name}: {value}" for name, value in values.items()]

    def dtype(self, name: str) -> str:
        return f":{name}"

    def items(self, values: Sequence[CallValue], texts: Sequence[str]) -> str:
        words = [each for each in values if isinstance(each, str) and each.isalnum()]
        return f"%w[{' '.join(words)}]" if len(words) == len(values) > 1 else super().items(values, texts)


RUBY = RubyWords()


def default(argument: Argument) -> str:
    """Returns the default of an argument: `:float32`, `nil`, `"none"`."""
    if argument.type.base is base_types.DTYPE and isinstance(argument.default, str):
        return RUBY.dtype(argument.default)
    return RUBY.literal(argument.default)


def parameters(arguments: Iterable[Argument]) -> list[str]:
    """Returns the parameters, required ones by position and others by name: `input`, `dim: nil`, `keepdim: false`."""
    return [
        f"{argument.name}: {default(argument)}" if argument.has_default
        else f"{argument.name}:" if argument.keyword_only
        else argument.name
        for argument in arguments
    ]  # fmt: skip
