"""The expressions of a fold, as a record gives them: by the name of an algebra, or one by one.

`combine` names an algebra of `codegen.kinds.algebra`, and `of` what is folded, by default `input`. Or `state` has the
identity of each part of the state, `pre` maps an element (`input`, with its `index`) to a state, and `combine` merges
the states `a` and `b`. `post` maps the state (and `count`, the number of elements) to each result; by default, a result
is a part of the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.errors import unknown
from codegen.expression import Expression, parse
from codegen.kinds.algebra import ALGEBRAS
from codegen.kinds.checks import expression_per_result
from codegen.reader import Field, Fields
from codegen.signature import NAME
from codegen.types import Signature


@dataclass(frozen=True)
class Parts:
    """The expressions of a fold, as they are read."""

    state: Mapping[str, Expression]
    pre: Mapping[str, Expression]
    combine: Mapping[str, Expression]
    post: tuple[Expression, ...]
    algebra: str | None = None  # the name of the algebra, if it has one
    # Of a selection: what combines two values, whatever their positions. It follows from the algebra, so that it is
    # not part of what identifies kernels.
    alone: Expression | None = field(default=None, compare=False)


def read(fields: Fields, signature: Signature | None, *, is_scan: bool = False) -> Parts:
    """Reads the keys of a fold."""
    combine_field = fields.need("combine")
    if combine_field.is_scalar:
        return _read_algebra(combine_field, fields, signature, is_scan)
    state_field = fields.need("state")
    state = state_field.fields.other_expressions()
    if not state:
        raise state_field.bad("a state must have at least one part")
    for key in state_field.fields.keys.values():
        key.name(NAME)
    pre = _parts(fields.need("pre"), state)
    combine = _parts(combine_field, state)
    return Parts(state, pre, combine, expression_per_result(fields.need("post"), signature))


def _read_algebra(field: Field, fields: Fields, signature: Signature | None, is_scan: bool) -> Parts:
    """Reads the keys of a fold whose algebra has a name."""
    name = field.words
    if name not in ALGEBRAS:
        raise field.bad(unknown("algebra", name, ALGEBRAS))
    of = fields.optional("of", lambda f: f.expression, None)
    post_field = fields.take("post")

    def parsed(text: str) -> Expression:
        return parse(text, field.location, one_line=False)

    def pre(text: str) -> Expression:
        return of if of and text == "{of}" else parsed(text.replace("{of}", "input"))

    parts = ALGEBRAS[name]
    results = len(signature.results) if signature else 1
    post = expression_per_result(post_field, signature) if post_field else tuple(map(parsed, list(parts)[:results]))
    return Parts(
        {part: parsed((is_scan and each.scan_identity) or each.identity) for part, each in parts.items()},
        {part: pre(each.pre) for part, each in parts.items()},
        {part: parsed(each.combine) for part, each in parts.items()},
        post,
        name,
        next((parsed(each.alone) for each in parts.values() if each.alone), None),
    )


def _parts(field: Field, state: Mapping[str, Expression]) -> dict[str, Expression]:
    """Reads one expression for each part of the state."""
    fields = field.fields
    for name, key in fields.keys.items():
        if name not in state:
            raise key.bad(unknown("state", name, state))
    for name in state:
        if name not in fields.values:
            raise field.bad(f"no expression for state '{name}'")
    return fields.other_expressions()
