"""The function table of the extension, and signatures for people and in RBS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from codegen.definitions import Function
from codegen.model import Op
from codegen.names import fill, identifier
from codegen.printer import boolean, string
from codegen.targets.ruby import words
from codegen.targets.ruby.words import RUBY
from codegen.types import Argument

# The parameter for operands that come with their labels.
LABELLED = "operands_and_labels"
WIDTH = 120
SIGNATURE_WIDTH = 100  # of signatures in the manual


@dataclass(frozen=True)
class RubyFunction:
    """A public function with its names in Ruby; a name is None if there is no such form."""

    function: Function
    name: str  # "add", without the namespace
    name_space: str | None  # "Comm::Local"
    method: str | None
    operator: str | None
    in_place: str | None

    @property
    def variable(self) -> str:
        """Returns the name of the array of overloads."""
        return f"{identifier(self.function.name)}_overloads"

    @property
    def row(self) -> str:
        """Returns the initializer of a Function."""
        count = len(self.function.overloads)
        names = map(string, (self._full(self.name), self._full(self.in_place)))
        flags = (self.function.takes_equation, self.function.starts)
        function = ", ".join((*names, self.variable, str(count), *map(boolean, flags)))
        forms = (self.name_space, self.name, self.function.name, self.method, self.operator, self.in_place)
        return ", ".join((f"{{{function}}}", *map(string, forms)))

    def _full(self, name: str | None) -> str | None:
        """Returns a name with that of the module: `Comm::Local.all_reduce`."""
        return f"{self.name_space}.{name}" if name and self.name_space else name

    @property
    def is_enumerable(self) -> bool:
        """Returns whether Ruby's Enumerable has a method of the same name."""
        return self.method in words.ENUMERABLE


@dataclass(frozen=True)
class MethodType:
    """A method type in RBS: `(parameters) -> result`."""

    parameters: tuple[str, ...]
    result: str


def definition(head: str, types: Sequence[MethodType], indent: str, *, takes_block: bool = False) -> str:
    """Returns the definition of a method in RBS, with one or more lines per method type."""
    texts = []
    for position, type_ in enumerate(types):
        start = f"{indent}def {head}: " if position == 0 else f"{indent}{' ' * (len(head) + 4)}| "
        texts.append(fill(f"{start}(", type_.parameters, f") -> {type_.result}", WIDTH))
    if takes_block:
        texts.append(f"{indent}{' ' * (len(head) + 4)}| (*untyped) {{ (*untyped) -> untyped }} -> untyped")
    return "\n".join(texts)


def function_types(entry: RubyFunction) -> list[MethodType]:
    """Returns the method types of a function such as OneFlow.add."""
    result = "Work" if entry.function.starts else None
    return [each for op in entry.function.overloads for each in _types(op, op.signature.arguments, op.has_out, result)]


def method_types(entry: RubyFunction) -> list[MethodType]:
    """Returns the method types of a method such as Tensor#add."""
    overloads = [op for op in entry.function.overloads if op.receiver]
    return [each for op in overloads for each in _types(op, _without_receiver(op), op.has_out)]


def in_place_function_types(entry: RubyFunction) -> list[MethodType]:
    """Returns the method types of an in-place function such as OneFlow::Comm::Local.all_reduce!."""
    overloads = [op for op in entry.function.overloads if op.replaced]
    return [each for op in overloads for each in _types(op, op.signature.arguments, False)]


def in_place_types(entry: RubyFunction) -> list[MethodType]:
    """Returns the method types of an in-place method such as Tensor#add!."""
    overloads = [op for op in entry.function.overloads if op.has_in_place]
    return [each for op in overloads for each in _types(op, _without_receiver(op), False, "self")]


def function_lines(entry: RubyFunction) -> list[tuple[str, Op]]:
    """Returns the call sequences of a function with their overloads; some have another one for operands with labels."""
    lines = []
    for op in entry.function.overloads:
        lines.append((_line(entry.name, op, words.parameters(op.signature.arguments)), op))
        if op.takes_equation:
            options = words.parameters(argument for argument in op.signature.arguments if argument.keyword_only)
            lines.append((_line(entry.name, op, [f"*{LABELLED}", *options]), op))
    return lines


def method_lines(entry: RubyFunction) -> list[tuple[str, Op]]:
    """Returns the call sequences of a method with their overloads."""
    overloads = [op for op in entry.function.overloads if op.receiver]
    return [(_line(entry.name, op, words.parameters(_without_receiver(op))), op) for op in overloads]


def signature(name: str, op: Op) -> str:
    """Returns the signature of a function for the manual: `OneFlow.topk(input, k, dim: -1) -> [Tensor, Tensor]`."""
    return _line(name, op, words.parameters(op.signature.arguments), SIGNATURE_WIDTH)


def _line(name: str, op: Op, parameters: list[str], width: int = 1000) -> str:
    options = ["out: nil"] * op.has_out + ["requires_grad: false"] * op.makes_leaves
    return fill(f"{name}(", [*parameters, *options], f") -> {_result(op)}", width)


def _result(op: Op) -> str:
    if op.signature.gives_list:
        return "Array[Tensor]"
    several = f"[{', '.join(['Tensor'] * len(op.signature.results))}]"
    return "Tensor" if len(op.signature.results) == 1 else several


def _without_receiver(op: Op) -> tuple[Argument, ...]:
    return tuple(argument for argument in op.signature.arguments if argument != op.receiver)


def _types(op: Op, arguments: tuple[Argument, ...], has_out: bool, result: str | None = None) -> Iterator[MethodType]:
    """Yields the ways to pass the arguments.

    All are positional; those with a default are passed by name; all except the leading tensors are passed by name; the
    items of a list at the end are separate arguments; operands come with their labels.
    """
    required = [a for a in arguments if not a.has_default and not a.keyword_only]
    optional = [a for a in arguments if a.has_default and not a.keyword_only]
    named = [a for a in arguments if a.keyword_only]
    tensors = list(takewhile(lambda argument: argument.type.is_tensor, required))
    fresh = _result(op)

    def passing(positional: list[str], by_name: list[Argument]) -> MethodType:
        keywords = [f"{'?' * a.has_default}{a.name}: {RUBY.declared(a)}" for a in by_name]
        options = [f"?out: {fresh}?"] * has_out + ["?requires_grad: bool"] * (has_out and op.makes_leaves)
        return MethodType((*positional, *keywords, *options), result or fresh)

    def by_position(some: list[Argument]) -> list[str]:
        return [f"{'?' * a.has_default}{RUBY.declared(a)} {a.name}" for a in some]

    yield passing(by_position(required + optional), named)
    if optional:
        yield passing(by_position(required), optional + named)
    if len(tensors) < len(required):
        yield passing(by_position(tensors), required[len(tensors) :] + optional + named)
    if required and not optional and required[-1].type.is_list:
        *others, last = required
        member = RUBY.declared(replace(last, type=replace(last.type, is_list=False)))
        yield passing([*by_position(others), f"*{member} {last.name}"], named)
    if op.takes_equation:
        yield passing([f"*(Tensor | labels) {LABELLED}"], named)
