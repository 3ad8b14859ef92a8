"""What languages with a front end write alike: names of types, literals and calls. Each of them says what differs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from codegen.base_types import BaseType
from codegen.dtypes import DTYPES
from codegen.examples import Call, CallValue, Name, TensorLiteral
from codegen.types import Argument, Literal, Type


@dataclass(frozen=True)
class Word:
    """The names of a type in a language: in error texts, of one value and of several, and in declarations."""

    one: str
    several: str
    declared: str


class Words(ABC):
    """The words and the syntax of a language."""

    types: ClassVar[Mapping[BaseType, Word]]  # those of types that take something else may be left out
    list_name: ClassVar[str]  # of a list in error texts
    data: ClassVar[str]  # the declared type of what front ends make a tensor of
    null: ClassVar[str]
    true: ClassVar[str] = "true"
    false: ClassVar[str] = "false"

    # -- types ------------------------------------------------------------------------------------------------------

    def word(self, type_: Type) -> Word:
        """Returns the names of a type, or of the items of a list."""
        base = type_.base
        if base.converted in self.types:
            return self.types[base.converted]
        taken = [self.types[each] for each in base.takes or ()]
        return Word(
            " or ".join(each.one for each in taken),
            " or ".join(each.several for each in taken),
            " | ".join(each.declared for each in taken),
        )

    def item_word(self, type_: Type) -> str:
        """Returns the name of the type of an item of a list in error texts."""
        return self.word(type_).one

    def type_word(self, type_: Type) -> str:
        """Returns the name of a type in error texts: "int", "list of ints"."""
        found = self.word(type_)
        return f"{self.list_name} of {found.several}" if type_.is_list else found.one

    def declared(self, argument: Argument) -> str:
        """Returns the type of an argument in declarations."""
        type_ = argument.type
        text = self.declared_list(argument) if type_.is_list else self.declared_item(argument)
        return self.or_null(text) if type_.optional else text

    def declared_item(self, argument: Argument) -> str:
        """Returns the type of an argument, or of an item of it, without null."""
        return self.data if argument.takes_arrays else self.word(argument.type).declared

    def declared_list(self, argument: Argument) -> str:
        """Returns the type of an argument that is a list, without null; most lists may be a single item instead."""
        one = self.declared_item(argument)
        items = self.list_of(self.or_null(one) if argument.type.optional_members else one)
        return items if argument.type.is_nested else self.either(one, items)

    @abstractmethod
    def list_of(self, item: str) -> str:
        """Returns the type of a list of items of a type."""

    @abstractmethod
    def or_null(self, text: str) -> str:
        """Returns a type that also has null."""

    def either(self, first: str, second: str) -> str:
        """Returns a type that has the values of two others."""
        return f"{first} | {second}"

    # -- literals ---------------------------------------------------------------------------------------------------

    def literal(self, value: Literal) -> str:
        """Returns plain data in the syntax of the language."""
        match value:
            case None:
                return self.null
            case bool():
                return self.true if value else self.false
            case float() if not math.isfinite(value):
                return self.not_finite(value)
            case int() | float():
                return self.number(value)
            case str():
                return self.string(value)
        return f"[{', '.join(map(self.literal, value))}]"

    def number(self, value: float) -> str:
        """Returns a finite number."""
        return repr(value)

    @abstractmethod
    def not_finite(self, value: float) -> str:
        """Returns an infinity or NaN."""

    @abstractmethod
    def string(self, text: str) -> str:
        """Returns a string literal."""

    # -- calls ------------------------------------------------------------------------------------------------------

    def call(self, node: Call, public: Callable[[str], str]) -> str:
        """Returns a call: `flow.sum(flow.tensor([1.0]), dim=0)`. `public` returns the public name of a function."""

        def text(value: CallValue) -> str:
            match value:
                case Call():
                    return self.call(value, public)
                case TensorLiteral():
                    dtype = self.dtype_of(value)
                    named = {"dtype": self.dtype(dtype)} if dtype else {}
                    return self.invocation("tensor", [self.literal(value.values)], named)
                case Name(name=name):
                    return self.dtype(name) if name in DTYPES else self.string(name)
                case tuple():
                    return self.items(value, list(map(text, value)))
            return self.literal(value)

        return self.invocation(
            public(node.op), list(map(text, node.positional)), {name: text(value) for name, value in node.keywords}
        )

    @abstractmethod
    def invocation(self, name: str, positional: Sequence[str], named: Mapping[str, str]) -> str:
        """Returns a call of a public function."""

    @abstractmethod
    def dtype(self, name: str) -> str:
        """Returns a dtype as an argument."""

    def dtype_of(self, literal: TensorLiteral) -> str | None:
        """Returns the dtype that must be given with a tensor; None: it follows from the values."""
        return literal.dtype

    def items(self, values: Sequence[CallValue], texts: Sequence[str]) -> str:
        """Returns a list of values, which have these texts."""
        return f"[{', '.join(texts)}]"
