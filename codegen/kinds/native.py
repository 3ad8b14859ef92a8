"""`native: {infer: name of the C++ function that gives shapes and dtypes, data_dependent: true}`."""

from __future__ import annotations

from codegen.model import Native
from codegen.reader import Field


def read(field: Field) -> Native:
    fields = field.fields
    infer = fields.need("infer").words
    data_dependent = fields.take("data_dependent")
    fields.finish()
    return Native(infer, data_dependent.boolean if data_dependent else False)
