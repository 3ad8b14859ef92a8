"""`composite: "expression over operators"`, or a mapping: `value:` or `match:` with one body per value, and `let:`."""

from __future__ import annotations

from codegen.kinds import branches
from codegen.model import Composite
from codegen.reader import Field


def read(field: Field) -> Composite:
    if field.is_scalar:
        return Composite({None: field.expression})
    fields = field.fields
    let = fields.take("let")
    parts = let.fields.other_expressions() if let else {}
    found = branches.read(fields)
    fields.finish()
    return Composite(found.expressions, found.match, parts)
