"""Reads the key that elementwise, generator and composite share: an expression, or one per value of an attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.errors import unknown
from codegen.expression import Expression
from codegen.kinds.base import argument_named
from codegen.model import Argument, BaseType, Signature
from codegen.reader import Bad, Fields


@dataclass(frozen=True)
class Branches:
    """The expressions by the value of the attribute `match`; {None: expression} if there is no `match`."""

    expressions: Mapping[str | None, Expression]
    match: str | None


def read(fields: Fields, signature: Signature | None) -> Branches:
    """Reads `value`, or `match` with its branches.

    With `match`, every key that has not been read yet is a value of the attribute, so read all other keys first.
    """
    match = fields.take("match")
    if match is None:
        return Branches({None: fields.need("value").expression}, None)
    name = argument_named(match, signature, _can_match, "a str, a bool or optional")
    expressions: dict[str | None, Expression] = {}
    for value, expression in fields.other_expressions().items():
        expressions[value] = expression
    argument = signature.argument(name) if signature else None
    if argument:
        _check_values(fields, argument, [key for key in expressions if key is not None])
    return Branches(expressions, name)


def _can_match(argument: Argument) -> bool:
    return argument.type.optional or (argument.type.base in (BaseType.STR, BaseType.BOOL) and not argument.type.is_list)


def _check_values(fields: Fields, argument: Argument, values: list[str]) -> None:
    """Checks that the attribute can have each of these values, and that all of its known values have an expression."""
    if argument.type.base is BaseType.STR:
        if isinstance(argument.default, str) and argument.default not in values:
            raise Bad(fields.owner.location, f"no expression for '{argument.default}', the default of {argument.name}")
        needed = ["none"] if argument.type.optional else []
    else:
        needed = ["true", "false"] if argument.type.base is BaseType.BOOL else ["given"]
        needed += ["none"] if argument.type.optional else []
        for value in values:
            if value not in needed:
                raise fields.keys[value].bad(unknown(f"value of {argument.name}", value, needed))
    for value in needed:
        if value not in values:
            raise Bad(fields.owner.location, f"no expression for {argument.name}: {value}")
