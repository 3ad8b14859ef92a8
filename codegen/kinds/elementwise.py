"""`elementwise: "expression"`, or a mapping with `match: attribute` and one expression per value of it."""

from __future__ import annotations

from codegen.kinds import branches
from codegen.model import Elementwise
from codegen.reader import Field


def read(field: Field) -> Elementwise:
    if field.is_scalar:
        return Elementwise({None: field.expression})
    fields = field.fields
    found = branches.read(fields)
    fields.finish()
    return Elementwise(found.expressions, found.match)
