"""What a target is: one class that turns definitions into files.

Every folder under `codegen/languages/` is one target; nothing else in `codegen` knows its name. The pipeline asks a
target for its files and, when it has a front end for people (`speaks` is true), for the few words that the reference
manual, the examples and the error cases need in that language.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from codegen import signature as signatures
from codegen.errors import Problem
from codegen.model import Argument, Call, Definitions, ErrorCase, Function, Literal, Result, Type
from codegen.names import Names, known_words
from codegen.templates import Templates


@dataclass(frozen=True)
class Output:
    """One generated file: a path from the repository's root and its whole text.

    The first line says `generated from opdefs/x.yaml by codegen, do not edit` (`banner()` in templates) in the
    comment syntax of the file.
    """

    path: str
    text: str


class Language(ABC):
    """`definitions` are all records of the run; `folder` holds the target's templates and its `names.yaml`."""

    title: str = ""  # as in a heading: "Node.js"
    fence: str = ""  # the language's word for highlighting in Markdown
    speaks: bool = False  # whether people write it: it then appears in the reference manual
    opening: str = ""  # what a program begins with: "import oneflow_py as flow"
    forms: tuple[str, ...] = ()  # an example of each form in which operators are offered, in the order of prose.FORMS
    none_word: str = "None"  # what an error text calls an absent value
    reserved: frozenset[str] = frozenset()  # words that can name no argument, result or part of a definition

    def __init__(self, name: str, folder: Path, definitions: Definitions) -> None:
        self.name = name
        self.folder = folder
        self.definitions = definitions

    @cached_property
    def templates(self) -> Templates:
        """`self.templates.render("x.h.j2", ops=...)` renders one of the target's own templates."""
        return Templates(self.folder)

    @cached_property
    def names(self) -> Names:
        """What `names.yaml` says: names that differ in this language, and functions that it leaves out."""
        return Names.read(self.folder / "names.yaml")

    @cached_property
    def known_words(self) -> frozenset[str]:
        """The words that error texts rename: operators and arguments with an underscore."""
        return known_words(self.definitions)

    @abstractmethod
    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        """All files of this target."""

    def problems(self, definitions: Definitions) -> Iterator[Problem]:
        """What is wrong, for this target, with definitions that are good in themselves."""
        for op in definitions.ops:
            parts: tuple[Argument | Result, ...] = (*op.signature.arguments, *op.signature.results)
            named = [(part.name, op.locate(part)) for part in parts]
            named += [(name, op.location) for name in (*getattr(op.kind, "let", ()), *getattr(op.kind, "state", ()))]
            for name, place in named:
                if name in self.reserved:
                    yield Problem(place, f"'{name}' is a reserved word of {self.title or self.name}")
        if self.speaks:
            owners: dict[str, Function] = {}
            for function in self.names.offered(definitions):
                other = owners.setdefault(self.public_name(function), function)
                if other is not function:
                    text = f"'{function.name}' and '{other.name}' have the same name in {self.title}"
                    yield Problem(function.overloads[0].location, text)

    # -- words, for targets that `speak` --------------------------------------------------------------------------

    def public_name(self, function: Function) -> str:
        """What users call a function: after the case rule and `names.yaml`."""
        raise NotImplementedError

    def argument_name(self, name: str) -> str:
        raise NotImplementedError

    def type_word(self, type_: Type) -> str:
        """What an error text calls the type: "int", "integer", "list of ints"."""
        raise NotImplementedError

    def call_text(self, call: Call) -> str:
        """The call as a user writes it: `flow.sum(flow.tensor([[1.0]]), dim=1)`."""
        raise NotImplementedError

    def signature_text(self, function: Function) -> tuple[str, ...]:
        """One line per overload, as the manual shows it."""
        raise NotImplementedError

    def error_class(self, case: ErrorCase) -> str:
        """The class that a user rescues: "oneflow_py.ShapeError"."""
        raise NotImplementedError

    def error_text(self, case: ErrorCase) -> str:
        """The whole text in this language: names after its case rule, `{int}` by its word for the type."""

        def word(match: re.Match[str]) -> str:
            type_ = match.group(1)
            if type_ is not None:
                return self.none_word if type_ == "None" else self.type_word(signatures.parse_type(type_))
            return self.argument_name(match.group()) if match.group() in self.known_words else match.group()

        return re.sub(r"\{([^{}]*)\}|\b[a-z][a-z0-9_]*\b", word, case.says)

    def literal_text(self, value: Literal) -> str:
        """Plain data as this language writes it: `[[1.0, None]]`."""
        raise NotImplementedError
