"""The examples of classes: programs in Python's syntax, which each language writes in its own.

A line is `name = value`, `value == literal`, which a test checks, or a call. Values are literals, variables, functions
of one expression, arithmetic, and calls of operators, constructors, functions, methods and properties.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.errors import TextError
from codegen.names import snake
from codegen.objects.model import Member, Objects
from codegen.objects.table import ClassWords
from codegen.words import Words

_OPERATORS = {ast.Add: ("+", "add"), ast.Sub: ("-", "sub"), ast.Mult: ("*", "mul"), ast.Div: ("/", "div")}


@dataclass(frozen=True)
class Line:
    """A line of a program; with the literal of its value, if a test checks that."""

    text: str
    gives: str = ""


class Examples(ABC):
    """Writes examples in a language."""

    comment = "#"
    has_new = False  # whether a keyword creates objects

    def __init__(self, objects: Objects, names: ClassWords, words: Words, public: Mapping[str, str]) -> None:
        self.objects = objects
        self.names = names
        self.words = words
        self.public = {"tensor": "tensor", **public}  # the public names of operators
        self._variables: dict[str, str] = {}  # the classes of their values
        self._functions = {each.full_name: each for each in objects.functions}

    def program(self, program: str) -> str:
        """Returns an example as a manual shows it, with the values of lines in comments."""
        found = self.lines(program)
        return "\n".join(f"{each.text}  {self.comment} {each.gives}" if each.gives else each.text for each in found)

    def all_lines(self) -> Iterator[tuple[str, list[Line]]]:
        """Yields the lines of all examples, each with a name for its test."""
        for each in self.objects.classes:
            for number, (program, _) in enumerate(each.examples, 1):
                yield f"{snake(each.name)}_{number}", list(self.lines(program))

    def lines(self, program: str) -> Iterator[Line]:
        """Yields the lines of a program. Raises TextError for one that has another form."""
        self._variables = {}
        for statement in ast.parse(program).body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    text = self._value(value)
                    self._variables[name] = self._class_of(value)
                    yield Line(self.assignment(self.names.case(name), text))
                case ast.Expr(value=ast.Compare(left=value, ops=[ast.Eq()], comparators=[expected])):
                    yield Line(self._value(value), self._value(expected))
                case ast.Expr(value=value):
                    yield Line(self.statement(self._value(value)))
                case _:
                    raise TextError(f"'{ast.unparse(statement)}' is not a line of an example")

    @abstractmethod
    def assignment(self, name: str, value: str) -> str:
        """Returns the definition of a variable."""

    def statement(self, text: str) -> str:
        """Returns an expression as a line."""
        return text

    @abstractmethod
    def lambda_(self, parameters: Sequence[str], body: str) -> str:
        """Returns a function of one expression."""

    @abstractmethod
    def arguments(self, positional: Sequence[str], named: Mapping[str, str]) -> str:
        """Returns the arguments of a call, with brackets."""

    @abstractmethod
    def map_(self, items: Mapping[str, str]) -> str:
        """Returns a map."""

    def infix(self, left: str, operator: tuple[str, str], right: str) -> str:
        """Returns an expression with an operator, its sign and its name."""
        return f"{left} {operator[0]} {right}"

    def _value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=value):
                return self.words.literal(value)  # type: ignore[arg-type]
            case ast.Name(id=name) if name in self._variables:
                return self.names.case(name)
            case ast.List(elts=items):
                plain = [each.value if isinstance(each, ast.Constant) else None for each in items]
                return self.words.items(plain, list(map(self._value, items)))  # type: ignore[arg-type]
            case ast.Dict(keys=keys, values=values):
                texts = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
                return self.map_(dict(zip(texts, map(self._value, values), strict=True)))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self.infix(self._value(left), _OPERATORS[type(op)], self._value(right))
            case ast.Lambda(args=ast.arguments(args=parameters), body=body):
                names = [each.arg for each in parameters]
                self._variables |= dict.fromkeys(names, "Tensor")
                return self.lambda_(names, self._value(body))
            case ast.Attribute(value=owner, attr=name):
                member = self._member(owner, name)
                return f"{self._value(owner)}.{self.names.public_name(member) if member else self.names.case(name)}"
            case ast.Call(func=function, args=args, keywords=keywords):
                named = {each.arg: each.value for each in keywords if each.arg}
                return self._call(function, args, named)
        raise TextError(f"'{ast.unparse(node)}' is not a value of an example")

    def _call(self, function: ast.expr, args: list[ast.expr], named: Mapping[str, ast.expr]) -> str:
        member = self._function(function)
        block = ""
        if member and member.block and self.names.has_blocks:
            position = [each.name for each in member.parameters].index(member.block)
            block = self.block(self._value(args[position]))
            args = args[:position] + args[position + 1 :]
        values = [self._value(each) for each in args]
        names = {key: self._value(each) for key, each in named.items()}
        if member is None and isinstance(function, ast.Name):
            if function.id not in self.public:
                raise TextError(f"'{function.id}' is neither a function nor an operator")
            return self.words.invocation(self.public[function.id], values, names)
        if member:
            names = {self.names.parameter_name(member, key): text for key, text in names.items()}
        if isinstance(function, ast.Attribute) and (member is None or member.has_receiver):
            name = self.names.public_name(member) if member else self.public.get(function.attr, function.attr)
            return self.method(self._value(function.value), name, self.arguments(values, names)) + block
        assert member
        path = self.names.path(member)
        return f"{'new ' * (member.is_create and self.has_new)}{path}{self.arguments(values, names)}{block}"

    def method(self, receiver: str, name: str, arguments: str) -> str:
        """Returns a call of a method."""
        return f"{receiver}.{name}{arguments}"

    def block(self, function: str) -> str:
        """Returns a function as the block of a call."""
        return function

    def _member(self, owner: ast.expr, name: str) -> Member | None:
        found = self.objects.classes_by_name.get(self._class_of(owner))
        return next((each for each in found.methods if each.name == name), None) if found else None

    def _function(self, node: ast.expr) -> Member | None:
        """Returns the constructor, function or method that is called; None for one of operators."""
        match node:
            case ast.Name(id=name) if name in self.objects.classes_by_name:
                return self.objects.classes_by_name[name].create
            case ast.Attribute(value=ast.Name(id=space), attr=name) if space not in self._variables:
                return self._functions.get(f"{space}.{name}")
            case ast.Attribute(value=owner, attr=name):
                return self._member(owner, name)
            case ast.Name(id=name):
                return self._functions.get(name)
        return None

    def _class_of(self, node: ast.expr) -> str:
        """Returns the class of a value."""
        match node:
            case ast.Name(id=name):
                return self._variables.get(name, "")
            case ast.Call(func=function):
                member = self._function(function)
                return member.owner if member and member.is_create else member.result.word if member else "Tensor"
            case ast.Attribute(value=owner, attr=name):
                member = self._member(owner, name)
                return member.result.word if member else ""
        return ""
