"""`elementwise: "expression"`, or a mapping with `match: attribute` and one expression per value of it.

The expression gives an element of the result from the elements at the same place of the broadcast operands.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.checking import Scope, operand_sort
from codegen.intrinsics import SCALAR
from codegen.kinds import branches
from codegen.kinds.base import Fact, Functions, Rules, Skeleton, check_expression, kernel_fact, listed
from codegen.model import Elementwise, Op, Signature
from codegen.reader import Field, Report


def scope(op: Op) -> Scope:
    """What the expressions may name."""
    return Scope({a.name: operand_sort(op, a) for a in op.signature.arguments}, SCALAR)


class _Elementwise(Rules[Elementwise]):
    skeleton = Skeleton('  elementwise: ""\n')

    def read(self, field: Field, signature: Signature | None) -> Elementwise:
        if field.is_scalar:
            return Elementwise({None: field.expression})
        fields = field.fields
        found = branches.read(fields, signature)
        fields.finish()
        return Elementwise(found.expressions, found.match)

    def check(self, op: Op, kind: Elementwise, functions: Functions, report: Report) -> None:
        for expression in kind.expressions.values():
            check_expression(expression, scope(op), None, report)

    def facts(self, op: Op, kind: Elementwise) -> Iterator[Fact]:
        operands = [a.name for a in op.signature.tensor_arguments]
        yield Fact("shape", f"that of {listed(operands)}" + (", broadcast" if len(operands) > 1 else ""))
        yield kernel_fact(op)
        yield Fact("sharding", "any dimension splits" + " (derived)" * (op.sharding is None))
        yield Fact("cost", "size of the result x operations of the expression")


RULES = _Elementwise()
