"""`scan: {dim:, state:, pre:, combine:, post:}`: a fold along one dimension, with a result at each position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen import base_types
from codegen.answers import Fact, Member, RuntimeRule, Skeleton, comparing
from codegen.as_program import OperatorTable
from codegen.dims import DimensionRule, Link, Relation
from codegen.kernels import ScanKernel
from codegen.kinds import fold, fold_parts
from codegen.kinds.checks import argument_named, cost_fact
from codegen.kinds.fold_adjoints import scan_adjoint
from codegen.model import Op
from codegen.program import Program
from codegen.reader import Field
from codegen.types import Argument, Signature, Type


def _is_dim(argument: Argument) -> bool:
    return argument.type == Type(base_types.DIM)


@dataclass(frozen=True)
class Scan(fold.Fold):
    """A fold along the dimension in the argument `dim`, with a result at each position."""

    key = "scan"
    skeleton = Skeleton(
        "  scan:\n    dim: dim\n" + fold.SKELETON,
        arguments="Tensor input, dim dim",
        example="[1.0, 2.0], 0",
        mistake="'a', 0",
    )
    kernel = ScanKernel

    dim: str

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Scan:
        fields = field.fields
        dim = argument_named(fields.need("dim"), signature, _is_dim, "a dim")
        parts = fold_parts.read(fields, signature, is_scan=True)
        fields.finish()
        return cls(parts, dim)

    @property
    def folded(self) -> str | None:
        return self.dim

    def facts(self, op: Op) -> Iterator[Fact]:
        yield from super().facts(op)
        yield cost_fact(self.element_costs[None], "the input")

    def dimensions(self, op: Op) -> DimensionRule:
        links = (Link("input", f"`{self.dim}`", Relation.FOLDED), Link("input", "all others", Relation.SAME))
        return DimensionRule("scan_dimensions", links)

    def shape_text(self, op: Op) -> str:
        return "that of `input`"

    def runtime_rule(self, op: Op) -> RuntimeRule:
        members: dict[str, Member] = {"dim_argument": op.position(self.dim)}
        headers = ("ops/fold.h", "ops/operations.h")
        rule = RuntimeRule("run_scan", headers, "ScanRule", members, operations="operations_of_input")
        return comparing(rule, self.comparison(op))

    def adjoint(self, op: Op, argument: Argument, operators: OperatorTable) -> Mapping[str | None, Program]:
        return {None: scan_adjoint(op, self.parts, self.dim)}

    def replaced(self, op: Op) -> Argument | None:
        return op.receiver if len(op.signature.results) == 1 else None
