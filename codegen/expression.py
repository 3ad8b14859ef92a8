"""The expression language of the records: Python's syntax, parsed into small frozen nodes.

One grammar serves scalar expressions (elementwise, reductions, ...), list expressions (views) and the expressions of
programs over operators (`codegen.program`). `codegen.checking` checks names and sorts, `codegen.printer` prints nodes
for a target.
"""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, fields
from enum import Enum

from codegen.errors import Location, TextError, shortened
from codegen.intrinsics import BINARY, FUNCTIONS, UNARY, Intrinsic


@dataclass(frozen=True)
class Node:
    """A part of an expression. `at` is its offset in the text of the expression; equality ignores it."""

    at: int = field(default=0, compare=False, repr=False, kw_only=True)

    @property
    def children(self) -> Iterator[Node]:
        """Yields the parts of this node."""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, tuple):
                yield from (v for v in value if isinstance(v, Node))

    def walk(self) -> Iterator[Node]:
        """Yields this node and all of its descendants, outermost first."""
        yield self
        for child in self.children:
            yield from child.walk()


Scalar = bool | int | float | str | None


@dataclass(frozen=True)
class Constant(Node):
    """A literal."""

    value: Scalar


@dataclass(frozen=True)
class Variable(Node):
    """A name: an argument, `index`, `sizes`, a part of `let`, ..."""

    name: str


@dataclass(frozen=True)
class Member(Node):
    """A part of one of the two states that a reduction combines: `a.total`."""

    owner: str
    name: str


@dataclass(frozen=True)
class Unary(Node):
    """A unary operator."""

    operator: str  # - + ~ not
    operand: Node


@dataclass(frozen=True)
class Binary(Node):
    """A binary operator; a chain of comparisons is parsed as their conjunction."""

    operator: str  # + - * / // % ** & | ^ << >> == != < <= > >= and or
    left: Node
    right: Node


@dataclass(frozen=True)
class Conditional(Node):
    """`then if condition else otherwise`."""

    condition: Node
    then: Node
    otherwise: Node


@dataclass(frozen=True)
class Invoke(Node):
    """A call of an intrinsic, a list function or, in a composite, an operator."""

    function: str
    arguments: tuple[Node, ...]
    keywords: tuple[Keyword, ...] = ()


@dataclass(frozen=True)
class Keyword(Node):
    """A keyword argument of a call."""

    name: str
    value: Node


@dataclass(frozen=True)
class Subscript(Node):
    """An item of a list or an element of a tensor: `sizes[dim]`, `index[i]`, `index[...]`."""

    value: Node
    position: Node


@dataclass(frozen=True)
class Ellipsis(Node):
    """`...` in a subscript."""


@dataclass(frozen=True)
class ListOf(Node):
    """A list: `[1, dim]`."""

    members: tuple[Node, ...]


@dataclass(frozen=True)
class Comprehension(Node):
    """A list with an item per item of another list that satisfies a condition: `[value for name in source if test]`."""

    value: Node
    name: str
    source: Node
    condition: Node | None


DEEPEST = 100  # maximum depth of nested operations
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_ORDERS = frozenset({"<", "<=", ">", ">=", "minimum", "maximum", "first_of_max", "first_of_min"})
_COMPARES = _ORDERS | {"==", "!=", "and", "or", "not", "isnan", "given", "lowest", "highest"}
LOGICAL = frozenset({"and", "or"})

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}


class Comparison(Enum):
    """What a value depends on that is found by comparing operands."""

    EQUALITY = "equality"
    ORDER = "order"


def comparison(nodes: Iterable[Node], operands: Collection[str]) -> Comparison | None:
    """Returns what expressions find out about operands if they only compare and select these, or else None."""
    used: set[str] = set()
    for node in nodes:
        for each in node.walk():
            match each:
                case Variable(name=name) if name in operands:
                    pass
                case Member() | Conditional():
                    pass
                case Unary(operator=name) | Binary(operator=name) | Invoke(function=name):
                    used.add(name)
                case _:
                    return None
    if not used <= _COMPARES or not used & (COMPARISONS | _ORDERS):
        return None
    return Comparison.ORDER if used & _ORDERS else Comparison.EQUALITY


