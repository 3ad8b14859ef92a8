"""Parses the calls in examples, error cases and cases, which are in Python's syntax.

A nested list is a tensor if the signature says Tensor, and a list otherwise. A public name selects the first overload
whose signature accepts the arguments, as in the front ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from codegen import base_types
from codegen import signature as signatures
from codegen.dtypes import DTYPES
from codegen.errors import TextError, counted, unknown
from codegen.examples import Call, CallValue, Name, TensorLiteral
from codegen.expression import Constant, Invoke, ListOf, Node, Unary, Variable, parse_node
from codegen.model import Op
from codegen.types import Argument, Literal, Type

_NUMBERS = {"inf": float("inf"), "nan": float("nan")}


class CallParser:
    """Parses calls of the functions in a mapping of public names to overloads, in the order in which they are tried."""

    def __init__(self, functions: Mapping[str, Sequence[Op]], space: str = "") -> None:
        self.functions = functions
        self.space = space  # the namespace of a library of operators, whose functions also have names without it

    def parse(self, text: str, own: Op, *, strict: bool, exact: bool = True) -> Call:
        """Parses a call that belongs to the record `own`; raises TextError.

        A strict call must match a signature. Others, in error cases, are calls of `own` whatever their arguments are.
        """
        node = parse_node(text, exact=exact)
        if not isinstance(node, Invoke):
            raise TextError("expected a call of an operator", node.at, len(text))
        if node.function not in self.functions:
            raise TextError(unknown("operator", node.function, self.functions), node.at, len(node.function))
        if not strict and own in self.functions[node.function]:
            return self._convert(node, own)
        return self._call(node)

    def _call(self, node: Invoke) -> Call:
        overloads = self.functions.get(node.function)
        if overloads is None:
            raise TextError(unknown("operator", node.function, self.functions), node.at, len(node.function))
        failures = []
        for op in overloads:
            try:
                self._check(node, op)
            except TextError as error:
                failures.append(error)
            else:
                return self._convert(node, op)
        raise max(failures, key=lambda error: error.offset)

    def _check(self, node: Invoke, op: Op) -> None:
        """Raises TextError if the arguments do not match the signature."""
        given = set()
        for argument, name, value in _bind(node, op):
            if argument is None:
                known = [a.name for a in op.signature.arguments]
                if name is None:
                    limit = sum(not a.keyword_only for a in op.signature.arguments)
                    raise TextError(f"{op.name} takes at most {counted(limit, 'positional argument')}", value.at)
                raise TextError(f"{op.name}: {unknown('argument', name, known)}", value.at)
            if argument.name in given:
                raise TextError(f"{op.name}: argument {argument.name} given twice", value.at)
            given.add(argument.name)
            if not self._fits(value, argument.type):
                raise TextError(f"{op.name}: {argument.name} must be {argument.type}", value.at)
        for argument in op.signature.arguments:
            if not argument.has_default and argument.name not in given:
                raise TextError(f"{op.name}: missing argument {argument.name}", node.at, len(node.function))

    def _fits(self, value: Node, type_: Type) -> bool:
        match value:
            case Invoke(function=function):
                return type_.is_tensor and not type_.is_list and self._gives_one(function)
            case ListOf(members=members) if type_.is_list:
                member = type_.item
                return all(self._fits(m, member) for m in members)
            case ListOf(members=members) if type_.is_nested:
                has_length = len(members) == 2 or type_.base is not base_types.PAIR
                return has_length and all(self._fits(m, Type(base_types.INT)) for m in members)
            case ListOf():
                return type_.is_tensor
            case Variable(name=name) | Unary(operand=Variable(name=name)):
                if name in _NUMBERS:
                    return type_.base.holds(1.0)
                return type_.base.is_bare
            case Constant(value=literal):
                single = Type(type_.base) if type_.is_list and type_.is_integer else type_
                return signatures.fits(literal, type_) or (literal is not None and signatures.fits(literal, single))
        return False

    def _gives_one(self, function: str) -> bool:
        """Returns whether every overload of a function returns one tensor."""
        signatures = [op.signature for op in self.functions.get(function, ())]
        return all(len(each.results) == 1 and not each.gives_list for each in signatures)

    def _convert(self, node: Invoke, op: Op) -> Call:
        positional: list[CallValue] = []
        keywords: list[tuple[str, CallValue]] = []
        for argument, name, value in _bind(node, op):
            converted = self._value(value, argument.type if argument else None)
            if name is None:
                positional.append(converted)
            else:
                keywords.append((name, converted))
        name = f"{self.space}.{node.function}" if self.space else node.function
        function = name if name in self.functions else node.function
        return Call(function, tuple(positional), tuple(keywords), op.full_name)

    def _value(self, node: Node, type_: Type | None) -> CallValue:
        match node:
            case Invoke(function="tensor"):
                return _tensor(node)
            case Invoke():
                return self._call(node)
            case ListOf(members=members) if type_ and type_.is_list:
                member = type_.item
                return tuple(self._value(m, member) for m in members)
            case ListOf() if type_ and type_.is_tensor:
                return TensorLiteral(_elements(node))
            case ListOf(members=members):
                return tuple(self._value(m, None) for m in members)
            case Variable(name=name) if name not in _NUMBERS:
                return Name(name)
            case _:
                return literal(node)


def _bind(node: Invoke, op: Op) -> Iterator[tuple[Argument | None, str | None, Node]]:
    """Yields each value with its argument and its keyword; the argument is None if the signature has no such one."""
    positional = [a for a in op.signature.arguments if not a.keyword_only]
    for index, value in enumerate(node.arguments):
        yield (positional[index] if index < len(positional) else None), None, value
    for keyword in node.keywords:
        yield op.signature.argument(keyword.name), keyword.name, keyword.value


def _tensor(node: Invoke) -> TensorLiteral:
    """Parses `tensor([1, 2], dtype=int32)`."""
    dtype = None
    for keyword in node.keywords:
        if keyword.name != "dtype" or not isinstance(keyword.value, Variable):
            raise TextError("tensor takes values and dtype=<a dtype>", keyword.at, len(keyword.name))
        dtype = keyword.value.name
        if dtype not in DTYPES:
            raise TextError(unknown("dtype", dtype, DTYPES), keyword.value.at, len(dtype))
    if len(node.arguments) != 1:
        raise TextError("tensor takes values and dtype=<a dtype>", node.at, len(node.function))
    return TensorLiteral(_elements(node.arguments[0]), dtype)


def _elements(node: Node) -> Literal:
    """Returns the elements of a tensor: numbers and booleans, nested in lists."""
    if isinstance(node, ListOf):
        return tuple(map(_elements, node.members))
    value = literal(node)
    if not isinstance(value, bool | int | float):
        raise TextError("expected numbers or booleans as the elements of a tensor", node.at)
    return value


def literal(node: Node) -> Literal:
    """Returns the value of a literal; raises TextError for anything else."""
    match node:
        case Constant(value=value):
            return value
        case ListOf(members=members):
            return tuple(map(literal, members))
        case Variable(name=name) if name in _NUMBERS:
            return _NUMBERS[name]
        case Unary(operator="-", operand=Variable(name=name)) if name in _NUMBERS:
            return -_NUMBERS[name]
    raise TextError("expected a number, a string, a list or a call", node.at)
