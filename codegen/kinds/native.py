"""`native: {infer: name of the C++ function that gives shapes and dtypes, data_dependent: true}`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codegen.kinds.base import Fact, Functions, Rules, Skeleton
from codegen.model import Native, Op, Signature
from codegen.reader import Field, Report


class _Native(Rules[Native]):
    skeleton = Skeleton('  native: {infer: ""}\n')

    def read(self, field: Field, signature: Signature | None) -> Native:
        fields = field.fields
        infer = fields.need("infer")
        data_dependent = fields.optional("data_dependent", lambda f: f.boolean, False)
        fields.finish()
        if not re.fullmatch(r"[a-z][a-z0-9_]*", infer.words):
            raise infer.bad(f"'{infer.words}' is not the name of a function")
        return Native(infer.words, data_dependent)

    def check(self, op: Op, kind: Native, functions: Functions, report: Report) -> None:
        """There is nothing to derive from."""

    def facts(self, op: Op, kind: Native) -> Iterator[Fact]:
        yield Fact("shape", f"infer function {kind.infer}" + ", depends on data" * kind.data_dependent)
        yield Fact("kernels", "by hand on each device, else through the CPU")
        for column in ("sharding", "cost"):
            if getattr(op, column) is None:
                yield Fact(column, "unknown: the record has to say")


RULES = _Native()
