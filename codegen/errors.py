"""Locations in definition files, and the errors that refer to them.

The generator reports all problems of a run at once instead of stopping at the first one. Parsers of a string raise
`TextError` with an offset into it; the caller knows the location of the string, and converts the error to a `Problem`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# The classes of errors, by the names that of_status_name() returns.
ERRORS = (
    "InvalidArgument", "TypeMismatch", "ShapeError", "DTypeError", "IndexOutOfRange", "DeviceError", "OutOfMemory",
    "Unsupported", "CommunicationError", "InternalError", "FileError",
)  # fmt: skip

_WIDTH = 120  # maximum length of a line that an error message quotes


@dataclass(frozen=True, order=True)
class Location:
    """A position in a definition file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def shifted(self, columns: int) -> Location:
        """Returns the location that many columns further to the right."""
        return Location(self.file, self.line, self.column + columns)

    def moved(self, text: str, offset: int, indent: int) -> Location:
        """Returns the location of an offset in a text that begins here, and whose next lines begin after `indent`."""
        before = text[:offset]
        if "\n" not in before:
            return self.shifted(offset)
        return Location(self.file, self.line + before.count("\n"), indent + offset - before.rindex("\n"))


@dataclass(frozen=True, order=True)
class Problem:
    """An error at a location of a definition file; `length` is the number of characters that it covers."""

    location: Location
    text: str
    length: int = 1

    def __str__(self) -> str:
        return f"{self.location}: {self.text}"

    def with_excerpt(self, root: Path) -> str:
        """Returns the problem, followed by its line of the file with a marker under the offending part."""
        try:
            line = (root / self.location.file).read_text(encoding="utf-8").splitlines()[self.location.line - 1]
        except (OSError, IndexError):
            return str(self)
        start = min(self.location.column - 1, len(line))
        if len(line) > _WIDTH:
            first = max(0, start - _WIDTH // 2)
            line, start = line[first : first + _WIDTH], start - first
        mark = "^" + "~" * (min(self.length, len(line) - start) - 1)
        return f"{self}\n    {line}\n    {' ' * start}{mark}"


class TextError(Exception):
    """An error at an offset of a string; the caller converts the offset to a location."""

    def __init__(self, text: str, offset: int = 0, length: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.offset = offset
        self.length = length


class DefinitionError(Exception):
    """The definitions are invalid; `problems` holds all problems of the run, sorted and without duplicates."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))


class TargetError(Exception):
    """An error in a target (its class, templates or names.yaml) or in the arguments of a run, not in a definition."""


def shortened(text: str) -> str:
    """Returns a string on one line for quoting in a message; a long string is truncated."""
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH // 2 else text[: _WIDTH // 2] + "..."


def counted(count: int, noun: str) -> str:
    """Returns a count with its noun: `1 argument`, `2 arguments`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def edit_distance(a: str, b: str) -> int:
    """Returns how many characters must be inserted, deleted, replaced or swapped to turn one word into another."""
    rows = [list(range(len(b) + 1))]
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            cost = min(rows[-1][j - 1] + (a[i - 1] != b[j - 1]), rows[-1][j] + 1, row[-1] + 1)
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 1] + b[j - 2]:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]


def suggestion(word: str, known: Iterable[str]) -> str:
    """Returns `; did you mean 'Tensor'?` if a known word is near, else an empty string.

    Near is what the runtime takes for it: see `of_nearest_name` in `oneflow/front_end.h`. Case counts less than that.
    """
    most = min(max(1, len(word) // 3), len(word) - 1)
    ranked = []
    for name in sorted(set(known)):
        if abs(len(name) - len(word)) > most:
            continue
        if (distance := edit_distance(word.lower(), name.lower())) <= most:
            ranked.append((distance, edit_distance(word, name), name))
    return f"; did you mean '{min(ranked)[2]}'?" if ranked else ""


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """Returns a message such as `unknown type 'Tenosr'; did you mean 'Tensor'?`."""
    return f"unknown {what} '{shortened(word)}'{suggestion(word, known)}"
