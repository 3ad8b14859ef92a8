"""Composites whose elements are also known as scalar expressions, as most gradients of elementwise records.

A device may compute such a composite by one kernel, where no layer wants to see the calls in its body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from codegen.answers import RuntimeRule
from codegen.compute_types import FLOATING
from codegen.derivative import simplified, substituted
from codegen.expression import Constant, Expression, Invoke, Node, Variable
from codegen.kernel_printer import KernelPrinter
from codegen.kernels import Kernel
from codegen.kinds import elementwise, kernels
from codegen.kinds.composite import Composite
from codegen.model import Kind, Op, OperatorCall, calls_in
from codegen.program import Assign, If, Program, Return


@dataclass(frozen=True)
class Fused(Composite):
    """Programs over other operators, and the element of the result that each of them computes."""

    in_records = False
    is_fused = True

    elements: Mapping[str | None, Expression]

    def kernels(self, op: Op, dialect: type[KernelPrinter]) -> Iterator[Kernel]:
        for value, element in self.elements.items():
            yield kernels.elementwise(op, dialect, value, (element,), elementwise.scope(op), element.text)

    def compute_types(self, op: Op) -> frozenset[str]:
        return FLOATING

    def runtime_rule(self, op: Op) -> RuntimeRule:
        rule = super().runtime_rule(op)
        return replace(rule, members={**rule.members, "is_elementwise": True})


def fused(kind: Kind) -> Kind:
    """Returns a resolved composite with its elements, if all programs are expressions of several elementwise calls."""
    if not isinstance(kind, Composite):
        return kind
    elements = {value: _element(program) for value, program in kind.branches.items()}
    calls = max((_count(program) for program in kind.branches.values()), default=0)
    known = {value: each for value, each in elements.items() if each is not None}
    return Fused(kind.branches, kind.match, known) if calls > 1 and len(known) == len(elements) else kind


def _count(program: Program) -> int:
    return sum(1 for _ in calls_in(program))


def _element(program: Program) -> Expression | None:
    """Returns the element of the result of a program, or None if it does not follow from elements alone."""
    elements: dict[str, Node] = {}  # of the names in the program
    for statement in program.statements:
        match statement:
            case If(condition=Invoke(function="is_complex"), otherwise=()):
                continue  # the kernel computes in real types
            case Assign(names=(name,), value=value, replaces=False) if found := _composed(value, elements):
                elements[name] = found
            case Return(values=(value,)) if found := _composed(value, elements):
                one_line = "; ".join(line.strip() for line in program.text.splitlines())
                return Expression(one_line, found, program.location)
            case _:
                return None
    return None


def _composed(node: Node, elements: Mapping[str, Node]) -> Node | None:
    """Returns the scalar expression of the elements of a value, or None if there is none."""
    match node:
        case Variable(name=name):
            return elements.get(name, node)
        case Constant():
            return node
        case OperatorCall(op=op, values=values) if op.kind.element and not op.dtype.override:
            (element,) = op.kind.element
            if any(isinstance(part, Invoke) and part.function == "given" for part in element.walk()):
                return None
            operands: dict[str, Node] = {}
            for argument, value in zip(op.signature.arguments, values, strict=True):
                if value is None and isinstance(argument.default, bool | int | float | str):
                    operands[argument.name] = Constant(argument.default)
                elif value and (operand := _composed(value, elements)):
                    operands[argument.name] = operand
                else:
                    return None
            return simplified(substituted(element, operands))
    return None
