"""Composites whose elements are also known as scalar expressions, as the derived gradients of elementwise records.

A device may compute such a composite by one kernel, where no layer wants to see the calls in its body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from codegen import kernels
from codegen.expression import Expression, Node
from codegen.kernel_printer import KernelPrinter
from codegen.kinds.composite import Composite
from codegen.kinds.kind import RuntimeRule
from codegen.model import Op


@dataclass(frozen=True)
class Fused(Composite):
    """Programs over other operators, and the element of the result that each of them computes."""

    in_records = False
    is_fused = True

    elements: Mapping[str | None, Expression]

    def kernels(self, op: Op, dialect: type[KernelPrinter]) -> Iterator[kernels.Kernel]:
        for value, element in self.elements.items():
            yield kernels.elementwise(op, dialect, value, (element,))

    def compute_types(self, op: Op) -> frozenset[str]:
        return frozenset({"float32", "float64"})

    def runtime_rule(self, op: Op) -> RuntimeRule:
        rule = super().runtime_rule(op)
        return replace(rule, members={**rule.members, "is_elementwise": True})


def fused(kind: Composite, elements: Mapping[str | None, Node]) -> Composite:
    """Returns a resolved composite with its elements, if they save calls."""
    if kind.computing_calls <= 1:
        return kind
    found = {
        value: Expression(program.text, elements[value], program.location) for value, program in kind.branches.items()
    }
    return Fused(kind.branches, kind.match, found)
