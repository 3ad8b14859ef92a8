"""Determines the types that the kernels of a record compute in; each device's target prints loops for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from codegen.dtypes import DTypeRule, DTypeSet, ResultRule
from codegen.expression import Binary, Conditional, Expression, Node, Variable
from codegen.intrinsics import BINARY

# In the order in which they are printed. Elements of other, narrower types are converted to one of these.
COMPUTE_TYPES = ("float32", "float64", "int32", "int64", "bool")
FLOATING = frozenset({"float32", "float64"})
COMPLEX = ("complex64", "complex128")
_ALL = frozenset(COMPUTE_TYPES)
_ACCEPTED = {
    DTypeSet.ANY: _ALL,
    DTypeSet.NUMERIC: _ALL - {"bool"},
    DTypeSet.FLOATING: FLOATING,
    DTypeSet.INTEGRAL: _ALL - FLOATING,
    DTypeSet.INDEX: frozenset({"int32", "int64"}),
    DTypeSet.BOOL: frozenset({"bool"}),
}


def is_complex(expression: Expression, tensors: Collection[str]) -> bool:
    """Returns whether an expression computes something, from tensors alone, by operations that complex numbers have."""

    def holds(node: Node) -> bool:
        match node:
            case Variable():
                return node.name in tensors
            case Binary():
                return BINARY[node.operator].holds_for_complex
        return isinstance(node, Conditional)

    return not isinstance(expression.root, Variable) and all(map(holds, expression.root.walk()))


def promoted_compute_types(dtype: DTypeRule, accepted: Sequence[DTypeSet]) -> frozenset[str]:
    """Returns the dtypes that follow from the dtype rule, for kinds that compute in the promoted type.

    `accepted` has the dtypes that each tensor argument accepts.
    """
    first = dtype.results[0]
    rule = dtype.computes_in or first
    promoted = frozenset().union(*(_ACCEPTED[each] for each in _promoted_sets(accepted)))
    match rule:
        case ResultRule.FLOATING:
            found = FLOATING
        case ResultRule.ACCUMULATE:
            found = (promoted & FLOATING) | {"int64"}
        case ResultRule.BOOL:
            found = frozenset({"bool"})
        case ResultRule.INT64:
            found = frozenset({"int64"})
        case ResultRule.NUMBERS:
            found = _ALL - {"bool"}
        case ResultRule.PROMOTE | ResultRule.SAME | ResultRule.LAST:
            found = promoted
    overridden = dtype.override is not None and rule is first
    return (FLOATING if promoted == FLOATING else _ALL) if overridden else found


def _promoted_sets(accepted: Sequence[DTypeSet]) -> Sequence[DTypeSet]:
    """Returns the accepted sets of the operands that take part in type promotion.

    Operands that accept only bool or only indices take part only if there are no others.
    """
    return [each for each in accepted if each not in (DTypeSet.BOOL, DTypeSet.INDEX)] or accepted
