"""`elementwise: "expression"`, or a mapping: `value: expression`, or `match: attribute` and one for each of its values.

The expression computes an element of the result from the elements of the broadcast operands at the same index. A list
has an expression for each of several results, which one kernel computes. With `let`, parts have names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from codegen.answers import Fact, RuntimeRule, Skeleton, comparing
from codegen.as_program import OperatorTable
from codegen.checking import Scope, operand_sort
from codegen.compute_types import is_complex
from codegen.derivative import ZERO, added, derivative, multiplied
from codegen.dims import DimensionRule, broadcast
from codegen.expression import Binary, Comparison, Expression, Invoke, Node, Variable, comparison
from codegen.intrinsics import SCALAR, Cost, Sort
from codegen.kernel_printer import KernelPrinter
from codegen.kernels import Kernel
from codegen.kinds import branches, kernels
from codegen.kinds.checks import (
    check_expression,
    check_fresh,
    check_names,
    cost_fact,
    element_cost,
    expression_per_result,
    kernel_fact,
    listed,
    scalar_refusals,
)
from codegen.kinds.let import Let
from codegen.kinds.programs import derived
from codegen.model import Complex, Functions, Op
from codegen.program import Program
from codegen.reader import Field, Report
from codegen.types import Argument, Signature


def scope(op: Op) -> Scope:
    """Returns the names and functions that the expressions may use."""
    names = {a.name: operand_sort(op, a) for a in op.signature.arguments}
    return Scope(names, SCALAR, arguments=names, refused=scalar_refusals(op))


@dataclass(frozen=True)
class Elementwise(branches.Branching[tuple[Expression, ...]]):
    """Scalar expressions over the elements of the operands."""

    key = "elementwise"
    skeleton = Skeleton('  elementwise: ""\n')
    allocates = True
    complex_forms = frozenset({Complex.PARTS})

    # The parts that have names, which follow from the expressions: these contain them.
    parts: Mapping[str, Expression] = field(default_factory=dict, compare=False)

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Elementwise:
        if not field.is_mapping:
            return cls({None: expression_per_result(field, signature)}, None)
        fields = field.fields
        let = Let(fields, signature)

        def read_one(each: Field) -> tuple[Expression, ...]:
            return tuple(map(let.whole, expression_per_result(each, signature)))

        found, match = branches.read(fields, signature, read_one)
        let.finish()
        fields.finish()
        return cls(found, match, let.parts)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        check_fresh(op, report)
        check_names(op, ("i", "count"), report)
        for argument in op.signature.tensor_arguments:
            if argument.type.is_list:
                report.add(op.locate(argument), "an elementwise operator cannot take a list of tensors")
        if all(argument.type.optional for argument in op.signature.tensor_arguments):
            report.add(op.signature_location, "an elementwise operator needs a tensor argument that is not optional")
        if not all(check_expression(part, scope(op), None, report) for part in self.parts.values()):
            return  # what reads the part has the same problem
        for expression in self._all:
            check_expression(expression, scope(op), None, report)
            if op.from_any_device and expression.root != Variable(op.from_any_device):
                report.add(op.signature_location, f"from_any_device is for operators that copy {op.from_any_device}")

    @property
    def _all(self) -> Iterator[Expression]:
        for expressions in self.branches.values():
            yield from expressions

    def definitions(self) -> Iterator[tuple[str | None, str]]:
        for name, part in self.parts.items():
            yield None, f"{name} = {' '.join(part.text.split())}"
        for value, expressions in self.branches.items():
            for expression in expressions:
                yield value, " ".join(expression.text.split())

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))
        yield kernel_fact(op)
        for value, counts in self.element_costs.items():
            yield cost_fact(counts, "the results" if len(op.signature.results) > 1 else "the result", value)

    @property
    def element_costs(self) -> Mapping[str | None, Mapping[Cost, int]]:
        return {value: element_cost(expressions) for value, expressions in self.branches.items()}

    def dimensions(self, op: Op) -> DimensionRule:
        return broadcast(argument.name for argument in op.signature.tensor_arguments)

    def shape_text(self, op: Op) -> str:
        operands = [f"`{a.name}`" for a in op.signature.tensor_arguments]
        return f"that of {operands[0]}" if len(operands) == 1 else f"the broadcast shape of {listed(operands)}"

    def runtime_rule(self, op: Op) -> RuntimeRule:
        run = "run_copy" if op.from_any_device else "run_elementwise"
        rule = RuntimeRule(run, ("ops/elementwise.h", "ops/operations.h"), operations="operations_of_result")
        return comparing(rule, self.comparison(op))

    def comparison(self, op: Op) -> Comparison | None:
        operands = [argument.name for argument in op.signature.tensor_arguments]
        return comparison((expression.root for expression in self._all), operands)

    def kernels(self, op: Op, dialect: type[KernelPrinter]) -> Iterator[Kernel]:
        for value, expressions in self.branches.items():
            texts = [*(f"{name} = {part.text}" for name, part in self.parts.items()), *(e.text for e in expressions)]
            yield kernels.elementwise(op, dialect, value, expressions, scope(op), "; ".join(texts))

    def holds_for_complex(self, op: Op) -> bool:
        """Returns whether the expressions agree with the one in the column `complex`, from tensors to a result."""
        tensors = {argument.name for argument in op.signature.tensor_arguments}
        return isinstance(op.complex, Program) and all(is_complex(expression, tensors) for expression in self._all)

    @property
    def element(self) -> tuple[Node, ...]:
        found = list(self._all)
        return (found[0].root,) if len(found) == 1 else ()

    def adjoint(self, op: Op, argument: Argument, operators: OperatorTable) -> Mapping[str | None, Program]:
        found = {value: _adjoint(op, each, argument.name) for value, each in self.branches.items()}
        zeros = f"zeros_like({op.signature.gradient_names[0]})"
        truths = [name for name, sort in scope(op).variables.items() if sort is Sort.TRUTH]
        texts = {value: zeros if node == ZERO else operators.print(node, truths) for value, node in found.items()}
        return {value: derived(text, op) for value, text in texts.items()}

    def only_selects(self, name: str) -> bool:
        return all(expression.only_selects(name) for expression in self._all)

    def commutes(self, op: Op) -> bool:
        names = [argument.name for argument in op.signature.tensor_arguments]
        if len(names) != 2 or len(op.signature.arguments) != 2:
            return False
        exchanged = {names[0]: names[1], names[1]: names[0]}
        return all(_sorted(each.root, {}) == _sorted(each.root, exchanged) for each in self._all)

    def replaced(self, op: Op) -> Argument | None:
        return op.receiver if len(op.signature.results) == 1 else None


def _adjoint(op: Op, expressions: tuple[Expression, ...], name: str) -> Node:
    """Returns the sum over the results of the gradient times the derivative."""
    total: Node = ZERO
    grads = zip(expressions, op.signature.result_names, op.signature.gradient_names, strict=True)
    for expression, result, grad in grads:
        total = added(total, multiplied(Variable(grad), derivative(expression.root, name, result)))
    return total


def _sorted(node: Node, names: Mapping[str, str]) -> str:
    """Prints an expression with other names, and operands that can be exchanged in a fixed order."""
    match node:
        case Variable(name=name):
            return names.get(name, name)
        case Invoke(function="bool_type"):  # the compute type of all operands
            return "bool_type"
        case Binary(operator="+" | "*" | "or" | "and" | "==" | "!=" as operator, left=left, right=right):
            return f"({operator.join(sorted((_sorted(left, names), _sorted(right, names))))})"
    label = getattr(node, "function", getattr(node, "operator", type(node).__name__))
    parts = ", ".join(_sorted(each, names) for each in node.children)
    return f"{label}({parts})" if parts else repr(node)
