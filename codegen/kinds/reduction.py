"""`reduction: {dims:, keepdim:, state:, pre:, combine:, post:, allows_empty:}`: a fold over dimensions of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen import base_types
from codegen.answers import Fact, Member, RuntimeRule, Skeleton, comparing
from codegen.as_program import OperatorTable
from codegen.dims import DimensionRule, Link, Relation
from codegen.kernels import ReductionKernel
from codegen.kinds import fold, fold_parts
from codegen.kinds.checks import argument_named, cost_fact
from codegen.kinds.fold_adjoints import reduction_adjoint
from codegen.model import Complex, Op
from codegen.program import Program
from codegen.reader import Field
from codegen.types import Argument, Signature, Type


def _is_dims(argument: Argument) -> bool:
    return argument.type.base is base_types.DIM


def _is_flag(argument: Argument) -> bool:
    return argument.type == Type(base_types.BOOL)


@dataclass(frozen=True)
class Reduction(fold.Fold):
    """A fold over the dimensions in the argument `dims`, or over all."""

    key = "reduction"
    skeleton = Skeleton(
        "  reduction:\n    dims: dim\n    keepdim: keepdim\n" + fold.SKELETON,
        arguments="Tensor input, dim[]? dim=None, bool keepdim=False",
    )
    kernel = ReductionKernel

    dims: str | None = None
    keepdim: str | None = None
    allows_empty: bool = True

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Reduction:
        fields = field.fields
        dims = fields.optional(
            "dims", lambda f: argument_named(f, signature, _is_dims, "a dim or a list of them"), None
        )
        keepdim = fields.optional("keepdim", lambda f: argument_named(f, signature, _is_flag, "a bool"), None)
        allows_empty = fields.optional("allows_empty", lambda f: f.boolean, True)
        parts = fold_parts.read(fields, signature)
        fields.finish()
        return cls(parts, dims, keepdim, allows_empty)

    @property
    def folded(self) -> str | None:
        return self.dims

    @property
    def complex_forms(self) -> frozenset[Complex]:  # type: ignore[override]
        """Returns PARTS if the reduction can name the dimensions that it folds, so that it keeps the parts."""
        return frozenset({Complex.PARTS} if self.dims and self.keepdim else ())

    def facts(self, op: Op) -> Iterator[Fact]:
        yield from super().facts(op)
        if not self.allows_empty:
            yield Fact("empty", "reducing no elements is an error")
        yield cost_fact(self.element_costs[None], "the input")

    def dimensions(self, op: Op) -> DimensionRule:
        folded = Link("input", f"`{self.dims}`" if self.dims else "every dimension", Relation.FOLDED)
        others = [Link("input", "all others", Relation.SAME)] if self.dims else []
        return DimensionRule("reduction_dimensions", (folded, *others))

    def shape_text(self, op: Op) -> str:
        dims = op.signature.argument(self.dims) if self.dims else None
        if dims is None:
            return "`[]`, a 0-d tensor"
        reduced = f"the dimensions in `{dims.name}`" if dims.type.is_list else f"the dimension `{dims.name}`"
        kept = f"; with `{self.keepdim}`, reduced dimensions have size 1" if self.keepdim else ""
        return f"that of `input` without {reduced}{kept}"

    def runtime_rule(self, op: Op) -> RuntimeRule:
        members: dict[str, Member] = {}
        if self.dims:
            members["dims_argument"] = op.position(self.dims)
        if self.keepdim:
            members["keepdim_argument"] = op.position(self.keepdim)
        if not self.allows_empty:
            members["allows_empty"] = False
        rule = RuntimeRule(
            "run_reduction",
            ("ops/fold.h", "ops/operations.h"),
            "ReductionRule",
            members,
            run_by_parts="run_reduction_by_parts",
            operations="operations_of_input",
        )
        return comparing(rule, self.comparison(op))

    def adjoint(self, op: Op, argument: Argument, operators: OperatorTable) -> Mapping[str | None, Program]:
        return {None: reduction_adjoint(op, self.parts, self.dims, operators)}

    def meanings(self, op: Op, argument: Argument) -> Iterator[str]:
        if argument.name == self.keepdim:
            yield "whether to keep the reduced dimensions, with size 1"
