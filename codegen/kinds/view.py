"""`view: {let: {name: expression}, sizes:, strides:, offset:}`; `offset` defaults to that of the input.

The expressions may use the `sizes`, `strides`, `base` (the offset) and `rank` of the input, the arguments, and the
preceding parts of `let`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen import expression
from codegen.checking import LISTS, Scope, setting_sort
from codegen.expression import Expression
from codegen.intrinsics import VIEW, Sort
from codegen.kinds.checks import check_expression, check_input, check_tensors, let, listed
from codegen.kinds.kind import Fact, Functions, Kind, RuntimeRule, Skeleton
from codegen.model import Op, Signature
from codegen.reader import Field, Report

_INPUT = {"sizes": Sort.LIST, "strides": Sort.LIST, "base": Sort.INTEGER, "rank": Sort.INTEGER}


def scope(op: Op, parts: dict[str, Sort]) -> Scope:
    """Returns the names and functions that an expression may use after these parts of `let`."""
    settings = {a.name: setting_sort(a) for a in op.signature.arguments}
    return Scope({**_INPUT, **settings, **parts}, VIEW, number=Sort.INTEGER, refused=LISTS)


@dataclass(frozen=True)
class View(Kind):
    """A stride map: list expressions over `sizes`, `strides`, `base` and the arguments; `let` names subexpressions."""

    key = "view"
    skeleton = Skeleton(
        '  view:\n    sizes: ""\n    strides: ""\n',
        arguments="Tensor(a) input",
        result="Tensor(a)",
    )
    is_long = False
    computes = False
    checks_sizes = True

    sizes: Expression
    strides: Expression
    offset: Expression
    let: Mapping[str, Expression]

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> View:
        fields = field.fields
        parts = let(fields, signature)
        sizes = fields.need("sizes").expression
        strides = fields.need("strides").expression
        offset = fields.optional("offset", lambda f: f.expression, expression.parse("base", field.location))
        fields.finish()
        return cls(sizes, strides, offset, parts)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        check_input(op, report)
        check_tensors(op, 1, report)
        if len(op.signature.results) != 1 or not op.signature.results[0].alias:
            report.add(
                op.signature_location, "a view shares memory: its signature must be (Tensor(a) input, ...) -> Tensor(a)"
            )
        parts: dict[str, Sort] = {}
        for name, part in self.let.items():
            parts[name] = check_expression(part, scope(op, parts), Sort.INTEGER, report) or Sort.INTEGER
        check_expression(self.sizes, scope(op, parts), Sort.LIST, report)
        check_expression(self.strides, scope(op, parts), Sort.LIST, report)
        check_expression(self.offset, scope(op, parts), Sort.INTEGER, report)

    @property
    def own_names(self) -> tuple[str, ...]:
        return tuple(self.let)

    def facts(self, op: Op) -> Iterator[Fact]:
        for name, part in self.let.items():
            yield Fact(name, part.text)
        yield Fact("shape", f"`{self.sizes.text}`")
        yield Fact("strides", self.strides.text)
        yield Fact("offset", self.offset.text)
        yield Fact("kernels", "none: the result shares the input's memory")
        yield Fact("cost", "0")

    def shape_text(self, op: Op) -> str:
        used = set(self.sizes.names)
        for name, part in reversed(tuple(self.let.items())):
            if name in used:
                used |= part.names
        parts = [f"`{name} = {part.text}`" for name, part in self.let.items() if name in used]
        return f"`{self.sizes.text}`" + (f", where {listed(parts)}" if parts else "")

    def runtime_rule(self, op: Op) -> RuntimeRule:
        return RuntimeRule("run_view", ("ops/view.h", "ops/view_functions.h"), "ViewRule")

    def takes_complex(self, op: Op) -> bool:
        return True

    @property
    def ignores_strides(self) -> bool:
        """Returns whether the layout of the result is independent of the strides of the input."""
        return "strides" not in self.strides.text