@dataclass(frozen=True)
class Expression:
    """A parsed expression, with its text and the location of the text's first character."""

    text: str
    root: Node = field(compare=False, repr=False)
    location: Location = field(compare=False, repr=False)

    def locate(self, node: Node) -> Location:
        """Returns the location of a node."""
        return self.location.shifted(node.at)

    @property
    def names(self) -> frozenset[str]:
        """Returns the names of all variables that are read."""
        return frozenset(node.name for node in self.root.walk() if isinstance(node, Variable))

    @property
    def intrinsics(self) -> Iterator[Intrinsic]:
        """Yields the functions and operators that the expression consists of."""
        for node in self.root.walk():
            match node:
                case Invoke(function=name) if name in FUNCTIONS:
                    yield FUNCTIONS[name]
                case Unary(operator=operator):
                    yield UNARY[operator]
                case Binary(operator=operator):
                    yield BINARY[operator]

    @property
    def functions(self) -> frozenset[str]:
        """Returns the names of all functions that are called."""
        return frozenset(node.function for node in self.root.walk() if isinstance(node, Invoke))

    def only_selects(self, name: str) -> bool:
        """Returns whether the value of a variable is not computed with, but at most selected as the result."""

        def selects(node: Node) -> bool:
            match node:
                case Variable():
                    return True
                case Conditional(condition=condition, then=then, otherwise=otherwise):
                    return not reads(condition) and selects(then) and selects(otherwise)
            return not reads(node)

        def reads(node: Node) -> bool:
            return any(isinstance(each, Variable) and each.name == name for each in node.walk())

        return selects(self.root)


def parse(text: str, location: Location, *, one_line: bool = True) -> Expression:
    """Parses an expression; raises TextError.

    `one_line` says that offsets in the text are offsets in a line of the file; if not, every error is located at the
    start of the text.
    """
    return Expression(text, parse_node(text, exact=one_line), location)


def parse_node(text: str, *, exact: bool = True) -> Node:
    """Parses an expression, without its location; `exact` is as `one_line` of `parse`. Raises TextError."""
    lead = len(text) - len(text.lstrip())
    joined = " ".join(text.split("\n"))[lead:]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # syntax that Python only warns about, such as `1if`, is an error here
            return Converter(joined, lead, exact).node(ast.parse(joined, mode="eval").body)
    except (RecursionError, MemoryError):
        raise TextError("the expression is nested too deeply") from None
    except (SyntaxError, ValueError) as error:
        offset = (getattr(error, "offset", 1) or 1) - 1 + lead if exact else 0
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise TextError(f"cannot parse the expression '{shortened(joined)}': {reason}", offset) from None


Syntax = ast.expr | ast.keyword | ast.stmt


