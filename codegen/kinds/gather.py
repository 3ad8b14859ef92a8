"""`gather: {dims: argument, source: index expression, sizes: size expression}`."""

from __future__ import annotations

from codegen.model import Gather
from codegen.reader import Field


def read(field: Field) -> Gather:
    fields = field.fields
    dims = fields.need("dims").words
    source = fields.need("source").expression
    sizes = fields.take("sizes")
    fields.finish()
    return Gather(dims, source, sizes.expression if sizes else None)
