"""`scan: {dim:, state:, pre:, combine:, post:}`."""

from __future__ import annotations

from codegen.kinds import fold
from codegen.model import Scan
from codegen.reader import Field


def read(field: Field) -> Scan:
    fields = field.fields
    dim = fields.need("dim").words
    parts = fold.read(fields)
    fields.finish()
    return Scan(parts.state, parts.pre, parts.combine, parts.post, dim)
