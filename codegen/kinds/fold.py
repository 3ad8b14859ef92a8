"""Reads and checks the keys that reductions and scans share.

`state` has the identity of each part of the state, `pre` maps an element (`input`, with its `index`) to a state,
`combine` merges the states `a` and `b`, and `post` maps the state (and `count`, the number of elements) to each result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.checking import FOLDS, Scope, operand_sort
from codegen.errors import TextError, counted, unknown
from codegen.expression import Expression, Variable
from codegen.intrinsics import FOLD, SCALAR, Sort
from codegen.kinds.base import (
    check_expression,
    check_fresh,
    check_input,
    check_names,
    check_tensors,
    scalar_refusals,
)
from codegen.model import Op, Reduction, Scan, Signature
from codegen.reader import Field, Fields, Report
from codegen.signature import NAME

_FUNCTIONS = {**SCALAR, **FOLD}
SKELETON = """\
    state: {total: "0"}
    pre: {total: "input"}
    combine: {total: "a.total + b.total"}
    post: "total"
"""


@dataclass(frozen=True)
class Fold:
    """The expressions of a fold."""

    state: Mapping[str, Expression]
    pre: Mapping[str, Expression]
    combine: Mapping[str, Expression]
    post: tuple[Expression, ...]


def read(fields: Fields, signature: Signature | None) -> Fold:
    """Reads the keys of a fold."""
    state_field = fields.need("state")
    state = state_field.fields.other_expressions()
    if not state:
        raise state_field.bad("a state must have at least one part")
    for key in state_field.fields.keys.values():
        key.name(NAME)
    pre = _parts(fields.need("pre"), state)
    combine = _parts(fields.need("combine"), state)
    post_field = fields.need("post")
    post = tuple(member.expression for member in post_field.one_or_more)
    if signature and len(post) != len(signature.results):
        text = f"{counted(len(post), 'expression')} for {counted(len(signature.results), 'result')}"
        raise post_field.bad(text)
    return Fold(state, pre, combine, post)


def _parts(field: Field, state: Mapping[str, Expression]) -> dict[str, Expression]:
    """Reads one expression for each part of the state."""
    fields = field.fields
    for name, key in fields.keys.items():
        if name not in state:
            raise key.bad(unknown("state", name, state))
    for name in state:
        if name not in fields.values:
            raise field.bad(f"no expression for state '{name}'")
    return fields.other_expressions()


def _scope(op: Op, names: Mapping[str, Sort], members: Mapping[str, Sort] | None = None) -> Scope:
    """Returns the scope of the non-tensor arguments and `names`, with the parts of the states `a` and `b`."""
    settings = {a.name: operand_sort(op, a) for a in op.signature.arguments if not a.type.is_tensor}
    refused = {**FOLDS, **scalar_refusals(op)}
    return Scope({**settings, **names}, _FUNCTIONS, members or {}, arguments=settings, refused=refused)


def pre_scope(op: Op) -> Scope:
    """Returns the names and functions that `pre` may use."""
    operands = {a.name: operand_sort(op, a) for a in op.signature.tensor_arguments}
    return _scope(op, {**operands, "index": Sort.INTEGER})


def state_sorts(op: Op, kind: Reduction | Scan) -> dict[str, Sort]:
    """Returns the sort of each part of the state. Raises TextError.

    A part is a position (INTEGER) if `pre` is `index`, TRUTH if its expressions are booleans, and VALUE otherwise.
    """
    sorts = {}
    for name, pre in kind.pre.items():
        if pre.root == Variable("index"):
            sorts[name] = Sort.INTEGER
        else:
            is_truth = all(pre_scope(op).sort(e.root) is Sort.TRUTH for e in (pre, kind.state[name]))
            sorts[name] = Sort.TRUTH if is_truth else Sort.VALUE
    return sorts


def combine_scope(op: Op, kind: Reduction | Scan) -> Scope:
    """Returns the names and functions that `combine` may use. Raises TextError."""
    return _scope(op, {}, state_sorts(op, kind))


def post_scope(op: Op, kind: Reduction | Scan) -> Scope:
    """Returns the names and functions that `post` may use. Raises TextError."""
    return _scope(op, {"count": Sort.INTEGER, **state_sorts(op, kind)})


def check(op: Op, kind: Reduction | Scan, report: Report) -> None:
    """Reports every problem of the expressions, and of a signature that does not suit a fold."""
    check_fresh(op, report)
    check_input(op, report)
    check_tensors(op, 1, report)
    check_names(op, ("index", "count", *kind.state), report)
    before = len(report.problems)
    for expression in kind.state.values():
        check_expression(expression, _scope(op, {}), None, report)
    for expression in kind.pre.values():
        check_expression(expression, pre_scope(op), None, report)
    if len(report.problems) > before:
        return  # the sorts of the states are unknown
    try:
        combine, post = combine_scope(op, kind), post_scope(op, kind)
    except TextError:
        return
    for name, expression in kind.combine.items():
        check_expression(expression, combine, combine.members[name], report)
    for expression in kind.post:
        check_expression(expression, post, None, report)
