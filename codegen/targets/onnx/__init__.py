"""The scalar expressions of elementwise records as data, from which the ONNX library writes operators without a name in
ONNX as the nodes of their expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from codegen.checking import operand_sort
from codegen.definitions import Definitions
from codegen.dtypes import ResultRule
from codegen.expression import Binary, Conditional, Constant, Expression, Invoke, Node, Unary, Variable
from codegen.intrinsics import Sort
from codegen.kinds.elementwise import Elementwise
from codegen.model import Op
from codegen.names import identifier, pascal
from codegen.printer import real
from codegen.target import Output, Target

_UNARY = {"-": "neg", "~": "bit_not", "not": "not"}
_BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floordiv", "%": "remainder", "**": "pow", "&": "bit_and",
    "|": "bit_or", "^": "bit_xor", "<<": "shift_left", ">>": "shift_right", "==": "eq", "!=": "ne", "<": "lt",
    "<=": "le", ">": "gt", ">=": "ge", "and": "and", "or": "or",
}  # fmt: skip


@dataclass
class Steps:
    """The steps of the expressions of one branch. Equal parts are one step."""

    op: Op
    rows: list[str] = field(default_factory=list)

    def add(self, row: str) -> int:
        """Returns the number of a step."""
        if row not in self.rows:
            self.rows.append(row)
        return self.rows.index(row)

    def number(self, node: Node) -> int:
        """Returns the number of the step that computes an expression."""
        match node:
            case Constant(value=bool() | int() | float() as value):
                return self.add(f".number = {real(float(value))}")
            case Variable(name=name):
                argument = self.op.signature.argument(name)
                assert argument, name
                is_truth = operand_sort(self.op, argument) is Sort.TRUTH
                return self.add(f".argument = {self.op.position(name)}" + ", .is_truth = true" * is_truth)
            case Unary(operator="+", operand=operand):
                return self.number(operand)
            case Unary(operator=operator, operand=operand):
                return self.function(_UNARY[operator], operand)
            case Binary(operator=operator, left=left, right=right):
                return self.function(_BINARY[operator], left, right)
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                return self.function("where", condition, then, otherwise)
            case Invoke(function="given", arguments=(Variable(name=name),)):
                return self.add(f'.function = "given", .argument = {self.op.position(name)}')
            case Invoke(function=function, arguments=arguments):
                return self.function(function, *arguments)
        raise AssertionError(node)

    def function(self, name: str, *operands: Node) -> int:
        """Returns the number of the step that calls a function."""
        numbers = ", ".join(str(self.number(each)) for each in operands)
        return self.add(f'.function = "{name}", .operands = {{{numbers}}}, .operand_count = {len(operands)}')


@dataclass(frozen=True)
class Branch:
    """The expressions for one value of the attribute that a record matches on."""

    name: str  # of the arrays
    value: str | None
    steps: list[str]
    results: list[int]


@dataclass(frozen=True)
class Entry:
    """The expressions of one record."""

    op: Op
    branches: list[Branch]

    @property
    def compute(self) -> str:
        """Returns what the type follows from in which the expressions are computed."""
        return {
            None: "kResult",
            ResultRule.PROMOTE: "kOperands",
            ResultRule.BOOL: "kBool",
            ResultRule.FLOATING: "kFloating",
        }[self.op.dtype.computes_in]

    @property
    def match(self) -> int:
        """Returns the position of the attribute that selects a branch, or -1."""
        return self.op.position(self.op.kind.matched) if self.op.kind.matched else -1


def _entry(op: Op, kind: Elementwise) -> Entry:
    branches = []
    name = "k" + pascal(identifier(op.full_name))
    for number, (value, expressions) in enumerate(kind.branches.items()):
        steps = Steps(op)
        results = [_number(steps, each) for each in expressions]
        branches.append(Branch(f"{name}{number}", value, steps.rows, results))
    return Entry(op, branches)


def _number(steps: Steps, expression: Expression) -> int:
    return steps.number(expression.root)


class Onnx(Target):
    title = "ONNX"

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        entries = [_entry(op, op.kind) for op in definitions.ops if isinstance(op.kind, Elementwise)]
        sources = {entry.op.location.file for entry in entries}
        text = self.templates.render("expressions.cpp.j2", entries=entries, sources=sources)
        yield Output("runtime/onnx/generated/expressions.cpp", text)