class Converter:
    """Converts Python's syntax tree to nodes; raises TextError for syntax that no node represents.

    `lead` is the offset of `text` in the string that errors refer to. Unless `exact`, all offsets are 0.
    """

    def __init__(self, text: str, lead: int = 0, exact: bool = True) -> None:
        self.lines = [line.encode() for line in text.split("\n")]  # Python's columns count bytes
        self.starts = list(itertools.accumulate((len(line) + 1 for line in text.split("\n")), initial=lead))
        self.exact = exact
        self.depth = 0

    def at(self, tree: Syntax) -> int:
        if not self.exact:
            return 0
        line = tree.lineno - 1
        return self.starts[line] + len(self.lines[line][: tree.col_offset].decode())

    def refuse(self, tree: Syntax, text: str) -> TextError:
        one_line = self.exact and tree.lineno == tree.end_lineno
        covered = self.lines[tree.lineno - 1][tree.col_offset : tree.end_col_offset] if one_line else b" "
        return TextError(text, self.at(tree), len(covered.decode()))

    def nodes(self, trees: list[ast.expr]) -> tuple[Node, ...]:
        return tuple(map(self.node, trees))

    def node(self, tree: ast.expr) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.refuse(tree, "the expression is nested too deeply")
        found = self.converted(tree)
        self.depth -= 1
        return found

    def converted(self, tree: ast.expr) -> Node:
        at = self.at(tree)
        match tree:
            case ast.Constant(value=value) if value is ...:
                return Ellipsis(at=at)
            case ast.Constant(value=None | bool() | int() | float() | str() as value):
                return Constant(self.checked(tree, value), at=at)
            case ast.Name(id=name):
                return Variable(name, at=at)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                return Member(owner, name, at=at)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if not isinstance(
                value, bool
            ):
                return Constant(self.checked(tree, -value), at=at)
            case ast.UnaryOp(op=operator, operand=operand):
                return Unary(_UNARY[type(operator)], self.node(operand), at=at)
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
                return Binary(_BINARY[type(operation)], self.node(left), self.node(right), at=at)
            case ast.BoolOp(op=joint, values=values):
                return self.chain("and" if isinstance(joint, ast.And) else "or", self.nodes(values))
            case ast.Compare():
                return self.comparison(tree)
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                return Conditional(self.node(test), self.node(body), self.node(otherwise), at=at)
            case ast.Call():
                return self.call(tree)
            case ast.Subscript(value=value, slice=position):
                return Subscript(self.node(value), self.node(position), at=at)
            case ast.List(elts=members):
                return ListOf(self.nodes(members), at=at)
            case ast.ListComp(
                elt=value, generators=[ast.comprehension(target=ast.Name(id=name), iter=source, ifs=[] | [_] as tests)]
            ):
                condition = self.node(tests[0]) if tests else None
                return Comprehension(self.node(value), name, self.node(source), condition, at=at)
        raise self.refuse(tree, f"'{shortened(ast.unparse(tree))}' is not supported in a definition")

    def checked(self, tree: ast.expr, value: Scalar) -> Scalar:
        if (isinstance(value, int) and not -(2**63) <= value < 2**63) or value in (float("inf"), -float("inf")):
            raise self.refuse(tree, f"'{shortened(ast.unparse(tree))}' does not fit into 64 bits")
        return value

    def chain(self, operator: str, values: tuple[Node, ...]) -> Node:
        if len(values) > DEEPEST:
            raise TextError("the expression is nested too deeply", values[-1].at)
        joined = values[0]
        for value in values[1:]:
            joined = Binary(operator, joined, value, at=joined.at)
        return joined

    def comparison(self, tree: ast.Compare) -> Node:
        operands = self.nodes([tree.left, *tree.comparators])
        pairs = []
        for operator, left, right in zip(tree.ops, operands, operands[1:], strict=False):
            if type(operator) not in _COMPARE:
                raise self.refuse(tree, f"'{ast.unparse(tree)}' is not supported in a definition")
            pairs.append(Binary(_COMPARE[type(operator)], left, right, at=left.at))
        return self.chain("and", tuple(pairs))

    def call(self, tree: ast.Call) -> Node:
        name = _dotted(tree.func)
        if name is None:
            raise self.refuse(tree, f"'{ast.unparse(tree)}' is not supported in a definition")
        keywords = []
        for keyword in tree.keywords:
            if keyword.arg is None:
                raise self.refuse(keyword, "'**' is not supported in a definition")
            keywords.append(Keyword(keyword.arg, self.node(keyword.value), at=self.at(keyword)))
        return Invoke(name, self.nodes(tree.args), tuple(keywords), at=self.at(tree))


def _dotted(tree: ast.expr) -> str | None:
    if isinstance(tree, ast.Name):
        return tree.id
    if isinstance(tree, ast.Attribute) and (owner := _dotted(tree.value)):
        return f"{owner}.{tree.attr}"
    return None
