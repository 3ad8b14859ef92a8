"""What a target is: one class that turns definitions into files.

Every folder under `codegen/languages/` is one target; nothing else in `codegen` knows its name. The pipeline asks a
target for its files and, when it has a front end for people (`speaks` is true), for the few words that the reference
manual, the examples and the error cases need in that language.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from codegen.model import Call, Definitions, ErrorCase, Function, Type


@dataclass(frozen=True)
class Output:
    """One generated file: a path from the repository's root and its whole text."""

    path: str
    text: str


class Language(ABC):
    name: str  # the folder's name
    title: str = ""  # as in a heading: "Node.js"
    fence: str = ""  # the language's word for highlighting in Markdown
    speaks: bool = False  # whether people write it: it then appears in the reference manual

    @abstractmethod
    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        """All files of this target."""

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
        raise NotImplementedError
