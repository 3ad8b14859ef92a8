"""`generator: {sizes: argument or expression, random: count, value: expression}`; `match` as for elementwise."""

from __future__ import annotations

from codegen.kinds import branches
from codegen.model import Generator
from codegen.reader import Field


def read(field: Field) -> Generator:
    fields = field.fields
    sizes = fields.need("sizes").expression
    random = fields.take("random")
    found = branches.read(fields)
    fields.finish()
    return Generator(found.expressions, sizes, found.match, random.natural if random else 0)
