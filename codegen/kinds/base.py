"""What a kind of operator is to the generator: how its key is read, checked and explained."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from codegen.checking import Scope
from codegen.compute_types import compute_types
from codegen.errors import TextError, unknown
from codegen.expression import Expression
from codegen.intrinsics import Sort
from codegen.model import Argument, Op, Signature
from codegen.reader import Field, Report

K = TypeVar("K")

Functions = Mapping[str, Sequence[Op]]  # public name to overloads


@dataclass(frozen=True)
class Fact:
    """One line of `explain`: something that follows from the record."""

    what: str
    text: str


@dataclass(frozen=True)
class Skeleton:
    """What `new` writes for a record of the kind; empty texts are for its author to fill in."""

    key: str  # the kind's key, two spaces in
    arguments: str = "Tensor input"
    result: str = "Tensor"
    dtype: str = "{accepts: any, result: same}"
    example: str = "[1.0, 2.0]"
    mistake: str = "'a'"  # the arguments of the error case
    says: str = "input must be {Tensor}, got {str}"


class Rules(ABC, Generic[K]):
    """One kind. `read` checks what stands in the key itself, `check` the expressions once all records are known."""

    skeleton: Skeleton

    @abstractmethod
    def read(self, field: Field, signature: Signature | None) -> K:
        """The kind from its key; `signature` is None where it could not be read. Raises Bad."""

    @abstractmethod
    def check(self, op: Op, kind: K, functions: Functions, report: Report) -> None:
        """Notes every mistake that the expressions have."""

    @abstractmethod
    def facts(self, op: Op, kind: K) -> Iterator[Fact]:
        """What follows from the record, for `explain`."""


def argument_named(field: Field, signature: Signature | None, fits: Callable[[Argument], bool], expected: str) -> str:
    """The name of an argument that a key refers to; raises Bad where there is none, or one of another type."""
    name = field.words
    if signature is not None:
        argument = signature.argument(name)
        if argument is None:
            known = [a.name for a in signature.arguments if fits(a)]
            raise field.bad(unknown("argument", name, known or [a.name for a in signature.arguments]))
        if not fits(argument):
            raise field.bad(f"argument '{name}' must be {expected}, it is {argument.type}")
    return name


def check_expression(expression: Expression, scope: Scope, wanted: Sort | None, report: Report) -> Sort | None:
    """Notes the first mistake; `wanted` None stands for any number. Gives the sort, or None after a mistake."""
    try:
        found = scope.sort(expression.root)
        if wanted is None and not found.is_scalar:
            raise TextError(f"expected a number, got {found.value}", 0, len(expression.text))
        if wanted is not None:
            scope.expect(expression.root, wanted)
        return found
    except TextError as error:
        report.add(expression.location.shifted(error.offset), error.text, error.length)
        return None


def kernel_fact(op: Op) -> Fact:
    return Fact("kernels", f"printed from the expressions for each device, computing in {listed(compute_types(op))}")


def listed(names: Sequence[str]) -> str:
    """'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
