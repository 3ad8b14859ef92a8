"""`native: {infer: C++ function, why:, shape:, dims: map, data_dependent: bool, random: bool}`.

The function determines shapes and dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from codegen import base_types
from codegen.answers import Fact, RuntimeRule, Skeleton
from codegen.dims import DimensionRule, broadcast, kept, opaque
from codegen.model import Complex, Functions, Kind, Op
from codegen.reader import Field, Report
from codegen.signature import NAME
from codegen.types import Signature


class Dims(Enum):
    """The dimension map of a native operator: a rule that kinds share."""

    KEPT = "kept"  # the same dimensions; those that arguments of type `dim` name are not known
    BROADCAST = "broadcast"
    OPAQUE = "opaque"


@dataclass(frozen=True)
class Native(Kind):
    """A hand-written kernel on each device; `infer` names the C++ function that determines shapes and dtypes.

    `why` says why no other kind fits, `shape` what shape the result has; neither affects the kernels. `dims` is the
    dimension map.
    """

    key = "native"
    skeleton = Skeleton('  native:\n    infer: ""\n    why: ""\n    shape: ""\n')
    in_libraries = False
    has_kernel_by_hand = True
    computes = False
    may_give_list = True
    may_write = True
    checks_sizes = True
    complex_forms = frozenset({Complex.SAME})

    infer: str
    why: str = field(compare=False)  # why no other kind says what the operator does
    shape: str = field(compare=False)
    dims: Dims = field(compare=False)
    data_dependent: bool = False  # result sizes depend on data
    random: bool = False  # random numbers are drawn

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Native:
        fields = field.fields
        infer = fields.required("infer", lambda f: f.name(NAME, "the name of a function"))
        why = fields.required("why", lambda f: f.words)
        shape = fields.required("shape", lambda f: f.words)
        data_dependent = fields.optional("data_dependent", lambda f: f.boolean, False)
        random = fields.optional("random", lambda f: f.boolean, False)
        dims = fields.optional("dims", lambda f: f.choice(Dims, "dimension map"), Dims.OPAQUE)
        fields.finish()
        return cls(infer or "", why or "", shape or "", dims, data_dependent, random)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        """Does nothing: there are no expressions."""

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))
        yield Fact("infer", self.infer)
        yield Fact("why native", self.why)
        yield Fact("kernels", "hand-written for each device; a device without one runs the operator on the host")
        yield Fact("cost", "not known")

    def dimensions(self, op: Op) -> DimensionRule:
        tensors = [argument.name for argument in op.signature.tensor_arguments]
        match self.dims:
            case Dims.OPAQUE:
                return opaque(tensors)
            case Dims.BROADCAST:
                return broadcast(tensors)
            case Dims.KEPT:
                return kept(tensors, [a.name for a in op.signature.arguments if a.type.base is base_types.DIM])

    @property
    def is_random(self) -> bool:
        return self.random

    def shape_text(self, op: Op) -> str:
        return self.shape + "; it depends on the data" * self.data_dependent

    def runtime_rule(self, op: Op) -> RuntimeRule:
        schema = {"is_data_dependent": True} if self.data_dependent else {}
        return RuntimeRule(f"native::{self.infer}", ("ops/native.h",), schema=schema)
