"""Reads definition files as fields that know their locations.

`Field` wraps one YAML node. Reading it as the wrong type raises `Bad`. `Report.collecting()` catches it and adds it to
the problems of the run, so that reading continues with the next field.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

import yaml

from codegen import expression, program
from codegen.errors import Location, Problem, TextError, unknown
from codegen.expression import Expression
from codegen.program import Program
from codegen.types import Literal

T = TypeVar("T")
D = TypeVar("D")
C = TypeVar("C", bound=Enum)

_WORDS: Mapping[str, Literal] = {
    "": None, "~": None, "null": None, "true": True, "false": False, "True": True, "False": False,
    ".inf": math.inf, "-.inf": -math.inf, ".nan": math.nan,
}  # fmt: skip
_DEEPEST = 100  # maximum depth of nested nodes

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Bad(Exception):
    """An error at a known location."""

    def __init__(self, location: Location, text: str, length: int = 1) -> None:
        super().__init__(text)
        self.problem = Problem(location, text, length)


@dataclass
class Report:
    """All problems of a run."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, location: Location, text: str, length: int = 1) -> None:
        """Adds a problem that covers `length` characters."""
        self.problems.append(Problem(location, text, length))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Returns a context that catches a `Bad` and adds it to the problems."""
        try:
            yield
        except Bad as bad:
            self.problems.append(bad.problem)


@dataclass(frozen=True)
class Text:
    """A string with the location of its first character."""

    value: str
    location: Location
    one_line: bool  # whether offsets in the string are offsets in a line of the file
    indent: int | None = None  # the columns before each line of a literal block; None: it is no such block

    def bad(self, error: TextError) -> Bad:
        """Returns an error in the string as an error at a location of the file."""
        if not self.one_line and self.indent is None:
            return Bad(self.location, error.text)
        return Bad(self.location.moved(self.value, error.offset, self.indent or 0), error.text, error.length)

    @property
    def expression(self) -> Expression:
        """Parses the string as an expression. Raises Bad."""
        if not self.value.strip():
            raise Bad(self.location, "expected an expression, got nothing")
        try:
            return expression.parse(self.value, self.location, one_line=self.one_line)
        except TextError as error:
            raise self.bad(error) from None

    @property
    def program(self) -> Program:
        """Parses the string as a program. Raises Bad."""
        if not self.value.strip():
            raise Bad(self.location, "expected a program, got nothing")
        is_exact = self.one_line or self.indent is not None
        try:
            return program.parse(self.value, self.location, self.indent or 0, exact=is_exact)
        except TextError as error:
            raise self.bad(error) from None


@dataclass(frozen=True)
class Field:
    """One YAML node. The properties that read its value raise Bad if the node is of another type."""

    node: yaml.Node
    file: str
    report: Report
    lines: Sequence[str] = field(repr=False)  # of the file

    @property
    def location(self) -> Location:
        mark = self.node.start_mark
        return Location(self.file, mark.line + 1, mark.column + 1)

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_sequence(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    def bad(self, text: str) -> Bad:
        """Returns an error that covers the node."""
        one_line = self.node.start_mark.line == self.node.end_mark.line
        length = self.node.end_mark.column - self.node.start_mark.column if one_line else 1
        return Bad(self.location, text, max(length, 1))

    @property
    def text(self) -> Text:
        node = self.node
        if not isinstance(node, yaml.ScalarNode):
            raise self.bad(f"expected a string, got a {self.shape}")
        quotes = 2 * (node.style in ("'", '"'))
        length = node.end_mark.column - node.start_mark.column - quotes
        one_line = node.start_mark.line == node.end_mark.line and length == len(node.value)  # without escapes
        if node.style == "|" and (block := self._block(node)):
            return block
        return Text(node.value, self.location.shifted(1 if node.style in ("'", '"') else 0), one_line)

    def _block(self, node: yaml.ScalarNode) -> Text | None:
        """Returns the string of a literal block, if its first line is the next one of the file."""
        first = node.start_mark.line + 1
        line = self.lines[first] if first < len(self.lines) else ""
        start = node.value.partition("\n")[0]
        if not start.strip() or not line.endswith(start):
            return None
        indent = len(line) - len(start)
        return Text(node.value, Location(self.file, first + 1, indent + 1), False, indent)

    @property
    def value(self) -> str:
        return self.text.value

    @property
    def words(self) -> str:
        """Returns a string that is not blank, with its lines joined to one."""
        if not self.value.strip():
            raise self.bad("expected a string, got nothing")
        return " ".join(self.value.split())

    @property
    def prose(self) -> str:
        """Returns a string that is not blank, with its line breaks."""
        if not self.value.strip():
            raise self.bad("expected a string, got nothing")
        return self.value.strip()

    def name(self, pattern: re.Pattern[str], what: str = "a name in snake_case") -> str:
        """Returns a string that matches `pattern`; `what` describes it in the error text."""
        if not pattern.fullmatch(self.words):
            raise self.bad(f"'{self.words}' is not {what}")
        return self.words

    def choice(self, choices: type[C], what: str) -> C:
        """Returns the member of an enumeration whose value is the string. Raises Bad; `what` names the enumeration."""
        try:
            return choices(self.words)
        except ValueError:
            raise self.bad(unknown(what, self.words, [each.value for each in choices])) from None

    @property
    def boolean(self) -> bool:
        value = self.literal
        if not isinstance(value, bool):
            raise self.bad(f"expected true or false, got '{self.value if self.is_scalar else self.shape}'")
        return value

    @property
    def natural(self) -> int:
        value = self.literal
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            found = self.value if self.is_scalar else self.shape
            raise self.bad(f"expected a non-negative integer, got '{found}'")
        return value

    @property
    def expression(self) -> Expression:
        return self.text.expression

    @property
    def program(self) -> Program:
        return self.text.program

    @property
    def literal(self) -> Literal:
        """Returns a number, boolean, string or null, or nested lists of them."""
        if isinstance(self.node, yaml.ScalarNode):
            return self._scalar(self.node)
        return tuple(member.literal for member in self.members)

    def _scalar(self, node: yaml.ScalarNode) -> Literal:
        """Returns the value of a scalar: as in YAML, but with Python's numbers (YAML reads 010 as 8 and 1:30 as 90)."""
        value: str = node.value
        if node.style:
            return value
        if value in _WORDS:
            return _WORDS[value]
        for read in (int, float):
            try:
                return read(value)
            except ValueError:
                pass
        return value

    @property
    def numbers(self) -> Literal:
        """Returns a number or boolean, or nested lists of them."""
        if self.is_sequence:
            return tuple(member.numbers for member in self.members)
        value = self.literal if self.is_scalar else None
        if not isinstance(value, bool | int | float):
            raise self.bad(f"expected numbers, got {repr(self.value) if self.is_scalar else 'a mapping'}")
        return value

    @property
    def members(self) -> list[Field]:
        """Returns the items of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.bad(f"expected a list, got a {self.shape}")
        return [Field(node, self.file, self.report, self.lines) for node in self.node.value]

    @property
    def one_or_more(self) -> list[Field]:
        """Returns the items of a list, or this field alone if it is not a list."""
        return self.members if self.is_sequence else [self]

    @property
    def fields(self) -> Fields:
        """Returns the values of a mapping by key."""
        return Fields(self)

    @property
    def shape(self) -> str:
        """Returns the type of the node for error texts."""
        return "string" if self.is_scalar else "list" if self.is_sequence else "mapping"


class Fields:
    """The values of a mapping by key. Reading a key marks it as known; `finish` reports all others."""

    def __init__(self, owner: Field) -> None:
        if not isinstance(owner.node, yaml.MappingNode):
            raise owner.bad(f"expected a mapping, got a {owner.shape}")
        self.owner = owner
        self.report = owner.report
        self.values: dict[str, Field] = {}
        self.keys: dict[str, Field] = {}
        self._known: set[str] = set()
        for key_node, value_node in owner.node.value:
            key = Field(key_node, owner.file, owner.report, owner.lines)
            with self.report.collecting():
                name = key.value
                if name in self.values:
                    raise key.bad(f"duplicate key '{name}'")
                self.keys[name] = key
                self.values[name] = Field(value_node, owner.file, owner.report, owner.lines)

    def take(self, key: str) -> Field | None:
        """Returns the value of a key, or None if it is missing."""
        self._known.add(key)
        return self.values.get(key)

    def need(self, key: str) -> Field:
        """Returns the value of a key. Raises Bad if it is missing."""
        found = self.take(key)
        if found is None:
            raise Bad(self.owner.location, f"missing key '{key}'")
        return found

    def required(self, key: str, read: Callable[[Field], T]) -> T | None:
        """Returns `read(value)` of a key. If it is missing or invalid, reports this and returns None."""
        with self.report.collecting():
            return read(self.need(key))
        return None

    def optional(self, key: str, read: Callable[[Field], T], otherwise: D) -> T | D:
        """Returns `read(value)` of a key, or `otherwise` if it is missing, or is invalid, which is reported."""
        field = self.take(key)
        if field is not None:
            with self.report.collecting():
                return read(field)
        return otherwise

    def others(self, read: Callable[[Field], T]) -> dict[str, T]:
        """Returns `read(value)` of all keys that have not been read yet; reports those that are invalid."""
        found = {}
        for key, value in self.values.items():
            if key not in self._known:
                self._known.add(key)
                with self.report.collecting():
                    found[key] = read(value)
        return found

    def other_expressions(self) -> dict[str, Expression]:
        """Returns the values of all keys that have not been read yet, as expressions."""
        return self.others(lambda field: field.expression)

    def finish(self) -> None:
        """Reports all keys that have not been read."""
        for name, key in self.keys.items():
            if name not in self._known:
                problem = key.bad(unknown("key", name, self._known - self.values.keys()))
                self.report.problems.append(problem.problem)


def compose(text: str, file: str, report: Report) -> list[Field]:
    """Returns the records of a file: the items of its list. `file` is its name in locations."""
    try:
        node = _root(text)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        location = Location(file, before.count("\n") + 1, error.position - before.rfind("\n"))
        report.add(location, f"not YAML: character {error.character:#06x} is not allowed")
        return []
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        location = Location(file, mark.line + 1, mark.column + 1) if mark else Location(file, 1, 1)
        report.add(location, f"not YAML: {error.problem}")
        return []
    if node is None:
        return []
    with report.collecting():
        return Field(node, file, report, text.split("\n")).members
    return []


def _root(text: str) -> yaml.Node | None:
    """Parses a string that holds one YAML document; returns None if it is empty."""
    if re.search(r"(^|[\s\[{,])&[\w-]", text) or _may_be_deep(text):
        _check_events(text)
    loader = _Loader(text)
    try:
        node: yaml.Node | None = loader.get_single_node()
        return node
    finally:
        loader.dispose()


def _may_be_deep(text: str) -> bool:
    """Returns whether brackets, dashes and indentation could nest nodes more than _DEEPEST levels deep."""
    depth = deepest = 0
    for mark in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if mark in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest > _DEEPEST or re.search(rf"^([ ?:-] ?){{{_DEEPEST}}}", text, re.MULTILINE) is not None


def _check_events(text: str) -> None:
    """Raises MarkedYAMLError for too deep a tree for recursion, and for aliases in values that have aliases themselves.

    Those could make a tree infinite, or much larger than its text.
    """
    depth = 0
    anchored: int | None = None  # the depth around the outermost value with an anchor that is open
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            if event.anchor and anchored is None:
                anchored = depth
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if depth == anchored:
                anchored = None
        wrong = "nested too deeply" if depth > _DEEPEST else ""
        if isinstance(event, yaml.AliasEvent) and anchored is not None:
            wrong = "a value with an anchor must not have an alias in it"
        if wrong:
            raise yaml.MarkedYAMLError(None, None, wrong, event.start_mark)  # type: ignore[arg-type]
