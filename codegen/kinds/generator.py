"""`generator: {sizes: argument or expression, random: count, value: expression}`; `match` as for elementwise.

The expression gives an element of a new tensor from its `index` (linear), its `row` and `column`, and from the random
numbers `uniform(k)`, `normal(k)`, `below(k, n)` with k below `random`. A tensor argument gives sizes, type and device
to the result, and none of its elements: in `sizes` its name stands for its sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.checking import LISTS, Scope, operand_sort, setting_sort
from codegen.errors import TextError
from codegen.expression import Constant, Expression, Invoke
from codegen.intrinsics import RANDOM, SCALAR, SIZES, Sort
from codegen.kinds import branches
from codegen.kinds.base import (
    Fact,
    Functions,
    Rules,
    Skeleton,
    check_expression,
    check_names,
    check_results,
    check_tensors,
    kernel_fact,
    scalar_refusals,
)
from codegen.model import Generator, Op, Signature
from codegen.reader import Field, Report

_PLACE = {"index": Sort.INTEGER, "row": Sort.INTEGER, "column": Sort.INTEGER}


def scope(op: Op) -> Scope:
    """What the expressions may name."""
    names = {a.name: operand_sort(op, a) for a in op.signature.arguments if not a.type.is_tensor}
    return Scope({**names, **_PLACE}, {**SCALAR, **RANDOM}, arguments=names, refused=scalar_refusals(op))


def size_scope(op: Op) -> Scope:
    """What `sizes` may name."""
    names = {a.name: Sort.LIST if a.type.is_tensor else setting_sort(a) for a in op.signature.arguments}
    return Scope(names, SIZES, number=Sort.INTEGER, refused=LISTS)


class _Generator(Rules[Generator]):
    skeleton = Skeleton(
        '  generator:\n    sizes: "size"\n    value: ""\n',
        arguments="size[] size, *, dtype? dtype=None, device? device=None",
        dtype="{result: floating, override: dtype}",
        example="[2]",
        says="size must be {size[]}, got {str}",
    )

    def read(self, field: Field, signature: Signature | None) -> Generator:
        fields = field.fields
        sizes = fields.need("sizes").expression
        random = fields.optional("random", lambda f: f.natural, 0)
        found = branches.read(fields, signature)
        fields.finish()
        return Generator(found.expressions, sizes, found.match, random)

    def check(self, op: Op, kind: Generator, functions: Functions, report: Report) -> None:
        check_results(op, report)
        check_names(op, ("i", *_PLACE), report)
        check_tensors(op, 1, report)
        self._check_sizes(op, kind.sizes, report)
        for expression in kind.expressions.values():
            check_expression(expression, scope(op), None, report)
            self._check_draws(expression, kind.random, report)

    def _check_sizes(self, op: Op, sizes: Expression, report: Report) -> None:
        """A list of sizes, or one length."""
        try:
            found = size_scope(op).sort(sizes.root)
            if found not in (Sort.LIST, Sort.INTEGER):
                raise TextError(f"expected sizes or a length, got {found.value}", 0, len(sizes.text))
        except TextError as error:
            report.add(sizes.location.shifted(error.offset), error.text, error.length)

    def _check_draws(self, expression: Expression, random: int, report: Report) -> None:
        for node in expression.root.walk():
            if not isinstance(node, Invoke) or node.function not in RANDOM or not node.arguments:
                continue
            which = node.arguments[0]
            place = expression.locate(node)
            if not isinstance(which, Constant) or not isinstance(which.value, int):
                report.add(place, f"{node.function} takes a plain number", len(node.function))
            elif not 0 <= which.value < random:
                text = f"{node.function}({which.value}) needs random: {which.value + 1}, it is {random}"
                report.add(place, text, len(node.function))

    def facts(self, op: Op, kind: Generator) -> Iterator[Fact]:
        argument = op.signature.argument(kind.sizes.text)
        yield Fact("shape", f"{kind.sizes.text}.shape" if argument and argument.type.is_tensor else kind.sizes.text)
        yield kernel_fact(op)
        if kind.random:
            yield Fact("random", f"{kind.random} number{'s' * (kind.random != 1)} per element, by its linear index")
        yield Fact("sharding", "by index" + " (derived)" * (op.sharding is None))
        yield Fact("cost", "size of the result")


RULES = _Generator()
