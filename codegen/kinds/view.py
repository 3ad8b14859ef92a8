"""`view: {let: {name: expression}, sizes:, strides:, offset:}`; `offset` defaults to that of the input.

The expressions may use the `sizes`, `strides`, `base` (the offset) and `rank` of the input, the arguments, and the
preceding parts of `let`.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen import expression
from codegen.checking import LISTS, Scope, setting_sort
from codegen.intrinsics import VIEW, Sort
from codegen.kinds import base
from codegen.kinds.base import Fact, Functions, Rules, Skeleton, check_expression, check_input, check_tensors
from codegen.model import Op, Signature, View
from codegen.reader import Field, Report

_INPUT = {"sizes": Sort.LIST, "strides": Sort.LIST, "base": Sort.INTEGER, "rank": Sort.INTEGER}


def scope(op: Op, parts: dict[str, Sort]) -> Scope:
    """Returns the names and functions that an expression may use after these parts of `let`."""
    settings = {a.name: setting_sort(a) for a in op.signature.arguments}
    return Scope({**_INPUT, **settings, **parts}, VIEW, number=Sort.INTEGER, refused=LISTS)


class _View(Rules[View]):
    skeleton = Skeleton(
        '  view:\n    sizes: ""\n    strides: ""\n',
        arguments="Tensor(a) input",
        result="Tensor(a)",
    )

    def read(self, field: Field, signature: Signature | None) -> View:
        fields = field.fields
        let = base.let(fields, signature)
        sizes = fields.need("sizes").expression
        strides = fields.need("strides").expression
        offset = fields.optional("offset", lambda f: f.expression, expression.parse("base", field.location))
        fields.finish()
        return View(sizes, strides, offset, let)

    def check(self, op: Op, kind: View, functions: Functions, report: Report) -> None:
        check_input(op, report)
        check_tensors(op, 1, report)
        if len(op.signature.results) != 1 or not op.signature.results[0].alias:
            report.add(
                op.signature_location, "a view shares memory: its signature must be (Tensor(a) input, ...) -> Tensor(a)"
            )
        parts: dict[str, Sort] = {}
        for name, part in kind.let.items():
            parts[name] = check_expression(part, scope(op, parts), Sort.INTEGER, report) or Sort.INTEGER
        check_expression(kind.sizes, scope(op, parts), Sort.LIST, report)
        check_expression(kind.strides, scope(op, parts), Sort.LIST, report)
        check_expression(kind.offset, scope(op, parts), Sort.INTEGER, report)

    def facts(self, op: Op, kind: View) -> Iterator[Fact]:
        for name, part in kind.let.items():
            yield Fact(name, part.text)
        yield Fact("shape", f"`{kind.sizes.text}`")
        yield Fact("strides", kind.strides.text)
        yield Fact("offset", kind.offset.text)
        yield Fact("kernels", "none: the result shares the input's memory")
        yield Fact("cost", "0")


RULES = _View()
