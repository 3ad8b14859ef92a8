"""What elementwise, generator and composite share: one expression, or one per value of the attribute `match` names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.expression import Expression
from codegen.reader import Fields


@dataclass(frozen=True)
class Branches:
    expressions: Mapping[str | None, Expression]
    match: str | None


def read(fields: Fields) -> Branches:
    """Call it last: with `match`, every key that was not taken before is a value of the attribute."""
    match = fields.take("match")
    if match is None:
        return Branches({None: fields.need("value").expression}, None)
    return Branches(dict(fields.other_expressions()), match.words)
