"""Prints scalar expressions as programs over the operators that compute the same, elementwise, on tensors.

Which operator computes a function is not listed: it is the record whose expression is this function of its arguments.
Example: `add` has the expression `input + other`, so `a + exp(b)` becomes `add(a, exp(b))`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from codegen.errors import TextError
from codegen.expression import Binary, Conditional, Constant, Invoke, Node, Unary, Variable
from codegen.intrinsics import BINARY, FUNCTIONS, UNARY, Sort


@dataclass(frozen=True)
class OperatorTable:
    """The names of the operators that compute a function each, by `what_computes`."""

    names: Mapping[str, str]

    def print(self, node: Node, truths: Collection[str] = ()) -> str:
        """Returns an expression as a program; raises TextError for a function that no operator computes.

        `truths` are the variables that are truth values.
        """
        match node:
            case Constant(value=value):
                return repr(value)
            case Variable(name=name):
                return name
        node = _without_logic(node, truths)
        called = self.names.get(what_computes(node))
        if called is None:
            raise TextError(f"no operator computes '{what_computes(node)}'", node.at)
        return f"{called}({', '.join(self.print(each, truths) for each in _operands(node, truths))})"


def _operands(node: Node, truths: Collection[str]) -> Iterator[Node]:
    """Yields the operands of a node; truth values that it computes with are numbers, as they are in expressions.

    Operators on tensors keep them bool, and refuse some. A product with a number needs no other number.
    """
    operands = tuple(node.children)
    are_truths = [_is_truth(each, truths) for each in operands]
    is_product = isinstance(node, Binary) and node.operator == "*" and not all(are_truths)
    wants_numbers = _computes(node) and not is_product
    for operand, is_truth in zip(operands, are_truths, strict=True):
        yield Conditional(operand, Constant(1.0), Constant(0.0)) if wants_numbers and is_truth else operand


def _without_logic(node: Node, truths: Collection[str]) -> Node:
    """Returns what is equal to a node with `and`, `or` or `not`, which operators on tensors have for bits only.

    Variables are compared with 0: kernels that compute the program at once read them as numbers.
    """

    def truth(operand: Node) -> Node:
        return operand if _is_truth(operand, ()) else Binary("!=", operand, Constant(0))

    match node:
        case Unary(operator="not", operand=operand):
            return Binary("==", operand, Constant(0))
        case Binary(operator="and" | "or" as operator, left=left, right=right):
            return Binary("&" if operator == "and" else "|", truth(left), truth(right))
        case Binary(operator="&" | "|" | "^" as operator, left=left, right=right) if _is_truth(node, truths):
            return Binary(operator, truth(left), truth(right))
    return node


def _computes(node: Node) -> bool:
    """Returns whether a node computes a number of numbers."""
    match node:
        case Unary(operator=operator):
            return UNARY[operator].result is Sort.VALUE
        case Binary(operator=operator):
            return BINARY[operator].result is Sort.VALUE and operator not in ("&", "|", "^")
        case Invoke(function=function):
            return function in FUNCTIONS and FUNCTIONS[function].result is Sort.VALUE
    return False


def _is_truth(node: Node, truths: Collection[str]) -> bool:
    """Returns whether the value of a node is a truth value."""
    match node:
        case Variable(name=name):
            return name in truths
        case Unary(operator=operator):
            return UNARY[operator].result is Sort.TRUTH
        case Binary(operator=operator, left=left, right=right):
            return BINARY[operator].result is Sort.TRUTH or (
                operator in ("&", "|", "^") and _is_truth(left, truths) and _is_truth(right, truths)
            )
        case Invoke(function=function):
            return function in FUNCTIONS and FUNCTIONS[function].result is Sort.TRUTH
    return False


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
