"""The function table of the extension, and the signatures of the `.rbs` file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from codegen.languages.ruby import words
from codegen.model import Argument, Function, Op, View
from codegen.names import identifier
from codegen.printer import boolean, enumerator, string

# What stands in a signature for operands that come with their labels.
LABELLED = "operands_and_labels"


def argument_row(argument: Argument) -> str:
    """The initialiser of an Argument."""
    type_ = argument.type
    flags = (
        type_.is_list, type_.optional, type_.optional_members, not argument.has_default, argument.keyword_only,
        type_.is_pairs,
    )  # fmt: skip
    kind = f"ArgumentType::{enumerator(type_)}"
    return ", ".join((string(argument.name), string(words.type_word(type_)), kind, *map(boolean, flags), "0"))


def overload_row(op: Op) -> str:
    """The initialiser of an Overload."""
    signature = op.signature
    alias = signature.results[0].alias

    def position(holds: Iterator[bool]) -> str:
        return str(next((index for index, held in enumerate(holds) if held), -1))

    return ", ".join(
        (
            string(op.full_name),
            f"{identifier(op.full_name)}_arguments",
            str(len(signature.arguments)),
            str(sum(not argument.keyword_only for argument in signature.arguments)),
            str(len(signature.results)),
            position(argument == op.receiver for argument in signature.arguments),
            position(alias is not None and a.alias == alias and not alias.written for a in signature.arguments),
            position(a.alias is not None and a.alias.written for a in signature.arguments),
            boolean(not isinstance(op.kind, View)),
            boolean(op.has_out),
            position(argument == op.replaced for argument in signature.arguments),
            boolean(signature.gives_list),
            "nullptr",
        )
    )


@dataclass(frozen=True)
class Entry:
    """A public function with its names in Ruby."""

    function: Function
    name: str  # "add", without the namespace
    name_space: str | None  # "Comm"
    method: str | None
    operator: str | None
    in_place: str | None

    @property
    def variable(self) -> str:
        return f"{identifier(self.function.name)}_overloads"

    @property
    def row(self) -> str:
        """The initialiser of a Function."""
        names = (self.name_space, self.name, self.function.name, self.method, self.operator, self.in_place)
        takes_equation = boolean(self.function.takes_equation)
        return ", ".join((*map(string, names), takes_equation, self.variable, str(len(self.function.overloads))))

    @property
    def is_enumerable(self) -> bool:
        """Whether Ruby's Enumerable has a method of the same name."""
        return self.method in words.ENUMERABLE

    @property
    def summary(self) -> tuple[str, ...]:
        """What the overloads do, each once."""
        return tuple(dict.fromkeys(op.summary for op in self.function.overloads))


def function_types(entry: Entry) -> list[str]:
    """The method types in RBS of OneFlow.add."""
    return [text for op in entry.function.overloads for text in _types(op, op.signature.arguments, op.has_out)]


def method_types(entry: Entry) -> list[str]:
    """Those of Tensor#add."""
    operators = [op for op in entry.function.overloads if op.receiver]
    texts = [text for op in operators for text in _types(op, _without_receiver(op), op.has_out)]
    return [*texts, "(*untyped) { (*untyped) -> untyped } -> untyped"] if entry.is_enumerable else texts


def in_place_function_types(entry: Entry) -> list[str]:
    """Those of OneFlow::Comm.all_reduce!."""
    overloads = [op for op in entry.function.overloads if op.replaced]
    return [text for op in overloads for text in _types(op, op.signature.arguments, False)]


def in_place_types(entry: Entry) -> list[str]:
    """Those of Tensor#add!."""
    overloads = [op for op in entry.function.overloads if op.has_in_place]
    return [text for op in overloads for text in _types(op, _without_receiver(op), False, "self")]


def function_lines(entry: Entry) -> list[str]:
    """How OneFlow.topk is called, a line per overload, and one for operands with their labels."""
    labelled = [_labelled_line(entry.name, op) for op in entry.function.overloads if op.takes_equation]
    return [*(line(entry.name, op, op.signature.arguments) for op in entry.function.overloads), *labelled]


def method_lines(entry: Entry) -> list[str]:
    """The same for Tensor#topk."""
    return [line(entry.name, op, _without_receiver(op)) for op in entry.function.overloads if op.receiver]


def line(name: str, op: Op, arguments: tuple[Argument, ...]) -> str:
    """`topk(input, k, dim: -1) -> [Tensor, Tensor]`."""
    return _line(name, op, words.parameters(arguments))


def _labelled_line(name: str, op: Op) -> str:
    options = words.parameters(argument for argument in op.signature.arguments if argument.keyword_only)
    return _line(name, op, [f"*{LABELLED}", *options])


def _line(name: str, op: Op, parameters: list[str]) -> str:
    out = ["out: nil"] if op.has_out else []
    return f"{name}({', '.join([*parameters, *out])}) -> {_result(op)}"


def _result(op: Op) -> str:
    if op.signature.gives_list:
        return "Array[Tensor]"
    several = f"[{', '.join(['Tensor'] * len(op.signature.results))}]"
    return "Tensor" if len(op.signature.results) == 1 else several


def _without_receiver(op: Op) -> tuple[Argument, ...]:
    return tuple(argument for argument in op.signature.arguments if argument != op.receiver)


def _types(op: Op, arguments: tuple[Argument, ...], has_out: bool, result: str | None = None) -> Iterator[str]:
    """All by position; those with a default by name; all but the first tensors by name; a list at the end spread;
    operands with their labels."""
    required = [a for a in arguments if not a.has_default and not a.keyword_only]
    optional = [a for a in arguments if a.has_default and not a.keyword_only]
    named = [a for a in arguments if a.keyword_only]
    tensors = list(takewhile(lambda argument: argument.type.is_tensor, required))
    fresh = _result(op)

    def text(positional: list[str], by_name: list[Argument]) -> str:
        keywords = [f"{'?' * a.has_default}{a.name}: {words.signature_type(a.type)}" for a in by_name]
        out = [f"?out: {fresh}?"] if has_out else []
        return f"({', '.join([*positional, *keywords, *out])}) -> {result or fresh}"

    def by_position(some: list[Argument]) -> list[str]:
        return [f"{'?' * a.has_default}{words.signature_type(a.type)} {a.name}" for a in some]

    yield text(by_position(required + optional), named)
    if optional:
        yield text(by_position(required), optional + named)
    if len(tensors) < len(required):
        yield text(by_position(tensors), required[len(tensors) :] + optional + named)
    if required and not optional and required[-1].type.is_list:
        *others, last = required
        member = words.signature_type(replace(last.type, is_list=False))
        yield text([*by_position(others), f"*{member} {last.name}"], named)
    if op.takes_equation:
        yield text([f"*(Tensor | labels) {LABELLED}"], named)
