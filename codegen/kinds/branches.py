"""The base of the kinds whose definition is an expression, or one expression per value of an attribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from codegen import base_types
from codegen.errors import unknown
from codegen.expression import Expression
from codegen.kinds.checks import argument_named
from codegen.model import Kind
from codegen.program import Program
from codegen.reader import Bad, Field, Fields
from codegen.types import Argument, Signature

E = TypeVar("E", Expression, tuple[Expression, ...], Program)


@dataclass(frozen=True)
class Branching(Kind, Generic[E]):
    """One definition per value of the attribute that `match` names, or {None: definition} without `match`."""

    branches: Mapping[str | None, E]
    match: str | None

    @property
    def matched(self) -> str | None:
        return self.match

    @property
    def matched_values(self) -> tuple[str, ...]:
        return tuple(value for value in self.branches if value is not None)


def read(
    fields: Fields, signature: Signature | None, read_one: Callable[[Field], E]
) -> tuple[Mapping[str | None, E], str | None]:
    """Reads `value`, or `match` with its branches; returns the branches and the name of the attribute.

    With `match`, every key that has not been read yet is a value of the attribute, so read all other keys first.
    """
    match = fields.take("match")
    if match is None:
        return {None: read_one(fields.need("value"))}, None
    name = argument_named(match, signature, _can_match, "a str, a bool or optional")
    expressions: dict[str | None, E] = {}
    for value, expression in fields.others(read_one).items():
        expressions[value] = expression
    argument = signature.argument(name) if signature else None
    if argument:
        _check_values(fields, argument, [key for key in expressions if key is not None])
    return expressions, name


def _can_match(argument: Argument) -> bool:
    return argument.type.optional or (
        argument.type.base in (base_types.STR, base_types.BOOL) and not argument.type.is_list
    )


def _check_values(fields: Fields, argument: Argument, values: list[str]) -> None:
    """Checks that the attribute can have each of these values, and that all of its known values have an expression."""
    if argument.type.base is base_types.STR:
        if isinstance(argument.default, str) and argument.default not in values:
            raise Bad(fields.owner.location, f"no expression for '{argument.default}', the default of {argument.name}")
        needed = ["none"] if argument.type.optional else []
    else:
        needed = ["true", "false"] if argument.type.base is base_types.BOOL else ["given"]
        needed += ["none"] if argument.type.optional else []
        for value in values:
            if value not in needed:
                raise fields.keys[value].bad(unknown(f"value of {argument.name}", value, needed))
    for value in needed:
        if value not in values:
            raise Bad(fields.owner.location, f"no expression for {argument.name}: {value}")
