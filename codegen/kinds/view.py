"""`view: {let: {name: expression}, sizes:, strides:, offset:}`; without `offset`, the input begins where it did."""

from __future__ import annotations

from codegen import expression
from codegen.model import View
from codegen.reader import Field


def read(field: Field) -> View:
    fields = field.fields
    let = fields.take("let")
    sizes = fields.need("sizes").expression
    strides = fields.need("strides").expression
    offset = fields.take("offset")
    fields.finish()
    return View(
        sizes,
        strides,
        offset.expression if offset else expression.parse("base", field.location),
        let.fields.other_expressions() if let else {},
    )
