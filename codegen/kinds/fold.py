"""What reductions and scans share: a state, how an element becomes one, how two merge, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.expression import Expression
from codegen.reader import Fields


@dataclass(frozen=True)
class Fold:
    state: Mapping[str, Expression]
    pre: Mapping[str, Expression]
    combine: Mapping[str, Expression]
    post: tuple[Expression, ...]


def read(fields: Fields) -> Fold:
    state = fields.need("state").fields.other_expressions()
    pre = fields.need("pre").fields.other_expressions()
    combine = fields.need("combine").fields.other_expressions()
    post = tuple(member.expression for member in fields.need("post").one_or_more)
    return Fold(state, pre, combine, post)
