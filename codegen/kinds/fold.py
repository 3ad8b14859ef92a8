"""The base of the kinds that fold elements into a state: reductions and scans.

`combine` names an algebra of `codegen.kinds.algebra`, and `of` what is folded, by default `input`. Or `state` has the
identity of each part of the state, `pre` maps an element (`input`, with its `index`) to a state, and `combine` merges
the states `a` and `b`. `post` maps the state (and `count`, the number of elements) to each result; by default, a result
is a part of the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from codegen import kernels
from codegen.checking import FOLDS, Scope, operand_sort
from codegen.errors import TextError, unknown
from codegen.expression import Comparison, Expression, Variable, comparison, parse
from codegen.intrinsics import FOLD, SCALAR, Cost, Sort
from codegen.kernel_printer import KernelPrinter
from codegen.kinds.algebra import ALGEBRAS
from codegen.kinds.checks import (
    check_expression,
    check_fresh,
    check_input,
    check_names,
    check_tensors,
    element_cost,
    expression_per_result,
    kernel_fact,
    scalar_refusals,
)
from codegen.kinds.kind import Fact, Functions, Kind
from codegen.model import Op, Signature
from codegen.reader import Field, Fields, Report
from codegen.signature import NAME

_FUNCTIONS = {**SCALAR, **FOLD}
SKELETON = "    combine: sum\n"


@dataclass(frozen=True)
class Parts:
    """The expressions of a fold, as they are read."""

    state: Mapping[str, Expression]
    pre: Mapping[str, Expression]
    combine: Mapping[str, Expression]
    post: tuple[Expression, ...]
    algebra: str | None = None  # the name of the algebra, if it has one
    # Of a selection: what combines two values, whatever their positions. It follows from the algebra, so that it is
    # not part of what identifies kernels.
    alone: Expression | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Fold(Kind):
    """A fold of elements into a state. Subclasses say along which dimensions, and where there are results."""

    allocates = True
    kernel: ClassVar[type[kernels.FoldKernel]]

    parts: Parts

    @property
    def own_names(self) -> tuple[str, ...]:
        return tuple(self.parts.state)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        parts = self.parts
        check_fresh(op, report)
        check_input(op, report)
        check_tensors(op, 1, report)
        check_names(op, ("index", "count", *parts.state), report)
        before = len(report.problems)
        for expression in parts.state.values():
            check_expression(expression, _scope(op, {}), None, report)
        for expression in parts.pre.values():
            check_expression(expression, self._pre_scope(op), None, report)
        if len(report.problems) > before:
            return  # the sorts of the states are unknown
        try:
            sorts = self.state_sorts(op)
        except TextError:
            return
        for name, expression in parts.combine.items():
            check_expression(expression, _scope(op, {}, sorts), sorts[name], report)
        for expression in parts.post:
            check_expression(expression, _scope(op, {"count": Sort.INTEGER, **sorts}), None, report)

    def _pre_scope(self, op: Op) -> Scope:
        operands = {a.name: operand_sort(op, a) for a in op.signature.tensor_arguments}
        return _scope(op, {**operands, "index": Sort.INTEGER})

    def state_sorts(self, op: Op) -> dict[str, Sort]:
        """Returns the sort of each part of the state. Raises TextError.

        A part is a position (INTEGER) if `pre` is `index`, TRUTH if its expressions are booleans, and VALUE otherwise.
        """
        sorts = {}
        for name, pre in self.parts.pre.items():
            if pre.root == Variable("index"):
                sorts[name] = Sort.INTEGER
            else:
                scope = self._pre_scope(op)
                is_truth = all(scope.sort(e.root) is Sort.TRUTH for e in (pre, self.parts.state[name]))
                sorts[name] = Sort.TRUTH if is_truth else Sort.VALUE
        return sorts

    def comparison(self, op: Op) -> Comparison | None:
        # Positions are compared as well; they begin as integer constants in scans.
        values = [name for name, pre in self.parts.pre.items() if pre.root != Variable("index")]
        of_values = [table[name].root for name in values for table in (self.parts.state, self.parts.pre)]
        others = [each.root for each in (*self.parts.combine.values(), *self.parts.post)]
        return comparison([*of_values, *others], ("input", "index", *self.parts.state))

    def kernels(self, op: Op, dialect: type[KernelPrinter]) -> Iterator[kernels.Kernel]:
        yield kernels.fold(op, dialect, self.parts, self.state_sorts(op), self.kernel)

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))
        yield Fact("combine", self.parts.algebra or "expressions of the record")
        yield Fact("state", ", ".join(f"{name} = {e.text}" for name, e in self.parts.state.items()))
        yield kernel_fact(op)

    @property
    def element_costs(self) -> Mapping[str | None, Mapping[Cost, int]]:
        return {None: element_cost([*self.parts.pre.values(), *self.parts.combine.values()])}


def read(fields: Fields, signature: Signature | None, *, is_scan: bool = False) -> Parts:
    """Reads the keys of a fold."""
    combine_field = fields.need("combine")
    if combine_field.is_scalar:
        return _read_algebra(combine_field, fields, signature, is_scan)
    state_field = fields.need("state")
    state = state_field.fields.other_expressions()
    if not state:
        raise state_field.bad("a state must have at least one part")
    for key in state_field.fields.keys.values():
        key.name(NAME)
    pre = _parts(fields.need("pre"), state)
    combine = _parts(combine_field, state)
    return Parts(state, pre, combine, expression_per_result(fields.need("post"), signature))


def _read_algebra(field: Field, fields: Fields, signature: Signature | None, is_scan: bool) -> Parts:
    """Reads the keys of a fold whose algebra has a name."""
    name = field.words
    if name not in ALGEBRAS:
        raise field.bad(unknown("algebra", name, ALGEBRAS))
    of = fields.optional("of", lambda f: f.expression, None)
    post_field = fields.take("post")

    def parsed(text: str) -> Expression:
        return parse(text, field.location, one_line=False)

    def pre(text: str) -> Expression:
        return of if of and text == "{of}" else parsed(text.replace("{of}", "input"))

    parts = ALGEBRAS[name]
    results = len(signature.results) if signature else 1
    post = expression_per_result(post_field, signature) if post_field else tuple(map(parsed, list(parts)[:results]))
    return Parts(
        {part: parsed((is_scan and each.scan_identity) or each.identity) for part, each in parts.items()},
        {part: pre(each.pre) for part, each in parts.items()},
        {part: parsed(each.combine) for part, each in parts.items()},
        post,
        name,
        next((parsed(each.alone) for each in parts.values() if each.alone), None),
    )


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
