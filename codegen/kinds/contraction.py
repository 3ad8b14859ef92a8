"""`contraction: matmul` (a named pattern), an equation, or the name of the argument that holds one."""

from __future__ import annotations

from codegen.model import Contraction
from codegen.reader import Field


def read(field: Field) -> Contraction:
    return Contraction(field.words)
