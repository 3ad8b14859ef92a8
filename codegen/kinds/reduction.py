"""`reduction: {dims:, keepdim:, state:, pre:, combine:, post:, allows_empty:}`."""

from __future__ import annotations

from codegen.kinds import fold
from codegen.model import Reduction
from codegen.reader import Field


def read(field: Field) -> Reduction:
    fields = field.fields
    dims = fields.take("dims")
    keepdim = fields.take("keepdim")
    allows_empty = fields.take("allows_empty")
    parts = fold.read(fields)
    fields.finish()
    return Reduction(
        parts.state,
        parts.pre,
        parts.combine,
        parts.post,
        dims.words if dims else None,
        keepdim.words if keepdim else None,
        allows_empty.boolean if allows_empty else True,
    )
