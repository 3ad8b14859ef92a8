"""The kinds of gradients that the runtime computes itself. No record can have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from codegen.answers import Fact, Member, RuntimeRule
from codegen.dims import DimensionRule, opaque
from codegen.model import Functions, Kind, Op
from codegen.reader import Bad, Field, Report
from codegen.types import Signature


@dataclass(frozen=True)
class Adjoint(Kind):
    """The transpose of the linear map from one argument of an operator to its result.

    It takes the gradient of the result, the arguments of the operator and, if `argument` is a list, the position of an
    item. The elements of the argument, or of the item, itself are not read.
    """

    in_records = False
    allocates = True
    function: ClassVar[str]
    header: ClassVar[str]
    text: ClassVar[str]

    of: str  # the full name of the operator
    argument: str
    position: int = field(compare=False)
    is_list: bool = field(default=False, compare=False)  # whether the argument is a list of tensors

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Adjoint:
        raise Bad(field.location, f"no record can be {cls.key}")

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        """Does nothing: there are no expressions."""

    @property
    def called_by_name(self) -> tuple[str, ...]:
        return (self.of,)

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))

    def dimensions(self, op: Op) -> DimensionRule:
        return opaque(argument.name for argument in op.signature.tensor_arguments)

    def shape_text(self, op: Op) -> str:
        return f"that of `{self.argument}`"

    def definitions(self) -> Iterator[tuple[str | None, str]]:
        yield None, self.text

    def reads(self, name: str) -> bool:
        """Returns whether the elements of an argument are read."""
        return self.is_list or name != self.argument

    def runtime_rule(self, op: Op) -> RuntimeRule:
        members: dict[str, Member] = {"of": self.of, "argument": self.position}
        return RuntimeRule(self.function, (self.header,), "AdjointRule", members)


@dataclass(frozen=True)
class SelectionAdjoint(Adjoint):
    """The adjoint of an operator whose results are elements of the argument."""

    key = "selection adjoint"
    function = "run_selection_adjoint"
    header = "ops/selection_adjoint.h"
    text = "adds each element of grad to the element of the argument that was selected"


@dataclass(frozen=True)
class ContractionAdjoint(Adjoint):
    """The adjoint of a contraction: another contraction, of the gradient and the other operands."""

    key = "contraction adjoint"
    has_body = True
    function = "run_contraction_adjoint"
    header = "einsum/contraction_adjoint.h"
    text = "the contraction of grad with the other operands, by the transposed equation"
