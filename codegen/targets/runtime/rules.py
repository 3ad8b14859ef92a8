"""The content of the file of rules: a pattern and a program per rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from codegen import base_types
from codegen.definitions import Bound, Definitions, Rule
from codegen.model import Op
from codegen.names import wrap
from codegen.printer import boolean, real, string
from codegen.targets.runtime.families import Called, OperatorSource, constant
from codegen.targets.runtime.programs import WIDTH
from codegen.types import Argument, Literal


@dataclass(frozen=True)
class RuleSource:
    """The C++ source of one rule."""

    rule: Rule
    definitions: Definitions

    @cached_property
    def entry(self) -> OperatorSource:
        """Returns the source of the operator that computes the right side."""
        return OperatorSource(self.rule.op, self.definitions)

    @property
    def constant(self) -> str:
        return self.entry.constant

    @property
    def comment(self) -> str:
        return "\n".join(wrap(self.rule.op.summary, WIDTH, "// "))

    @property
    def calls(self) -> list[tuple[str, list[str]]]:
        """Returns the name and the initializers of the arguments of each call."""
        return [(call.op.full_name, list(self._arguments(i))) for i, call in enumerate(self.rule.calls)]

    @property
    def lists(self) -> list[tuple[str, list[str]]]:
        """Returns the names and the initializers of the lists of tensors in the calls."""
        return [
            (self._list(i, position), [_bound(item, call.op.signature.arguments[position]) for item in bound.items])
            for i, call in enumerate(self.rule.calls)
            for position, bound in enumerate(call.arguments)
            if bound.items
        ]

    def _list(self, call: int, position: int) -> str:
        return f"{self.constant}Call{call}Items{position}"

    def _arguments(self, number: int) -> Iterator[str]:
        call = self.rule.calls[number]
        for position, (bound, argument) in enumerate(zip(call.arguments, call.op.signature.arguments, strict=True)):
            yield f"{{.items = {self._list(number, position)}}}" if bound.items else _bound(bound, argument)

    @property
    def fields(self) -> list[str]:
        """Returns the initializers of the rule, after its schema."""
        mask = sum(1 << self.rule.op.position(name) for name in self.rule.constants)
        fields = [f".calls = {self.constant}Calls", f".body = {self.entry.body}"]
        if mask:
            fields.append(f".constants = {mask:#x}")
        if self.rule.error is not None:
            fields.append(f".error = {self.rule.error!r}")
        return fields


def _bound(bound: Bound, argument: Argument) -> str:
    if bound.variable is not None:
        return f"{{.variable = {bound.variable}}}"
    if bound.call is not None:
        return f"{{.call = {bound.call}}}"
    return f"{{.literal = {literal(bound.literal, argument)}}}"


def literal(value: Literal, argument: Argument) -> str:
    """Returns the expression for a literal that stands for an argument."""
    match value:
        case None:
            return "kNone"
        case bool():
            return f"to_value({boolean(value)})"
        case int() | float():
            is_real = isinstance(value, float) or argument.type.base.passed is base_types.FLOAT
            return f"to_value({real(float(value))})" if is_real else f"to_value(int64_t{{{value}}})"
        case str():
            return f"to_value({string(value)})"
    return "kNoTensors" if argument.type.is_tensor else f"to_value(kList<{', '.join(map(str, value))}>)"


def called(sources: list[RuleSource]) -> list[Called]:
    """Returns the operators that the right sides call."""
    ops: dict[str, Op] = {op.full_name: op for source in sources for op in source.entry.called}
    return [Called(name, constant(op)) for name, op in sorted(ops.items())]
