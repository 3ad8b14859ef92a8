"""The operator language: programs over tensors, sizes and attributes that call operators.

A program is an expression, or statements in Python's syntax:

    count = size(input, dim)                                  a name for a value
    values, indices = sort(input, dim)                        a name for each result of an operator
    check(n >= 1, InvalidArgument, "n must be at least 1, got {n}")
    if keepdim: ...                                           also elif and else; may replace values, as loops may;
                                                              a name that both branches define keeps its value
    for d in dims: found = flip(found, d)                     statements for each item
    copy_(part, input)                                        a call for what it writes to a tensor; also with `out=`
    return [select(input, dim, i) for i in range(count)]      one value per result, or a list of tensors

`parse` checks the syntax. `codegen.resolve` determines the types and the records that are called; the nodes and fields
that only a resolved program has say so.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codegen.errors import ERRORS, Location, TextError, shortened, unknown
from codegen.expression import (
    Comprehension,
    Converter,
    Invoke,
    ListOf,
    Node,
    Variable,
    parse_node,
)
from codegen.types import Type

# ------------------------------------------------------------------------------------------------ statements


@dataclass(frozen=True)
class Assign:
    """Names for the results of a call, or for another value; in a loop or an `if`, also another value for a name."""

    names: tuple[str, ...]
    value: Node
    types: tuple[Type, ...] = ()  # those of the names; set by `resolve`
    replaces: bool = False  # whether the names are declared already; set by `resolve`


@dataclass(frozen=True)
class Check:
    """An error unless a condition holds. `pieces` alternates text and values that the error text contains."""

    condition: Node
    error: str  # one of ERRORS
    pieces: tuple[str | Node, ...]


@dataclass(frozen=True)
class If:
    """Statements under a condition, and statements for the other case, which may be empty."""

    condition: Node
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    # The names that both branches define for the statements after them, with their types; set by `resolve`. They follow
    # from the statements, so that they are not part of what identifies kernels.
    defines: tuple[tuple[str, Type], ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class For:
    """Statements for each item of a list, which has a name in them."""

    name: str
    source: Node
    body: tuple[Statement, ...]
    item: Type | None = None  # the type of the items; set by `resolve`


@dataclass(frozen=True)
class Return:
    """The end of the program with its results."""

    values: tuple[Node, ...]


@dataclass(frozen=True)
class Write:
    """A call for what it writes to a tensor."""

    call: Node  # an Invoke; once it is resolved, a call of an operator


Statement = Assign | Check | If | For | Write | Return


@dataclass(frozen=True)
class Present(Variable):
    """A resolved read of an optional argument where it is not null; `type` is its type there."""

    type: Type


@dataclass(frozen=True)
class TensorListOf(ListOf):
    """A resolved list of tensors."""


@dataclass(frozen=True)
class ResolvedComprehension(Comprehension):
    """A resolved list with one item per item of another list, which have the type `item`."""

    item: Type
    makes_tensors: bool


@dataclass(frozen=True)
class Program:
    """A program, with its text and the location of the text's first character."""

    text: str
    statements: tuple[Statement, ...] = field(compare=False, repr=False)
    location: Location = field(compare=False, repr=False)
    indent: int = field(default=0, compare=False, repr=False)  # the columns before the lines after the first one

    def locate(self, offset: int) -> Location:
        """Returns the location of an offset in the text."""
        return self.location.moved(self.text, offset, self.indent)

    def roots(self) -> Iterator[Node]:
        """Yields the expressions of all statements."""
        for statement in _walk(self.statements):
            yield from _roots(statement)

    def nodes(self) -> Iterator[Node]:
        """Yields all nodes of all statements."""
        for root in self.roots():
            yield from root.walk()

    @property
    def results(self) -> Iterator[tuple[Node, ...]]:
        """Yields the values of each return."""
        yield from (each.values for each in _walk(self.statements) if isinstance(each, Return))

    @property
    def names(self) -> frozenset[str]:
        """Returns the names of all variables that are read."""
        return names_in(self.statements)

    @property
    def assigned(self) -> tuple[str, ...]:
        """Returns the names that the program defines, in their order."""
        names = [n for each in _walk(self.statements) if isinstance(each, Assign) for n in each.names]
        names += [each.name for each in _walk(self.statements) if isinstance(each, For)]
        names += [node.name for node in self.nodes() if isinstance(node, Comprehension)]
        return tuple(dict.fromkeys(names))

    @property
    def replaced(self) -> frozenset[str]:
        """Returns the names that a resolved program gives values after their declaration."""
        assigned = (each for each in _walk(self.statements) if isinstance(each, Assign) and each.replaces)
        return frozenset(name for each in assigned for name in each.names)

    @property
    def lines(self) -> list[str]:
        """Returns the lines of the program, without the indentation that all share."""
        return self.text.strip("\n").split("\n")


