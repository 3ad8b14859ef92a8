"""`gather: {dims: argument, source: index expression, sizes: size expression}`.

result[..., i, ...] = input[..., source(i), ...] along the dimensions in the argument `dims`. `source` may use `i`, the
`size` of the dimension, `k` (its position in `dims`), the arguments, and `index[i]` or `index[...]` of an index tensor.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.checking import LISTS, POSITIONS, Scope, setting_sort
from codegen.expression import Ellipsis, Expression, Subscript, Variable
from codegen.intrinsics import GATHER, Sort
from codegen.kinds.base import (
    Fact,
    Functions,
    Rules,
    Skeleton,
    argument_named,
    check_expression,
    check_input,
    check_names,
    check_results,
    check_tensors,
)
from codegen.model import Argument, BaseType, Gather, Op, Signature
from codegen.reader import Field, Report

_COORDINATES = dict.fromkeys(("i", "size", "k"), Sort.INTEGER)


def scope(op: Op) -> Scope:
    """Returns the names and functions that `source` may use."""
    settings = {a.name: setting_sort(a) for a in op.signature.arguments}
    return Scope({**settings, **_COORDINATES}, GATHER, number=Sort.INTEGER, refused=POSITIONS)


def size_scope(op: Op) -> Scope:
    """Returns the names and functions that `sizes` may use."""
    settings = {a.name: setting_sort(a) for a in op.signature.arguments}
    return Scope(settings, GATHER, number=Sort.INTEGER, refused=LISTS)


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
        check_results(op, report)
        check_input(op, report)
        check_tensors(op, 2, report)
        check_names(op, (*_COORDINATES, "row"), report)
        dims = op.signature.argument(kind.dims)
        if dims and dims.type.optional:
            report.add(op.locate(dims), f"the dimensions of a gather must not be optional: {kind.dims}")
        if check_expression(kind.source, scope(op), Sort.INTEGER, report):
            self._check_reads(op, kind.source, report)
        if kind.sizes:
            check_expression(kind.sizes, size_scope(op), Sort.INTEGER, report)

    def _check_reads(self, op: Op, source: Expression, report: Report) -> None:
        """Checks that lists are read at `k`, and index tensors at `i` or `...`; other positions may be out of range."""
        for node in source.root.walk():
            if not isinstance(node, Subscript) or not isinstance(node.value, Variable):
                continue
            name, at = node.value.name, node.position
            argument = op.signature.argument(name)
            if argument and argument.type.is_list:
                if at != Variable("k"):
                    report.add(source.locate(node), f"a list has one item per dimension: {name}[k]", len(name))
            elif name == "input" or not (isinstance(at, Ellipsis) or at == Variable("i")):
                report.add(source.locate(node), "an index tensor can be read only at [i] or at [...]", len(name))

    def facts(self, op: Op, kind: Gather) -> Iterator[Fact]:
        along = f", with size `{kind.sizes.text}` along `{kind.dims}`" if kind.sizes else ""
        yield Fact("shape", f"that of `input`{along}")
        yield Fact("kernels", "the index map, printed for each device, with one kernel per size of elements")
        yield Fact("sharding", f"every dimension except {kind.dims} can be split")
        yield Fact("cost", "number of bytes of the result")


RULES = _Gather()
