"""Definition files as fields that know where they stand.

`Field` wraps one YAML node. Reading it as the wrong thing raises `Bad`, which `Report.collecting()` turns into one of
the run's problems, so that a reader goes on with the next field after a mistake.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import yaml

from codegen import expression
from codegen.errors import Location, Problem, TextError, unknown
from codegen.expression import Expression
from codegen.model import Literal

T = TypeVar("T")
D = TypeVar("D")

_WORDS: Mapping[str, Literal] = {
    "": None, "~": None, "null": None, "true": True, "false": False, "True": True, "False": False,
    ".inf": math.inf, "-.inf": -math.inf, ".nan": math.nan,
}  # fmt: skip
_DEEPEST = 100  # brackets inside of brackets

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Bad(Exception):
    """A mistake at a known place."""

    def __init__(self, location: Location, text: str, length: int = 1) -> None:
        super().__init__(text)
        self.problem = Problem(location, text, length)


@dataclass
class Report:
    """All problems of a run."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, location: Location, text: str, length: int = 1) -> None:
        self.problems.append(Problem(location, text, length))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Notes a `Bad` that leaves the block, and goes on after it."""
        try:
            yield
        except Bad as bad:
            self.problems.append(bad.problem)


@dataclass(frozen=True)
class Text:
    """A scalar with the place of its first character."""

    value: str
    location: Location
    one_line: bool  # whether columns of the text are columns of the file

    def bad(self, error: TextError) -> Bad:
        if not self.one_line:
            return Bad(self.location, error.text)
        return Bad(self.location.shifted(error.offset), error.text, error.length)

    @property
    def expression(self) -> Expression:
        if not self.value.strip():
            raise Bad(self.location, "expected an expression, got nothing")
        try:
            return expression.parse(self.value, self.location, one_line=self.one_line)
        except TextError as error:
            raise self.bad(error) from None


@dataclass(frozen=True)
class Field:
    node: yaml.Node
    file: str
    report: Report

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
        one_line = self.node.start_mark.line == self.node.end_mark.line
        length = self.node.end_mark.column - self.node.start_mark.column if one_line else 1
        return Bad(self.location, text, max(length, 1))

    @property
    def text(self) -> Text:
        node = self.node
        if not isinstance(node, yaml.ScalarNode):
            raise self.bad(f"expected a text, got a {self.shape}")
        one_line = node.start_mark.line == node.end_mark.line and "\\" not in node.value
        return Text(node.value, self.location.shifted(1 if node.style in ("'", '"') else 0), one_line)

    @property
    def value(self) -> str:
        return self.text.value

    @property
    def words(self) -> str:
        """A text that says something, on one line."""
        if not self.value.strip():
            raise self.bad("expected a text, got nothing")
        return " ".join(self.value.split())

    @property
    def prose(self) -> str:
        """The same with its lines."""
        if not self.value.strip():
            raise self.bad("expected a text, got nothing")
        return self.value.strip()

    def name(self, pattern: re.Pattern[str], what: str = "a name in snake_case") -> str:
        if not pattern.fullmatch(self.words):
            raise self.bad(f"'{self.words}' is not {what}")
        return self.words

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
            raise self.bad(f"expected a number from 0, got '{self.value if self.is_scalar else self.shape}'")
        return value

    @property
    def expression(self) -> Expression:
        return self.text.expression

    @property
    def literal(self) -> Literal:
        """Plain data: numbers, booleans, texts and nested lists of them."""
        if isinstance(self.node, yaml.ScalarNode):
            return self._scalar(self.node)
        return tuple(member.literal for member in self.members)

    def _scalar(self, node: yaml.ScalarNode) -> Literal:
        """By YAML's rules, without what it has beyond Python's numbers (010 is octal there, 1:30 is 90)."""
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
        """Numbers and truth values, nested in lists."""
        if self.is_sequence:
            return tuple(member.numbers for member in self.members)
        value = self.literal if self.is_scalar else None
        if not isinstance(value, bool | int | float):
            raise self.bad(f"expected numbers, got {repr(self.value) if self.is_scalar else 'a mapping'}")
        return value

    @property
    def members(self) -> list[Field]:
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.bad(f"expected a list, got a {self.shape}")
        return [Field(node, self.file, self.report) for node in self.node.value]

    @property
    def one_or_more(self) -> list[Field]:
        return self.members if self.is_sequence else [self]

    @property
    def fields(self) -> Fields:
        return Fields(self)

    @property
    def shape(self) -> str:
        return "text" if self.is_scalar else "list" if self.is_sequence else "mapping"


class Fields:
    """A mapping. `take` and `need` mark keys as known; `finish` reports all others."""

    def __init__(self, owner: Field) -> None:
        if not isinstance(owner.node, yaml.MappingNode):
            raise owner.bad(f"expected a mapping, got a {owner.shape}")
        self.owner = owner
        self.report = owner.report
        self.values: dict[str, Field] = {}
        self.keys: dict[str, Field] = {}
        self._known: set[str] = set()
        for key_node, value_node in owner.node.value:
            key = Field(key_node, owner.file, owner.report)
            with self.report.collecting():
                name = key.value
                if name in self.values:
                    raise key.bad(f"key '{name}' is there twice")
                self.keys[name] = key
                self.values[name] = Field(value_node, owner.file, owner.report)

    def take(self, key: str) -> Field | None:
        self._known.add(key)
        return self.values.get(key)

    def need(self, key: str) -> Field:
        found = self.take(key)
        if found is None:
            raise Bad(self.owner.location, f"missing key '{key}'")
        return found

    def required(self, key: str, read: Callable[[Field], T]) -> T | None:
        """What `read` makes of a key; None after noting that it is missing or bad."""
        with self.report.collecting():
            return read(self.need(key))
        return None

    def optional(self, key: str, read: Callable[[Field], T], otherwise: D) -> T | D:
        """What `read` makes of a key, or `otherwise` where it is missing, or bad, which is noted."""
        field = self.take(key)
        if field is not None:
            with self.report.collecting():
                return read(field)
        return otherwise

    def other_expressions(self) -> dict[str, Expression]:
        """All values whose keys were not taken before, as expressions, by key."""
        found = {}
        for key, value in self.values.items():
            if key not in self._known:
                self._known.add(key)
                with self.report.collecting():
                    found[key] = value.expression
        return found

    def finish(self) -> None:
        for key, place in self.keys.items():
            if key not in self._known:
                problem = place.bad(unknown("key", key, self._known - self.values.keys()))
                self.report.problems.append(problem.problem)


def compose(text: str, file: str, report: Report) -> list[Field]:
    """The records of one file: the members of its list."""
    try:
        node = _root(text)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = Location(file, before.count("\n") + 1, error.position - before.rfind("\n"))
        report.add(place, f"not YAML: character {error.character:#06x} is not allowed")
        return []
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Location(file, mark.line + 1, mark.column + 1) if mark else Location(file, 1, 1)
        report.add(place, f"not YAML: {error.problem}")
        return []
    if node is None:
        return []
    with report.collecting():
        return Field(node, file, report).members
    return []


def _root(text: str) -> yaml.Node | None:
    """The one document of a text."""
    if re.search(r"(^|[\s\[{,])&\w", text) or _may_be_deep(text):
        _check_events(text)
    loader = _Loader(text)
    try:
        node: yaml.Node | None = loader.get_single_node()
        return node
    finally:
        loader.dispose()


def _may_be_deep(text: str) -> bool:
    """Whether brackets, dashes and indentation leave room for too deep a tree."""
    depth = deepest = 0
    for mark in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if mark in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest > _DEEPEST or re.search(rf"^([ ?:-] ?){{{_DEEPEST}}}", text, re.MULTILINE) is not None


def _check_events(text: str) -> None:
    """Refuses anchors, as a node inside of itself would have no end, and what is too deep for recursion."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        wrong = "definitions have no anchors" if getattr(event, "anchor", None) else ""
        if wrong or depth > _DEEPEST:
            wrong = wrong or "this is too deep"
            raise yaml.MarkedYAMLError(None, None, wrong, event.start_mark)  # type: ignore[arg-type]