def names_in(statements: Sequence[Statement]) -> frozenset[str]:
    """Returns the names of all variables that statements read."""
    roots = (root for statement in _walk(statements) for root in _roots(statement))
    return frozenset(node.name for root in roots for node in root.walk() if isinstance(node, Variable))


def _walk(statements: Sequence[Statement]) -> Iterator[Statement]:
    for statement in statements:
        yield statement
        if isinstance(statement, If):
            yield from _walk(statement.then)
            yield from _walk(statement.otherwise)
        elif isinstance(statement, For):
            yield from _walk(statement.body)


def _roots(statement: Statement) -> Iterator[Node]:
    match statement:
        case Assign():
            yield statement.value
        case Check():
            yield statement.condition
            yield from (piece for piece in statement.pieces if not isinstance(piece, str))
        case If():
            yield statement.condition
        case For():
            yield statement.source
        case Write():
            yield statement.call
        case Return():
            yield from statement.values


# ------------------------------------------------------------------------------------------------ parsing


def parse(text: str, location: Location, indent: int = 0, *, exact: bool = True) -> Program:
    """Parses a program; raises TextError. `exact` says that offsets in the text can be located in the file."""
    lead = len(text) - len(text.lstrip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(text[lead:])
    except (RecursionError, MemoryError):
        raise TextError("the program is nested too deeply") from None
    except (SyntaxError, ValueError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise TextError(f"cannot parse the program '{shortened(text)}': {reason}") from None
    converter = Converter(text[lead:], lead, exact)
    match tree.body:
        case []:
            raise TextError("expected a program, got nothing")
        case [ast.Expr(value=value)] if not _is_check(value):
            statements: tuple[Statement, ...] = (Return((converter.node(value),)),)
        case body:
            statements = tuple(_statement(each, converter) for each in body)
            if not _returns(statements):
                raise TextError("the program does not end in a return", converter.at(body[-1]))
    return Program(text, statements, location, indent)


def _has_out(keywords: list[ast.keyword]) -> bool:
    return any(keyword.arg == "out" for keyword in keywords)


def _is_check(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "check"


def _statement(tree: ast.stmt, converter: Converter) -> Statement:
    match tree:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return Assign((name,), converter.node(value))
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
            names = tuple(each.id for each in targets if isinstance(each, ast.Name))
            if len(names) == len(targets):
                return Assign(names, converter.node(value))
        case ast.Expr(value=ast.Call() as call) if _is_check(call):
            return _check(call, converter)
        case ast.Expr(value=ast.Call(keywords=keywords) as call):
            written = converter.node(call)
            if isinstance(written, Invoke) and (written.function.endswith("_") or _has_out(keywords)):
                return Write(written)
        case ast.If(test=test, body=body, orelse=otherwise):
            then, other = ([_statement(each, converter) for each in block] for block in (body, otherwise))
            return If(converter.node(test), tuple(then), tuple(other))
        case ast.For(target=ast.Name(id=name), iter=source, body=body, orelse=[]):
            statements = tuple(_statement(each, converter) for each in body)
            if any(isinstance(each, Return) for each in _walk(statements)):
                raise TextError("a loop cannot return", converter.at(tree))
            return For(name, converter.node(source), statements)
        case ast.Return(value=ast.Tuple(elts=values)):
            return Return(converter.nodes(values))
        case ast.Return(value=ast.expr() as value):
            return Return((converter.node(value),))
    raise converter.refuse(tree, f"'{shortened(ast.unparse(tree))}' is not a statement of a program")


def _check(call: ast.Call, converter: Converter) -> Check:
    match call.args:
        case [condition, ast.Name(id=error) as name, ast.Constant(value=str() as text) as words] if not call.keywords:
            if error not in ERRORS:
                raise TextError(unknown("error class", error, ERRORS), converter.at(name), len(error))
            pieces = re.split(r"\{([^{}]*)\}", text)
            try:
                parsed = [parse_node(each, exact=False) if i % 2 else each for i, each in enumerate(pieces)]
            except TextError as wrong:
                raise converter.refuse(words, wrong.text) from None
            return Check(converter.node(condition), error, tuple(piece for piece in parsed if piece != ""))
    raise converter.refuse(call, 'expected check(condition, an error class, "a text")')


def _returns(statements: Sequence[Statement]) -> bool:
    """Returns whether every way through the statements ends in a return."""
    last = statements[-1] if statements else None
    return isinstance(last, Return) or (isinstance(last, If) and _returns(last.then) and _returns(last.otherwise))
