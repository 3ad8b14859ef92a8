"""Checks the sorts of expressions within the scope of the names and functions that they may use.

Each kind of operator defines the scopes of its expressions. A check raises TextError for the first part that does not
fit. Targets also query the sorts of parts whose printed form depends on them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from codegen import base_types
from codegen.dtypes import DTypeSet
from codegen.errors import TextError, counted, unknown
from codegen.expression import (
    COMPARISONS,
    LOGICAL,
    Binary,
    Conditional,
    Constant,
    Ellipsis,
    Invoke,
    Member,
    Node,
    Subscript,
    Unary,
    Variable,
)
from codegen.intrinsics import BINARY, SCALAR, UNARY, Intrinsic, Sort
from codegen.model import Op
from codegen.types import Argument

_BITS = frozenset({"&", "|", "^"})

# Operators and functions that a scope refuses, with the reason.
_ALL = {**SCALAR, **BINARY, **UNARY}
FLOATS = {name: "it requires integers: accept integral or bool" for name, each in _ALL.items() if each.needs_integers}
NEED_FLOATS = frozenset(name for name, each in _ALL.items() if each.needs_floats)
FOLDS = {name: "a fold cannot report a division by zero" for name, each in _ALL.items() if each.divides}
POSITIONS = dict.fromkeys(("/", "**"), "positions and sizes are integers")


@dataclass(frozen=True)
class Scope:
    """The names and functions that an expression may use."""

    variables: Mapping[str, Sort]
    functions: Mapping[str, Intrinsic]
    members: Mapping[str, Sort] = field(default_factory=dict)  # the parts of the states a and b
    number: Sort = Sort.VALUE  # the sort of a number literal
    arguments: Collection[str] = ()  # the names that `given` accepts
    refused: Mapping[str, str] = field(default_factory=dict)  # operators and functions that are errors, with the reason

    def sort(self, node: Node) -> Sort:
        """Returns the sort of a part; raises TextError if the part is not valid."""
        match node:
            case Constant(value=value):
                return self._constant(node, value)
            case Variable(name=name):
                if name not in self.variables:
                    raise TextError(unknown("name", name, self.variables), node.at, len(name))
                return self.variables[name]
            case Member():
                return self._member(node)
            case Unary(operator="not", operand=operand):
                self.expect(operand, Sort.TRUTH)
                return Sort.TRUTH
            case Unary(operator=operator, operand=operand):
                found = self._number(operand)
                if found is Sort.VALUE:
                    self._refuse(node, operator)
                return found
            case Binary():
                return self._binary(node)
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                self.expect(condition, Sort.TRUTH)
                return _joined(node, self.sort(then), self.sort(otherwise))
            case Invoke():
                return self._invoke(node)
            case Subscript():
                return self._subscript(node)
        raise TextError("this is not allowed here", node.at)

    def expect(self, node: Node, wanted: Sort) -> None:
        """Raises TextError if a part is not of the sort `wanted` and does not convert to it."""
        if wanted is Sort.NAME:
            if not isinstance(node, Variable) or node.name not in self.arguments:
                raise TextError("expected the name of an argument", node.at)
            return
        found = self.sort(node)
        if found is wanted or (found.is_scalar and wanted in (Sort.VALUE, Sort.TRUTH)):
            return
        if wanted is Sort.INTEGER and isinstance(node, Constant) and isinstance(node.value, int):
            return
        raise TextError(f"expected {wanted.value}, got {found.value}", node.at)

    def _constant(self, node: Node, value: object) -> Sort:
        if isinstance(value, bool):
            return Sort.TRUTH
        if isinstance(value, float) and self.number is Sort.INTEGER:
            raise TextError(f"expected an integer, got {value}", node.at, len(str(value)))
        if isinstance(value, int | float):
            return self.number
        if isinstance(value, str):
            return Sort.TEXT
        raise TextError("None is not allowed here: use given(argument)", node.at, 4)

    def _member(self, node: Member) -> Sort:
        text = f"{node.owner}.{node.name}"
        if node.owner not in ("a", "b") or not self.members:
            raise TextError(f"'{text}' is not defined here", node.at, len(text))
        if node.name not in self.members:
            raise TextError(unknown("state", node.name, self.members), node.at, len(text))
        return self.members[node.name]

    def _refuse(self, node: Node, operator: str) -> None:
        if operator in self.refused:
            raise TextError(f"'{operator}' is not allowed here: {self.refused[operator]}", node.at)

    def _number(self, node: Node) -> Sort:
        found = self.sort(node)
        if not found.is_scalar:
            raise TextError(f"expected a number, got {found.value}", node.at)
        return found

    def _binary(self, node: Binary) -> Sort:
        left, right = self._number(node.left), self._number(node.right)
        if node.operator not in FLOATS or Sort.VALUE in (left, right):
            self._refuse(node, node.operator)
        if node.operator == "/" and Sort.VALUE not in (left, right):
            raise TextError("'/' is not allowed here: both operands are integers or truth values", node.at)
        if node.operator in COMPARISONS | LOGICAL:
            return Sort.TRUTH
        if Sort.VALUE in (left, right):
            return Sort.VALUE
        if left is right is Sort.TRUTH:
            return Sort.TRUTH if node.operator in _BITS else self.number
        return Sort.INTEGER

    def _invoke(self, node: Invoke) -> Sort:
        intrinsic = self.functions.get(node.function)
        if intrinsic is None:
            raise TextError(unknown("function", node.function, self.functions), node.at, len(node.function))
        self._refuse(node, node.function)
        if node.function in self.variables:
            raise TextError(f"'{node.function}' is the name of an argument here", node.at, len(node.function))
        if node.keywords:
            raise TextError(f"{node.function} takes no keyword arguments", node.keywords[0].at)
        if len(node.arguments) != len(intrinsic.parameters):
            takes = counted(len(intrinsic.parameters), "argument")
            raise TextError(f"{node.function} takes {takes}, got {len(node.arguments)}", node.at, len(node.function))
        for argument, parameter in zip(node.arguments, intrinsic.parameters, strict=True):
            self.expect(argument, parameter)
        return intrinsic.result

    def _subscript(self, node: Subscript) -> Sort:
        owner = self.sort(node.value)
        if owner not in (Sort.LIST, Sort.TENSOR):
            raise TextError(f"{owner.value} cannot be indexed", node.at)
        if not (isinstance(node.position, Ellipsis) and owner is Sort.TENSOR):
            self.expect(node.position, Sort.INTEGER)
        return Sort.INTEGER


def _joined(node: Node, then: Sort, otherwise: Sort) -> Sort:
    if then is otherwise:
        return then
    if then.is_scalar and otherwise.is_scalar:
        return Sort.VALUE
    raise TextError(f"the branches differ: {then.value} and {otherwise.value}", node.at)


def operand_sort(op: Op, argument: Argument) -> Sort:
    """Returns the sort of an argument in a scalar expression."""
    if argument.type.is_list:
        return Sort.LIST
    if argument.type.is_tensor:
        accepts = op.dtype.accepts.get(argument.name, op.dtype.accepts.get("", DTypeSet.ANY))
        return Sort.TRUTH if accepts is DTypeSet.BOOL else Sort.VALUE
    return _plain(argument, Sort.VALUE)


def setting_sort(argument: Argument) -> Sort:
    """Returns the sort of an argument in an expression of sizes, strides and positions."""
    if argument.type.is_tensor:
        return Sort.TENSOR
    if argument.type.optional:
        return Sort.OPTIONAL
    if argument.type.is_list:
        return Sort.LIST
    return _plain(argument, Sort.INTEGER)


def _plain(argument: Argument, integer: Sort) -> Sort:
    match argument.type.base.passed:
        case base_types.BOOL:
            return Sort.TRUTH
        case base_types.NUMBER | base_types.FLOAT:
            return Sort.VALUE
        case base_types.INT:
            return integer
    return Sort.TEXT
