"""Prints scalar expressions as programs over the operators that compute the same, elementwise, on tensors.

Which operator computes a function is not listed: it is the record whose expression is this function of its arguments.
Example: `add` has the expression `input + other`, so `a + exp(b)` becomes `add(a, exp(b))`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.errors import TextError
from codegen.expression import Binary, Conditional, Constant, Invoke, Node, Unary, Variable
from codegen.intrinsics import BINARY, FUNCTIONS


@dataclass(frozen=True)
class OperatorTable:
    """The names of the operators that compute a function each, by `what_computes`."""

    names: Mapping[str, str]

    def print(self, node: Node) -> str:
        """Returns an expression as a program; raises TextError for a function that no operator computes."""
        match node:
            case Constant(value=value):
                return repr(value)
            case Variable(name=name):
                return name
        called = self.names.get(what_computes(node))
        if called is None:
            raise TextError(f"no operator computes '{what_computes(node)}'", node.at)
        return f"{called}({', '.join(self.print(operand) for operand in node.children)})"


def what_computes(node: Node) -> str:
    """Returns the name of the outermost function of an expression; operators are told apart by their operands."""
    match node:
        case Unary(operator=operator):
            return f"{operator} x"
        case Binary(operator=operator):
            return next((name for name, each in FUNCTIONS.items() if each is BINARY[operator]), f"x {operator} y")
        case Conditional():
            return "x if condition else y"
        case Invoke(function=function):
            return function
    return type(node).__name__


def operand_names(node: Node) -> tuple[str, ...]:
    """Returns the names of what the outermost function of an expression is applied to; nothing for other parts."""
    operands = list(node.children)
    names = tuple(each.name for each in operands if isinstance(each, Variable))
    return names if len(names) == len(operands) else ()
