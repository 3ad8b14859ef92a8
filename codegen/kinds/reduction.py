"""`reduction: {dims:, keepdim:, state:, pre:, combine:, post:, allows_empty:}`: a fold over dimensions of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen import base_types, kernels
from codegen.as_program import OperatorTable
from codegen.dims import Link, Relation
from codegen.kinds import fold
from codegen.kinds.checks import argument_named, cost_fact
from codegen.kinds.fold_adjoints import reduction_adjoint
from codegen.kinds.kind import Fact, Member, RuntimeRule, Skeleton, comparing
from codegen.model import Argument, Complex, Op, Signature, Type
from codegen.reader import Field


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
    kernel = kernels.ReductionKernel

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
        parts = fold.read(fields, signature)
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

    def links(self, op: Op) -> tuple[Link, ...]:
        if self.dims is None:
            return (Link("input", "every dimension", Relation.FOLDED),)
        return (Link("input", f"`{self.dims}`", Relation.FOLDED), Link("input", "all others", Relation.SAME))

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
            "reduction_dimensions",
            ("ops/fold.h", "ops/operations.h"),
            "ReductionRule",
            members,
            run_by_parts="run_reduction_by_parts",
            operations="operations_of_input",
        )
        return comparing(rule, self.comparison(op))

    def adjoint(self, op: Op, argument: Argument, operators: OperatorTable) -> Mapping[str | None, str]:
        return {None: reduction_adjoint(op, self.parts, self.dims, operators)}

    def meanings(self, op: Op, argument: Argument) -> Iterator[str]:
        if argument.name == self.keepdim:
            yield "whether to keep the reduced dimensions, with size 1"
