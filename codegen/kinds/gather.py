"""`gather: {dims: argument, source: index expression, sizes: size expression}`.

result[..., i, ...] = input[..., source(i), ...] along the dimensions that `dims` names. `source` may use `i`, the
`size` of the dimension, `k` (which of the named dimensions), the arguments, and `index[i]` or `index[...]` of tensors.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.checking import Scope, setting_sort
from codegen.intrinsics import GATHER, Sort
from codegen.kinds.base import Fact, Functions, Rules, Skeleton, argument_named, check_expression
from codegen.model import Argument, BaseType, Gather, Op, Signature
from codegen.reader import Field, Report


def scope(op: Op) -> Scope:
    """What `source` and `sizes` may name."""
    settings = {a.name: setting_sort(a) for a in op.signature.arguments}
    place = dict.fromkeys(("i", "size", "k"), Sort.INTEGER)
    return Scope({**settings, **place}, GATHER, number=Sort.INTEGER)


def _is_dims(argument: Argument) -> bool:
    return argument.type.base is BaseType.DIM


class _Gather(Rules[Gather]):
    skeleton = Skeleton(
        '  gather:\n    dims: dims\n    source: ""\n',
        arguments="Tensor input, dim[] dims",
        example="[1.0, 2.0], [0]",
        mistake="'a', [0]",
    )

    def read(self, field: Field, signature: Signature | None) -> Gather:
        fields = field.fields
        dims = argument_named(fields.need("dims"), signature, _is_dims, "a dim or a list of them")
        source = fields.need("source").expression
        sizes = fields.optional("sizes", lambda f: f.expression, None)
        fields.finish()
        return Gather(dims, source, sizes)

    def check(self, op: Op, kind: Gather, functions: Functions, report: Report) -> None:
        check_expression(kind.source, scope(op), Sort.INTEGER, report)
        if kind.sizes:
            check_expression(kind.sizes, scope(op), Sort.INTEGER, report)

    def facts(self, op: Op, kind: Gather) -> Iterator[Fact]:
        along = f" with {kind.sizes.text} along {kind.dims}" if kind.sizes else ""
        yield Fact("shape", f"that of the input{along}")
        yield Fact("kernels", "the index map, printed for each device; elements of any type are moved by their size")
        yield Fact("sharding", f"all dimensions but {kind.dims} split")
        yield Fact("cost", "bytes of the result")


RULES = _Gather()
