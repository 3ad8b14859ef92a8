"""Types, literals, calls and operators in Ruby."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from codegen import base_types
from codegen.base_types import Word, word
from codegen.model import DTYPES, Argument, Call, CallValue, Literal, Name, TensorLiteral, Type
from codegen.names import pascal

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

# Methods of every object in Ruby.
MEMBERS = frozenset(
    """class display dup extend freeze hash initialize inspect itself method methods object_id send tap then""".split()
)

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
}


def module_name(space: str) -> str:
    """Returns the module of a namespace: nn.functional -> NN::Functional."""
    return "::".join(ABBREVIATIONS.get(part) or pascal(part) for part in space.split("."))


def item_word(type_: Type) -> str:
    """Returns the name of the type of an item of a list in error texts."""
    return word(type_.base, _WORDS).one


def type_word(type_: Type) -> str:
    """Returns the name of a type in error texts: "Integer", "Array of Integers"."""
    found = word(type_.base, _WORDS)
    return f"Array of {found.several}" if type_.is_list else found.one


def signature_type(argument: Argument) -> str:
    """Returns the type of an argument in RBS: "Integer", "(Integer | Array[Integer])?"."""
    type_ = argument.type
    text = "nested" if argument.takes_arrays else word(type_.base, _WORDS).declared
    if type_.is_list:
        member = f"{text}?" if type_.optional_members else text
        text = f"Array[{member}]" if type_.is_nested else f"({text} | Array[{member}])"
    return f"{text}?" if type_.optional else text


def literal(value: Literal) -> str:
    """Returns plain data in Ruby's syntax."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case float() if math.isnan(value):
            return "Float::NAN"
        case float() if math.isinf(value):
            return "Float::INFINITY" if value > 0 else "-Float::INFINITY"
        case float() | int():
            return f"{value:_}" if abs(value) >= 10_000 else repr(value)
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("#", "\\#").replace("\n", "\\n")
            return f'"{escaped}"'
        case _:
            return f"[{', '.join(map(literal, value))}]"


def call(node: Call, public: Mapping[str, str]) -> str:
    """Returns a call: `OneFlow.sum(OneFlow.tensor([1.0]), dim: 0)`. `public` maps functions to public names."""

    def text(value: CallValue) -> str:
        match value:
            case Call():
                return call(value, public)
            case TensorLiteral(values=values, dtype=dtype):
                return f"OneFlow.tensor({literal(values)}{f', dtype: :{dtype}' if dtype else ''})"
            case Name(name=name):
                return f":{name}" if name in DTYPES else f'"{name}"'
            case tuple():
                words = [each for each in value if isinstance(each, str) and each.isalnum()]
                if len(words) == len(value) > 1:
                    return f"%w[{' '.join(words)}]"
                return f"[{', '.join(map(text, value))}]"
            case _:
                return literal(value)

    arguments = [*map(text, node.positional), *(f"{name}: {text(value)}" for name, value in node.keywords)]
    return f"{qualified(public[node.op])}({', '.join(arguments)})"


def qualified(name: str) -> str:
    """Returns the name with its module: OneFlow.sum for "sum", OneFlow::Comm.reduce for "Comm.reduce"."""
    return f"OneFlow{'::' if '.' in name else '.'}{name}"


def default(argument: Argument) -> str:
    """Returns the default of an argument: `:float32`, `nil`, `"none"`."""
    if argument.type.base is base_types.DTYPE and isinstance(argument.default, str):
        return f":{argument.default}"
    return literal(argument.default)


def parameters(arguments: Iterable[Argument]) -> list[str]:
    """Returns the parameters, required ones by position and others by name: `input`, `dim: nil`, `keepdim: false`."""
    return [
        f"{argument.name}: {default(argument)}" if argument.has_default
        else f"{argument.name}:" if argument.keyword_only
        else argument.name
        for argument in arguments
    ]  # fmt: skip
