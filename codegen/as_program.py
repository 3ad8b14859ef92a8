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
from codegen.model import Definitions, Op


@dataclass(frozen=True)
class OperatorTable:
    """The operators that compute a function each, by `what_computes`."""

    operators: Mapping[str, Op]

    @classmethod
    def of(cls, definitions: Definitions) -> OperatorTable:
        """Returns the table of all records with one expression, of which the first one of an equal function counts."""
        found: dict[str, Op] = {}
        for op in definitions.ops:
            for root in op.kind.element:
                names = tuple(argument.name for argument in op.signature.arguments)
                if tuple(_operand_names(root)) == names:
                    found.setdefault(what_computes(root), op)
        return cls(found)

    def print(self, node: Node) -> str:
        """Returns an expression as a program; raises TextError for a function that no operator computes."""
        match node:
            case Constant(value=value):
                return repr(value)
            case Variable(name=name):
                return name
        called = self.operators.get(what_computes(node))
        if called is None:
            raise TextError(f"no operator computes '{what_computes(node)}'", node.at)
        return f"{called.name}({', '.join(self.print(operand) for operand in _operands(node))})"


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


def _operands(node: Node) -> tuple[Node, ...]:
    """Returns the parts that the outermost function of an expression is applied to, as an operator takes them."""
    return tuple(node.children)


def _operand_names(node: Node) -> tuple[str, ...]:
    """Returns the names of the operands if all are variables, and otherwise nothing."""
    operands = _operands(node)
    names = tuple(each.name for each in operands if isinstance(each, Variable))
    return names if len(names) == len(operands) else ()
