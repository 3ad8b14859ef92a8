"""`native: {infer: C++ function that determines shapes and dtypes, shape: text, data_dependent: bool}`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.kinds.kind import Fact, Functions, Kind, RuntimeRule, Skeleton
from codegen.model import Complex, Op, Signature
from codegen.reader import Field, Report
from codegen.signature import NAME


@dataclass(frozen=True)
class Native(Kind):
    """A hand-written kernel on each device; `infer` names the C++ function that determines shapes and dtypes.

    `shape` describes the shape of the result in words. It does not affect the kernels.
    """

    key = "native"
    skeleton = Skeleton('  native:\n    infer: ""\n    shape: ""\n')
    has_kernel_by_hand = True
    computes = False
    may_give_list = True
    may_write = True
    checks_sizes = True
    complex_forms = frozenset({Complex.SAME})

    infer: str
    shape: str
    data_dependent: bool = False  # result sizes depend on data

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Native:
        fields = field.fields
        infer = fields.required("infer", lambda f: f.name(NAME, "the name of a function"))
        shape = fields.required("shape", lambda f: f.words)
        data_dependent = fields.optional("data_dependent", lambda f: f.boolean, False)
        fields.finish()
        return cls(infer or "", shape or "", data_dependent)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        """Does nothing: there are no expressions."""

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))
        yield Fact("infer", self.infer)
        yield Fact("kernels", "hand-written for each device; a device without one runs the operator on the host")
        yield Fact("sharding", "not known")
        yield Fact("cost", "not known")

    def shape_text(self, op: Op) -> str:
        return self.shape + "; it depends on the data" * self.data_dependent

    def runtime_rule(self, op: Op) -> RuntimeRule:
        schema = {"is_data_dependent": True} if self.data_dependent else {}
        return RuntimeRule(f"native::{self.infer}", ("ops/native.h",), schema=schema)
