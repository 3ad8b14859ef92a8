"""Places in definition files, and what can be wrong there.

Every mistake of a run is collected and reported at once, so nothing in the generator stops at the first one: text-level
parsers raise `TextError` with an offset, and whoever knows where the text lies turns it into a `Problem`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_WIDTH = 120  # of a line of a file that is shown


@dataclass(frozen=True, order=True)
class Location:
    """A place in a definition file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def shifted(self, columns: int) -> Location:
        return Location(self.file, self.line, self.column + columns)


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake: where, what, and how many characters it covers."""

    location: Location
    text: str
    length: int = 1

    def __str__(self) -> str:
        return f"{self.location}: {self.text}"

    def with_excerpt(self, root: Path) -> str:
        """The problem with the line of the file below it, and a mark under the offending part."""
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
    """A mistake inside one text, at an offset that the caller turns into a location."""

    def __init__(self, text: str, offset: int = 0, length: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.offset = offset
        self.length = length


class DefinitionError(Exception):
    """Bad definitions: all problems of the run."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))


class TargetError(Exception):
    """A mistake in a target (its class, templates or names.yaml) rather than in a definition."""


def shortened(text: str) -> str:
    """A text to be quoted in a message: its beginning where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH // 2 else text[: _WIDTH // 2] + "..."


def counted(count: int, noun: str) -> str:
    """`1 argument`, `2 arguments`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'Tensor'?` where a known word is near, else nothing."""
    candidates: Sequence[str] = sorted(set(known))
    near = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    if not near:
        lowered = {candidate.lower(): candidate for candidate in candidates}
        near = difflib.get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.6)
        near = [lowered[name] for name in near]
    return f"; did you mean '{near[0]}'?" if near else ""


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """`unknown type 'Tenosr'; did you mean 'Tensor'?`."""
    return f"unknown {what} '{shortened(word)}'{suggestion(word, known)}"
