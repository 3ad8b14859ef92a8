"""The functions of a library of operators in a language."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.definitions import Function


@dataclass(frozen=True)
class LibraryFunction:
    """A function of a library of operators, with its names in a language, which lack the namespace."""

    function: Function
    full_name: str  # with the namespace, as error texts have it
    name: str
    in_place_name: str | None = None  # None: there is no such form
    promise_name: str | None = None
    signature: str | None = None
    documentation: str | None = None

    @property
    def full_in_place_name(self) -> str | None:
        """Returns the name of the in-place form with the namespace."""
        return self.in_place_name and self.full_name.removesuffix(self.name) + self.in_place_name
