"""`native: {infer: C++ function that determines shapes and dtypes, shape: text, data_dependent: bool}`."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.kinds.base import Fact, Functions, Rules, Skeleton
from codegen.model import Native, Op, Signature
from codegen.reader import Field, Report
from codegen.signature import NAME


class _Native(Rules[Native]):
    skeleton = Skeleton('  native:\n    infer: ""\n    shape: ""\n')

    def read(self, field: Field, signature: Signature | None) -> Native:
        fields = field.fields
        infer = fields.required("infer", lambda f: f.name(NAME, "the name of a function"))
        shape = fields.required("shape", lambda f: f.words)
        data_dependent = fields.optional("data_dependent", lambda f: f.boolean, False)
        fields.finish()
        return Native(infer or "", shape or "", data_dependent)

    def check(self, op: Op, kind: Native, functions: Functions, report: Report) -> None:
        """Does nothing: there are no expressions."""

    def facts(self, op: Op, kind: Native) -> Iterator[Fact]:
        yield Fact("shape", kind.shape + "; it depends on the data" * kind.data_dependent)
        yield Fact("infer", kind.infer)
        yield Fact("kernels", "hand-written for each device; a device without one runs the operator on the host")
        for column in ("sharding", "cost"):
            if getattr(op, column) is None:
                yield Fact(column, "unknown, since it cannot be derived")


RULES = _Native()
