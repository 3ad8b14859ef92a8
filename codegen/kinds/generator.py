"""`generator: {sizes: argument or expression, random: count, value: expression}`; `match` as for elementwise.

The expression computes an element of a new tensor from its linear `index`, its `row` and `column`, and the random
numbers `uniform(k)`, `normal(k)`, `below(k, n)`, where k is less than `random`. Of a tensor argument, only the sizes,
the type and the device are used; in `sizes`, its name stands for its sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.checking import LISTS, Scope, operand_sort, setting_sort
from codegen.errors import TextError, counted
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

_COORDINATES = {"index": Sort.INTEGER, "row": Sort.INTEGER, "column": Sort.INTEGER}


def scope(op: Op) -> Scope:
    """Returns the names and functions that the expressions may use."""
    names = {a.name: operand_sort(op, a) for a in op.signature.arguments if not a.type.is_tensor}
    return Scope({**names, **_COORDINATES}, {**SCALAR, **RANDOM}, arguments=names, refused=scalar_refusals(op))


def size_scope(op: Op) -> Scope:
    """Returns the names and functions that `sizes` may use."""
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
        check_names(op, ("i", *_COORDINATES), report)
        check_tensors(op, 1, report)
        self._check_sizes(op, kind.sizes, report)
        for expression in kind.expressions.values():
            check_expression(expression, scope(op), None, report)
            self._check_draws(expression, kind.random, report)

    def _check_sizes(self, op: Op, sizes: Expression, report: Report) -> None:
        """Checks that `sizes` is a list of sizes, or the length of a one-dimensional result."""
        try:
            found = size_scope(op).sort(sizes.root)
            if found not in (Sort.LIST, Sort.INTEGER):
                text = f"expected a list of sizes or a length, got {found.value}"
                raise TextError(text, 0, len(sizes.text))
        except TextError as error:
            report.add(sizes.location.shifted(error.offset), error.text, error.length)

    def _check_draws(self, expression: Expression, random: int, report: Report) -> None:
        """Checks that the first argument of each random function is a constant less than `random`."""
        for node in expression.root.walk():
            if not isinstance(node, Invoke) or node.function not in RANDOM or not node.arguments:
                continue
            which = node.arguments[0]
            location = expression.locate(node)
            if not isinstance(which, Constant) or not isinstance(which.value, int):
                text = f"the first argument of {node.function} must be an integer constant"
                report.add(location, text, len(node.function))
            elif not 0 <= which.value < random:
                text = f"{node.function}({which.value}) needs random: {which.value + 1}, it is {random}"
                report.add(location, text, len(node.function))

    def facts(self, op: Op, kind: Generator) -> Iterator[Fact]:
        text = kind.sizes.text
        argument = op.signature.argument(text)
        if argument and argument.type.is_tensor:
            yield Fact("shape", f"that of `{text}`")
        else:
            is_length = size_scope(op).sort(kind.sizes.root) is Sort.INTEGER
            yield Fact("shape", f"`[{text}]`" if is_length else f"`{text}`")
        yield kernel_fact(op)
        if kind.random:
            yield Fact("random", f"{counted(kind.random, 'number')} per element, selected by its linear index")
        yield Fact("sharding", "every dimension can be split" + " (derived)" * (op.sharding is None))
        yield Fact("cost", "number of elements of the result")


RULES = _Generator()
