"""The interface of a target: a class that turns definitions into files.

Every folder under `codegen/targets/` is one target; no other part of `codegen` contains its name. The base class says
what a target's files are for:

- `Target`: sources that are only compiled, such as kernels and the runtime's tables.
- `PublicTarget`: files that people read, such as headers and the manual. It may give operators other names.
- `Language` (in `language.py`): a language that people call operators in. It also provides the calls, names and errors
  in the reference manual and in the generated tests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from codegen.definitions import Definitions
from codegen.errors import Problem
from codegen.names import Names
from codegen.templates import Templates
from codegen.types import Argument, Result


@dataclass(frozen=True)
class Output:
    """One generated file: its path relative to the root of the repository, and its text.

    The first line says `generated from opdefs/x.yaml by codegen, do not edit` (`banner()` in templates), in the
    comment syntax of the file.
    """

    path: str
    text: str


@dataclass(frozen=True)
class Unit:
    """A source that is compiled into a library of operators."""

    source: str  # relative to the root of the repository, or of the generated files
    object: str  # the name of what is compiled from it
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class LibraryPart:
    """What a target contributes to a library of operators."""

    outputs: tuple[Output, ...]
    units: tuple[Unit, ...]
    folders: tuple[str, ...] = ()  # with headers for its units, relative to both roots
    libraries: tuple[Path, ...] = ()  # what is linked
    kernels: str | None = None  # the C++ function that finds the kernels for devices of the target's name


class Target(ABC):
    """A target whose files are only compiled. `definitions` holds all records of the run, `folder` the templates."""

    title: str = ""  # the name in headings and messages, if it differs from the folder's: "C++"
    reserved: frozenset[str] = frozenset()  # words that cannot name an argument, a result or a state

    def __init__(self, name: str, folder: Path, definitions: Definitions) -> None:
        self.name = name
        self.folder = folder
        self.definitions = definitions

    @cached_property
    def templates(self) -> Templates:
        """Returns the target's templates: `self.templates.render("x.h.j2", ops=...)` renders one."""
        return Templates(self.folder)

    @abstractmethod
    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        """Yields all files of this target."""

    def library_part(self, space: str, root: Path) -> LibraryPart | None:
        """Returns what is compiled into the library of all operators of these definitions, which have this namespace.

        `root` is the repository. None: the target contributes nothing.
        """
        return None

    def problems(self, definitions: Definitions) -> Iterator[Problem]:
        """Yields the reasons why this target cannot print definitions that are otherwise valid."""
        for op in definitions.ops:
            parts: tuple[Argument | Result, ...] = (*op.signature.arguments, *op.signature.results)
            named = [(part.name, op.locate(part)) for part in parts]
            named += [(name, op.location) for name in op.kind.own_names]
            for name, location in named:
                if name in self.reserved:
                    yield Problem(location, f"'{name}' is a reserved word of {self.title or self.name}")


class PublicTarget(Target):
    """A target whose files people read. `names.yaml` in its folder lists functions that it renames or omits."""

    @cached_property
    def names(self) -> Names:
        """Returns the entries of `names.yaml`; none if there is no such file."""
        return Names.read(self.folder / "names.yaml")
