"""The base of the kinds that fold elements into a state: reductions and scans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from codegen.answers import Fact
from codegen.checking import FOLDS, Scope, operand_sort
from codegen.errors import TextError
from codegen.expression import Comparison, Variable, comparison
from codegen.intrinsics import FOLD, SCALAR, Cost, Sort
from codegen.kernel_printer import KernelPrinter
from codegen.kernels import FoldKernel, Kernel
from codegen.kinds import kernels
from codegen.kinds.checks import (
    check_expression,
    check_fresh,
    check_input,
    check_names,
    check_tensors,
    element_cost,
    kernel_fact,
    scalar_refusals,
)
from codegen.kinds.fold_parts import Parts
from codegen.model import Functions, Kind, Op
from codegen.reader import Report

_FUNCTIONS = {**SCALAR, **FOLD}
SKELETON = "    combine: sum\n"


@dataclass(frozen=True)
class Fold(Kind):
    """A fold of elements into a state. Subclasses say along which dimensions, and where there are results."""

    allocates = True
    kernel: ClassVar[type[FoldKernel]]

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

    def kernels(self, op: Op, dialect: type[KernelPrinter]) -> Iterator[Kernel]:
        sorts = self.state_sorts(op)
        names = {**self._pre_scope(op).variables, "count": Sort.INTEGER, **sorts}
        yield kernels.fold(op, dialect, self.parts, sorts, _scope(op, names, sorts), self.kernel)

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))
        yield Fact("combine", self.parts.algebra or "expressions of the record")
        yield Fact("state", ", ".join(f"{name} = {e.text}" for name, e in self.parts.state.items()))
        yield kernel_fact(op)

    @property
    def element_costs(self) -> Mapping[str | None, Mapping[Cost, int]]:
        return {None: element_cost([*self.parts.pre.values(), *self.parts.combine.values()])}


def _scope(op: Op, names: Mapping[str, Sort], members: Mapping[str, Sort] | None = None) -> Scope:
    """Returns the scope of the non-tensor arguments and `names`, with the parts of the states `a` and `b`."""
    settings = {a.name: operand_sort(op, a) for a in op.signature.arguments if not a.type.is_tensor}
    refused = {**FOLDS, **scalar_refusals(op)}
    return Scope({**settings, **names}, _FUNCTIONS, members or {}, arguments=settings, refused=refused)
