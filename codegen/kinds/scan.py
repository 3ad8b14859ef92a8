"""`scan: {dim:, state:, pre:, combine:, post:}`: a fold along one dimension, with a result at each position."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.kinds import fold
from codegen.kinds.base import Fact, Functions, Rules, Skeleton, argument_named, kernel_fact
from codegen.model import Argument, BaseType, Op, Scan, Signature, Type
from codegen.reader import Field, Report


def _is_dim(argument: Argument) -> bool:
    return argument.type == Type(BaseType.DIM)


class _Scan(Rules[Scan]):
    skeleton = Skeleton(
        "  scan:\n    dim: dim\n" + fold.SKELETON,
        arguments="Tensor input, dim dim",
        example="[1.0, 2.0], 0",
        mistake="'a', 0",
    )

    def read(self, field: Field, signature: Signature | None) -> Scan:
        fields = field.fields
        dim = argument_named(fields.need("dim"), signature, _is_dim, "a dim")
        parts = fold.read(fields, signature)
        fields.finish()
        return Scan(parts.state, parts.pre, parts.combine, parts.post, dim)

    def check(self, op: Op, kind: Scan, functions: Functions, report: Report) -> None:
        fold.check(op, kind, report)

    def facts(self, op: Op, kind: Scan) -> Iterator[Fact]:
        yield Fact("shape", "that of `input`")
        yield Fact("state", ", ".join(f"{name} = {e.text}" for name, e in kind.state.items()))
        yield kernel_fact(op)
        yield Fact("sharding", f"every dimension except {kind.dim} can be split")
        yield Fact("cost", "number of elements of the input")


RULES = _Scan()
