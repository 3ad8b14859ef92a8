"""`generator: {sizes: argument or expression, random: count, value: expression}`; `match` as for elementwise.

The expression computes an element of a new tensor from its linear `index`, its `row` and `column`, and the random
numbers `uniform(k)`, `normal(k)`, `below(k, n)`, where k is less than `random`. Of a tensor argument, only the sizes,
the type and the device are used; in `sizes`, its name stands for its sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codegen import kernels
from codegen.checking import LISTS, Scope, operand_sort, setting_sort
from codegen.compute_types import COMPUTE_TYPES, FLOATING
from codegen.errors import TextError, counted
from codegen.expression import Constant, Expression, Invoke, Variable
from codegen.intrinsics import FRACTIONS, RANDOM, SCALAR, SIZES, Sort
from codegen.kernel_printer import KernelPrinter
from codegen.kinds import branches
from codegen.kinds.checks import (
    check_expression,
    check_names,
    check_results,
    check_tensors,
    kernel_fact,
    scalar_refusals,
)
from codegen.kinds.kind import Fact, Functions, Member, RuntimeRule, Skeleton
from codegen.model import Op, ResultRule, Signature
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


@dataclass(frozen=True)
class Generator(branches.Branching[Expression]):
    """An expression of `index` (the linear index), `row`, `column` (of a matrix), and of random numbers.

    `sizes` is the name of the size[] argument that is the shape of the result, the name of a tensor with that shape, or
    an expression for the shape or for the length of a one-dimensional result.
    """

    key = "generator"
    skeleton = Skeleton(
        '  generator:\n    sizes: "size"\n    value: ""\n',
        arguments="size[] size, *, dtype? dtype=None, device? device=None",
        dtype="{result: floating, override: dtype}",
        example="[2]",
        says="size must be {size[]}, got {str}",
    )
    allocates = True
    follows_device = True

    sizes: Expression
    random: int = 0  # the number of draws from the Philox sequence per element

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Generator:
        fields = field.fields
        sizes = fields.need("sizes").expression
        random = fields.optional("random", lambda f: f.natural, 0)
        found, match = branches.read(fields, signature, lambda each: each.expression)
        fields.finish()
        return cls(found, match, sizes, random)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        check_results(op, report)
        check_names(op, ("i", *_COORDINATES), report)
        check_tensors(op, 1, report)
        self._check_sizes(op, report)
        for expression in self.branches.values():
            check_expression(expression, scope(op), None, report)
            self._check_draws(expression, report)

    def _check_sizes(self, op: Op, report: Report) -> None:
        """Checks that `sizes` is a list of sizes, or the length of a one-dimensional result."""
        sizes = self.sizes
        try:
            found = size_scope(op).sort(sizes.root)
            if found not in (Sort.LIST, Sort.INTEGER):
                text = f"expected a list of sizes or a length, got {found.value}"
                raise TextError(text, 0, len(sizes.text))
        except TextError as error:
            report.add(sizes.location.shifted(error.offset), error.text, error.length)

    def _check_draws(self, expression: Expression, report: Report) -> None:
        """Checks that the first argument of each random function is a constant less than `random`."""
        for node in expression.root.walk():
            if not isinstance(node, Invoke) or node.function not in RANDOM or not node.arguments:
                continue
            which = node.arguments[0]
            location = expression.locate(node)
            if not isinstance(which, Constant) or not isinstance(which.value, int):
                text = f"the first argument of {node.function} must be an integer constant"
                report.add(location, text, len(node.function))
            elif not 0 <= which.value < self.random:
                text = f"{node.function}({which.value}) needs random: {which.value + 1}, it is {self.random}"
                report.add(location, text, len(node.function))

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))
        yield kernel_fact(op)
        if self.random:
            yield Fact("random", f"{counted(self.random, 'number')} per element, selected by its linear index")
        yield Fact("sharding", "every dimension can be split")
        yield Fact("cost", "number of elements of the result")

    def shape_text(self, op: Op) -> str:
        text = self.sizes.text
        argument = op.signature.argument(text)
        if argument and argument.type.is_tensor:
            return f"that of `{text}`"
        is_length = size_scope(op).sort(self.sizes.root) is Sort.INTEGER
        return f"`[{text}]`" if is_length else f"`{text}`"

    def runtime_rule(self, op: Op) -> RuntimeRule:
        members: dict[str, Member] = {}
        root = self.sizes.root
        argument = op.signature.argument(root.name) if isinstance(root, Variable) else None
        if argument and argument.type.is_list:
            members["size_argument"] = op.position(argument.name)
        if self.random:
            members["is_random"] = True
        headers = ("ops/generator.h", "ops/size_functions.h")
        return RuntimeRule("run_generator", headers, "GeneratorRule", members, run_complex="run_complex_generator")

    def kernels(self, op: Op, dialect: type[KernelPrinter]) -> Iterator[kernels.Kernel]:
        for value, expression in self.branches.items():
            yield kernels.generator(op, dialect, value, expression)

    @property
    def draws_fractions(self) -> bool:
        return any(expression.functions & FRACTIONS for expression in self.branches.values())

    def compute_types(self, op: Op) -> frozenset[str]:
        if self.draws_fractions or op.dtype.compute is ResultRule.FLOATING:
            return FLOATING
        return frozenset({"int64"}) if op.dtype.compute is ResultRule.INT64 else frozenset(COMPUTE_TYPES)

    def takes_complex(self, op: Op) -> bool:
        return not self.random
