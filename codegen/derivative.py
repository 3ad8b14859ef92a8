"""Symbolic derivatives of scalar expressions, by the chain rule over the table of `codegen.intrinsics`."""

from __future__ import annotations

import operator as operator_functions
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from codegen.expression import (
    Binary,
    Conditional,
    Constant,
    Invoke,
    Node,
    Unary,
    Variable,
    parse_node,
)
from codegen.intrinsics import BINARY, FUNCTIONS, UNARY, Intrinsic, Sort

ZERO, ONE = Constant(0), Constant(1)


class UnknownDerivative(Exception):
    """What is computed has no derivative that is known; the text says why."""


def derivative(root: Node, name: str, result: str | None = None) -> Node:
    """Returns the derivative of an expression with respect to a variable; raises UnknownDerivative.

    The conditions of conditionals count as constant. `result` is the name of the value of the expression, if the
    derivative may read it. Example: that of `exp(2 * input)` is `2 * result`.
    """
    found = _derivative(root, name, (root, Variable(result)) if result else (root, root))
    return _replaced(found, root, Variable(result)) if result and not isinstance(root, Constant | Variable) else found


def _derivative(root: Node, name: str, known: tuple[Node, Node]) -> Node:
    """Returns the derivative; `known` is an expression, with what it is written as."""
    match root:
        case Variable(name=found):
            return ONE if found == name else ZERO
        case Constant():
            return ZERO
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return chosen(condition, _derivative(then, name, known), _derivative(otherwise, name, known))
        case Unary(operator=operator, operand=operand):
            return _chained(root, operator, UNARY[operator], (operand,), name, known)
        case Binary(operator=operator, left=left, right=right):
            return _chained(root, operator, BINARY[operator], (left, right), name, known)
        case Invoke(function=function, arguments=arguments):
            return _chained(root, function, FUNCTIONS[function], arguments, name, known)
    raise UnknownDerivative("an expression of this form has no derivative")


def _chained(
    root: Node, called: str, intrinsic: Intrinsic, operands: tuple[Node, ...], name: str, known: tuple[Node, Node]
) -> Node:
    """Returns the sum over the operands of the derivative for the operand times that of the operand itself."""
    if intrinsic.result is Sort.TRUTH:
        return ZERO
    total: Node = ZERO
    for position, operand in enumerate(operands):
        inner = _derivative(operand, name, known)
        if inner == ZERO:
            continue
        if not intrinsic.derivative or not intrinsic.derivative[position]:
            raise UnknownDerivative(f"the derivative of '{called}' is not known")
        values = dict(zip("xy", operands, strict=False), f=known[1] if root is known[0] else root)
        outer = simplified(substituted(parse_node(intrinsic.derivative[position]), values))
        total = added(total, multiplied(inner, outer))
    return total


def substituted(root: Node, values: dict[str, Node]) -> Node:
    """Returns an expression with expressions in place of variables."""
    return rewritten(root, lambda node: values.get(node.name, node) if isinstance(node, Variable) else node)


def _replaced(node: Node, part: Node, other: Node) -> Node:
    return other if node == part else _with_children(node, lambda child: _replaced(child, part, other))


def rewritten(node: Node, change: Callable[[Node], Node]) -> Node:
    """Returns an expression with `change` applied to each part, innermost first."""
    return change(_with_children(node, lambda child: rewritten(child, change)))


def _with_children(node: Node, change: Callable[[Node], Node]) -> Node:
    new: dict[str, Node | tuple[Node, ...]] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            new[field.name] = change(value)
        elif isinstance(value, tuple) and any(isinstance(each, Node) for each in value):
            new[field.name] = tuple(change(each) for each in value)
    return replace(node, **new) if new else node  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ simplification


_FOLDED: Mapping[str, Callable[[Any, Any], bool | int | float]] = {
    "+": operator_functions.add, "-": operator_functions.sub, "*": operator_functions.mul,
    "==": operator_functions.eq, "!=": operator_functions.ne, "<": operator_functions.lt,
    "<=": operator_functions.le, ">": operator_functions.gt, ">=": operator_functions.ge,
}  # fmt: skip


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def simplified(node: Node) -> Node:
    """Returns an expression without operations on 0 and 1 that do nothing, and on two numbers."""
    return rewritten(node, _simplified_once)


def _simplified_once(node: Node) -> Node:
    match node:
        case Binary(operator=operator, left=Constant(value=a), right=Constant(value=b)) if (
            operator in _FOLDED and _is_number(a) and _is_number(b)
        ):
            return Constant(_FOLDED[operator](a, b))
        case Unary(operator="-", operand=operand):
            return negated(operand)
        case Unary(operator="+", operand=operand):
            return operand
        case Binary(operator="+", left=left, right=right):
            return added(left, right)
        case Binary(operator="-", left=left, right=right):
            return left if right == ZERO else negated(right) if left == ZERO else node
        case Binary(operator="*", left=left, right=right):
            return multiplied(left, right)
        case Binary(operator="/", left=left, right=right) if left == ZERO or right == ONE:
            return left
        case Binary(operator="**", left=left, right=right) if right == ONE:
            return left
        case Invoke(function="pow", arguments=(base, exponent)) if exponent == ONE:
            return base
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return chosen(condition, then, otherwise)
    return node


def added(left: Node, right: Node) -> Node:
    """Returns a sum."""
    if left == ZERO:
        return right
    if right == ZERO:
        return left
    if isinstance(right, Unary) and right.operator == "-":
        return Binary("-", left, right.operand)
    if left == right:
        return multiplied(Constant(2), left)
    return Binary("+", left, right)


def multiplied(left: Node, right: Node) -> Node:
    """Returns a product, with a sign or a number in front."""
    if ZERO in (left, right):
        return ZERO
    if left == ONE:
        return right
    if right == ONE:
        return left
    match left, right:
        case Constant(value=int() | float() as a), Constant(value=int() | float() as b):
            return Constant(a * b)
        case Unary(operator="-", operand=operand), _:
            return negated(multiplied(operand, right))
        case _, Unary(operator="-", operand=operand):
            return negated(multiplied(left, operand))
        case _, Constant():
            return multiplied(right, left)
        case Constant(value=value), _ if value == -1:
            return negated(right)
        case Constant(), Binary(operator="*", left=Constant() as number, right=rest):
            return multiplied(multiplied(left, number), rest)
        case _, Binary(operator="*", left=Constant() as number, right=rest):
            return multiplied(number, multiplied(left, rest))
        case _, Binary(operator="/", left=over, right=under) if over == ONE:
            return Binary("/", left, under)
        case _, Conditional(then=then, otherwise=otherwise):  # so that infinity times 0 is 0 where nothing is selected
            return chosen(right.condition, multiplied(left, then), multiplied(left, otherwise))
        case Conditional(), _:
            return multiplied(right, left)
    return Binary("*", left, right)


def negated(node: Node) -> Node:
    """Returns an expression with the opposite sign."""
    match node:
        case Constant(value=int() | float() as value):
            return Constant(-value)
        case Unary(operator="-", operand=operand):
            return operand
        case Binary(operator="*" | "/", left=Constant() as number, right=rest):
            return replace(node, left=negated(number), right=rest)
    return Unary("-", node)


def chosen(condition: Node, then: Node, otherwise: Node) -> Node:
    """Returns a conditional, or a value alone if both are equal."""
    if then == otherwise:
        return then
    if condition == Constant(True):
        return then
    if condition == Constant(False):
        return otherwise
    return Conditional(condition, then, otherwise)
