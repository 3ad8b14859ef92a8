"""`reduction: {dims:, keepdim:, state:, pre:, combine:, post:, allows_empty:}`: a fold over dimensions of the input."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.kinds import fold
from codegen.kinds.base import Fact, Functions, Rules, Skeleton, argument_named, kernel_fact
from codegen.model import Argument, BaseType, Op, Reduction, Signature, Type
from codegen.reader import Field, Report


def _is_dims(argument: Argument) -> bool:
    return argument.type.base is BaseType.DIM


def _is_flag(argument: Argument) -> bool:
    return argument.type == Type(BaseType.BOOL)


class _Reduction(Rules[Reduction]):
    skeleton = Skeleton(
        "  reduction:\n    dims: dim\n    keepdim: keepdim\n" + fold.SKELETON,
        arguments="Tensor input, dim[]? dim=None, bool keepdim=False",
    )

    def read(self, field: Field, signature: Signature | None) -> Reduction:
        fields = field.fields
        dims = fields.optional(
            "dims", lambda f: argument_named(f, signature, _is_dims, "a dim or a list of them"), None
        )
        keepdim = fields.optional("keepdim", lambda f: argument_named(f, signature, _is_flag, "a bool"), None)
        allows_empty = fields.optional("allows_empty", lambda f: f.boolean, True)
        parts = fold.read(fields, signature)
        fields.finish()
        return Reduction(parts.state, parts.pre, parts.combine, parts.post, dims, keepdim, allows_empty)

    def check(self, op: Op, kind: Reduction, functions: Functions, report: Report) -> None:
        fold.check(op, kind, report)

    def facts(self, op: Op, kind: Reduction) -> Iterator[Fact]:
        yield Fact("shape", _shape(op, kind))
        yield Fact("state", ", ".join(f"{name} = {e.text}" for name, e in kind.state.items()))
        if not kind.allows_empty:
            yield Fact("empty", "reducing no elements is an error")
        yield kernel_fact(op)
        yield Fact("sharding", "kept dimensions can be split; splitting a reduced dimension gives partial results")
        yield Fact("cost", "number of elements of the input")


def _shape(op: Op, kind: Reduction) -> str:
    dims = op.signature.argument(kind.dims) if kind.dims else None
    if dims is None:
        return "`[]`, a 0-d tensor"
    reduced = f"the dimensions in `{dims.name}`" if dims.type.is_list else f"the dimension `{dims.name}`"
    kept = f"; with `{kind.keepdim}`, reduced dimensions have size 1" if kind.keepdim else ""
    return f"that of `input` without {reduced}{kept}"


RULES = _Reduction()
