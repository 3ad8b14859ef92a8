"""`generator: {sizes: program, random: count, value: expression}`; `match` as for elementwise.

The expression computes an element of a new tensor from its linear `index`, its `row` and `column`, and the random
numbers `uniform(k)`, `normal(k)`, `below(k, n)`, where k is less than `random`. Of a tensor argument, only the sizes,
the type and the device are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from codegen.answers import Fact, Gives, Member, RulePrograms, RuntimeRule, Skeleton
from codegen.checking import Scope, operand_sort
from codegen.compute_types import COMPUTE_TYPES, FLOATING
from codegen.dims import DimensionRule, kept
from codegen.dtypes import ResultRule
from codegen.errors import TextError, counted
from codegen.expression import Constant, Expression, Invoke, Variable
from codegen.intrinsics import RANDOM, SCALAR, SPACED, Cost, Sort
from codegen.kernel_printer import KernelPrinter
from codegen.kernels import Kernel
from codegen.kinds import branches, kernels
from codegen.kinds.checks import (
    check_expression,
    check_names,
    check_results,
    check_tensors,
    cost_fact,
    element_cost,
    kernel_fact,
    scalar_refusals,
)
from codegen.kinds.programs import check_program
from codegen.kinds.programs import scope as size_scope
from codegen.model import Functions, Op
from codegen.program import Program, Return
from codegen.program_functions import INTEGER, INTEGERS
from codegen.reader import Field, Report
from codegen.resolve import resolve
from codegen.types import Argument, Signature, Type

_COORDINATES = {"index": Sort.INTEGER, "row": Sort.INTEGER, "column": Sort.INTEGER}


def scope(op: Op) -> Scope:
    """Returns the names and functions that the expressions may use."""
    names = {a.name: operand_sort(op, a) for a in op.signature.arguments if not a.type.is_tensor}
    return Scope(
        {**names, **_COORDINATES}, {**SCALAR, **SPACED, **RANDOM}, arguments=names, refused=scalar_refusals(op)
    )


@dataclass(frozen=True)
class Generator(branches.Branching[Expression]):
    """An expression of `index` (the linear index), `row`, `column` (of a matrix), and of random numbers.

    `sizes` is a program for the shape of the result, or for the length of a one-dimensional one.
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

    sizes: Program
    random: int = 0  # the number of draws from the Philox sequence per element

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Generator:
        fields = field.fields
        sizes = fields.need("sizes").program
        random = fields.optional("random", lambda f: f.natural, 0)
        found, match = branches.read(fields, signature, lambda each: each.expression)
        fields.finish()
        return cls(found, match, sizes, random)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        check_results(op, report)
        check_names(op, ("i", *_COORDINATES), report)
        check_tensors(op, 1, report)
        check_program(self.sizes, size_scope(op), [self.sizes_type(op)], report)
        for expression in self.branches.values():
            check_expression(expression, scope(op), None, report)
            self._check_draws(expression, report)

    def resolved(self, op: Op, functions: Functions) -> Generator:
        return replace(self, sizes=resolve(self.sizes, size_scope(op), [self.sizes_type(op)]))

    def only_selects(self, name: str) -> bool:
        return all(expression.only_selects(name) for expression in self.branches.values())

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
        if self.is_random:
            yield Fact("random", f"{counted(self.random, 'number')} per element, selected by its linear index")
        for value, counts in self.element_costs.items():
            yield cost_fact(counts, "the result", value)

    @property
    def element_costs(self) -> Mapping[str | None, Mapping[Cost, int]]:
        return {value: element_cost([expression]) for value, expression in self.branches.items()}

    def dimensions(self, op: Op) -> DimensionRule:
        return kept([argument.name for argument in op.signature.tensor_arguments])

    def shape_text(self, op: Op) -> str:
        *_, (root,) = self.sizes.results
        if isinstance(root, Invoke) and root.function == "sizes":
            return f"that of `{op.signature.tensor_arguments[0].name}`"
        text = self.sizes.lines[-1].removeprefix("return ")
        return f"`[{text}]`" if self.sizes_type(op) == INTEGER else f"`{text}`"

    def sizes_type(self, op: Op) -> Type:
        """Returns INTEGER if the sizes are the length of a one-dimensional result, and else INTEGERS."""
        try:
            resolve(self.sizes, size_scope(op), [INTEGER])
        except TextError:
            return INTEGERS
        return INTEGER

    def runtime_rule(self, op: Op) -> RuntimeRule:
        members: dict[str, Member] = {}
        if argument := self._size_argument(op):
            members["size_argument"] = op.position(argument.name)
        if generator := op.signature.generator:
            members["generator_argument"] = op.position(generator.name)
        gives = Gives.LENGTH if self.sizes_type(op) == INTEGER else Gives.SIZES
        return RuntimeRule(
            "run_generator",
            ("ops/generator.h", "ops/operations.h"),
            "GeneratorRule",
            members,
            run_complex="run_complex_generator",
            operations="operations_of_result",
            schema={"has_boxes": True},
            programs=None if argument else RulePrograms(gives, (self.sizes,), ("sizes",)),
        )

    def _size_argument(self, op: Op) -> Argument | None:
        """Returns the argument that is the list of sizes, or None if they are computed."""
        match self.sizes.statements:
            case (Return(values=(Variable(name=name),)),):
                argument = op.signature.argument(name)
                return argument if argument and argument.type.is_list else None
        return None

    def kernels(self, op: Op, dialect: type[KernelPrinter]) -> Iterator[Kernel]:
        for value, expression in self.branches.items():
            yield kernels.generator(op, dialect, value, expression, scope(op))

    def definitions(self) -> Iterator[tuple[str | None, str]]:
        for value, expression in self.branches.items():
            yield value, " ".join(expression.text.split())

    @property
    def is_random(self) -> bool:
        return self.random > 0

    @property
    def draws_fractions(self) -> bool:
        return any(each.is_fraction for expression in self.branches.values() for each in expression.intrinsics)

    def compute_types(self, op: Op) -> frozenset[str]:
        if self.draws_fractions or op.dtype.compute is ResultRule.FLOATING:
            return FLOATING
        if op.dtype.compute is ResultRule.NUMBERS:
            return frozenset(COMPUTE_TYPES) - {"bool"}
        return frozenset({"int64"}) if op.dtype.compute is ResultRule.INT64 else frozenset(COMPUTE_TYPES)

    def takes_complex(self, op: Op) -> bool:
        return not self.is_random
