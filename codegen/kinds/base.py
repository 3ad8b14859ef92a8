"""What a kind of operator is to the generator: how its key is read, checked and explained."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from codegen.checking import FLOATS, Scope
from codegen.compute_types import COMPLEX, FLOATING, compute_types, holds_for_complex
from codegen.errors import TextError, unknown
from codegen.expression import Expression
from codegen.intrinsics import Sort
from codegen.model import Argument, BaseType, Op, Result, Signature, Type
from codegen.reader import Field, Fields, Report
from codegen.signature import NAME

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


def scalar_refusals(op: Op) -> Mapping[str, str]:
    """The operators that have no meaning on every type that an operator computes in."""
    return FLOATS if FLOATING & set(compute_types(op)) else {}


def check_results(op: Op, report: Report) -> None:
    """One result, and nothing that shares memory: what most kinds give."""
    if len(op.signature.results) > 1:
        result = op.signature.results[1]
        report.add(op.locate(result), f"{_a(op.kind_name)} has one result")
    check_fresh(op, report)


def check_fresh(op: Op, report: Report) -> None:
    parts: tuple[Argument | Result, ...] = (*op.signature.arguments, *op.signature.results)
    for part in parts:
        if part.alias:
            report.add(op.locate(part), f"{_a(op.kind_name)} shares no memory and writes to none")


def check_input(op: Op, report: Report) -> None:
    """What folds, gathers and views read is their first argument."""
    first = op.signature.arguments[0] if op.signature.arguments else None
    if first is None or first.name != "input" or first.type != Type(BaseType.TENSOR):
        place = op.locate(first) if first else op.signature_location
        report.add(place, f"the first argument of {_a(op.kind_name)} is `Tensor input`")


def check_names(op: Op, taken: Collection[str], report: Report) -> None:
    """No argument hides what the expressions of the kind call by that name."""
    for argument in op.signature.arguments:
        if argument.name in taken:
            report.add(op.locate(argument), f"'{argument.name}' means something else in {_a(op.kind_name)}")


def check_tensors(op: Op, most: int, report: Report) -> None:
    """At most so many tensors, each one there and alone."""
    tensors = op.signature.tensor_arguments
    for argument in tensors[most:]:
        report.add(op.locate(argument), f"{_a(op.kind_name)} takes {most or 'no'} tensor{'s' * (most != 1)}")
    for argument in tensors[:most]:
        if argument.type != Type(BaseType.TENSOR):
            report.add(op.locate(argument), f"{_a(op.kind_name)} takes a Tensor here, no {argument.type}")


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}{' operator' * (kind == 'elementwise')}"


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


def let(fields: Fields, signature: Signature | None) -> dict[str, Expression]:
    """The parts that `let` names, where there are any."""
    field = fields.take("let")
    if field is None:
        return {}
    parts = field.fields
    for name, key in parts.keys.items():
        with parts.report.collecting():
            key.name(NAME)
            if signature and signature.argument(name):
                raise key.bad(f"'{name}' is an argument already")
    return parts.other_expressions()


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
    types = f"computing in {listed(compute_types(op))}"
    complex_types = f", by some devices also in {listed(COMPLEX)}" * holds_for_complex(op)
    return Fact("kernels", f"printed from the expressions for each device, {types}{complex_types}")


def branches(kind: object) -> Mapping[str | None, Expression]:
    """The expression of an elementwise operator, a generator or a composite, by the value of its attribute."""
    found: Mapping[str | None, Expression] = getattr(kind, "expressions", None) or getattr(kind, "bodies", None) or {}
    return found


def matched_values(kind: object) -> tuple[str, ...]:
    """The values of the attribute that a kind matches on, as far as it is a text, a bool or optional."""
    merges: Mapping[str, object] = getattr(kind, "merges", {})
    return tuple(merges) or tuple(value for value in branches(kind) if value is not None)


def listed(names: Sequence[str]) -> str:
    """'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
