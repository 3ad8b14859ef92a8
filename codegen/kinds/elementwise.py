"""`elementwise: "expression"`, or a mapping with `match: attribute` and one expression per value of the attribute.

The expression computes an element of the result from the elements of the broadcast operands at the same index.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.checking import Scope, operand_sort
from codegen.intrinsics import SCALAR
from codegen.kinds import branches
from codegen.kinds.base import (
    Fact,
    Functions,
    Rules,
    Skeleton,
    check_expression,
    check_names,
    check_results,
    kernel_fact,
    listed,
    scalar_refusals,
)
from codegen.model import Elementwise, Op, Signature
from codegen.reader import Field, Report


def scope(op: Op) -> Scope:
    """Returns the names and functions that the expressions may use."""
    names = {a.name: operand_sort(op, a) for a in op.signature.arguments}
    return Scope(names, SCALAR, arguments=names, refused=scalar_refusals(op))


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
        check_results(op, report)
        check_names(op, ("i", "count"), report)
        for argument in op.signature.tensor_arguments:
            if argument.type.is_list:
                report.add(op.locate(argument), "an elementwise operator cannot take a list of tensors")
        if all(argument.type.optional for argument in op.signature.tensor_arguments):
            report.add(op.signature_location, "an elementwise operator needs a tensor argument that is not optional")
        for expression in kind.expressions.values():
            check_expression(expression, scope(op), None, report)

    def facts(self, op: Op, kind: Elementwise) -> Iterator[Fact]:
        operands = [f"`{a.name}`" for a in op.signature.tensor_arguments]
        shape = f"that of {operands[0]}" if len(operands) == 1 else f"the broadcast shape of {listed(operands)}"
        yield Fact("shape", shape)
        yield kernel_fact(op)
        yield Fact("sharding", "every dimension can be split" + " (derived)" * (op.sharding is None))
        yield Fact("cost", "number of elements of the result x number of operations of the expression")


RULES = _Elementwise()
