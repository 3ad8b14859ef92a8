"""The interface of a kind of operator, and helpers that kinds share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from codegen.checking import FLOATS, Scope
from codegen.compute_types import COMPLEX, FLOATING, compute_types, holds_for_complex
from codegen.errors import TextError, counted, unknown
from codegen.expression import Expression
from codegen.intrinsics import Sort
from codegen.model import Argument, BaseType, Op, Result, Signature, Type
from codegen.reader import Field, Fields, Report
from codegen.signature import NAME

K = TypeVar("K")

Functions = Mapping[str, Sequence[Op]]  # public name to overloads


@dataclass(frozen=True)
class Fact:
    """One line of `explain`: a property that is derived from the record."""

    what: str  # the name of the property: "shape"
    text: str


@dataclass(frozen=True)
class Skeleton:
    """The parts of the record that `new` prints for a kind; the author completes its empty strings."""

    key: str  # the key of the kind with its value, indented by two spaces
    arguments: str = "Tensor input"
    result: str = "Tensor"
    dtype: str = "{accepts: any, result: same}"
    example: str = "[1.0, 2.0]"  # the arguments of the example
    mistake: str = "'a'"  # the arguments of the error case
    says: str = "input must be {Tensor}, got {str}"


class Rules(ABC, Generic[K]):
    """One kind of operator.

    `read` checks the key of the kind by itself. `check` checks its expressions, once all records have been read.
    """

    skeleton: Skeleton

    @abstractmethod
    def read(self, field: Field, signature: Signature | None) -> K:
        """Reads the key of the kind; `signature` is None if it could not be parsed. Raises Bad."""

    @abstractmethod
    def check(self, op: Op, kind: K, functions: Functions, report: Report) -> None:
        """Reports every problem of the expressions, and of a signature that does not suit the kind."""

    @abstractmethod
    def facts(self, op: Op, kind: K) -> Iterator[Fact]:
        """Yields the properties that are derived from the record, for `explain`."""


def scalar_refusals(op: Op) -> Mapping[str, str]:
    """Returns the operators that are not defined on every type that a record computes in, with the reason."""
    return FLOATS if FLOATING & set(compute_types(op)) else {}


def check_results(op: Op, report: Report) -> None:
    """Checks that an operator has one result, which shares no memory with an argument."""
    if len(op.signature.results) > 1:
        result = op.signature.results[1]
        report.add(op.locate(result), f"{_a(op.kind_name)} must have one result")
    check_fresh(op, report)


def check_fresh(op: Op, report: Report) -> None:
    """Checks that no result shares memory with an argument, and that no argument is written to."""
    parts: tuple[Argument | Result, ...] = (*op.signature.arguments, *op.signature.results)
    for part in parts:
        if part.alias:
            report.add(op.locate(part), f"{_a(op.kind_name)} cannot share memory with an argument or write to one")


def check_input(op: Op, report: Report) -> None:
    """Checks that the first argument is `Tensor input`, which folds, gathers and views read."""
    first = op.signature.arguments[0] if op.signature.arguments else None
    if first is None or first.name != "input" or first.type != Type(BaseType.TENSOR):
        location = op.locate(first) if first else op.signature_location
        report.add(location, f"the first argument of {_a(op.kind_name)} must be `Tensor input`")


def check_names(op: Op, taken: Collection[str], report: Report) -> None:
    """Checks that no argument has a name that the expressions of the kind define."""
    for argument in op.signature.arguments:
        if argument.name in taken:
            report.add(op.locate(argument), f"'{argument.name}' is a reserved name in {_a(op.kind_name)}")


def check_tensors(op: Op, most: int, report: Report) -> None:
    """Checks that there are at most `most` tensor arguments, and that they are not optional, numbers or lists."""
    tensors = op.signature.tensor_arguments
    for argument in tensors[most:]:
        report.add(op.locate(argument), f"{_a(op.kind_name)} takes at most {counted(most, 'tensor')}")
    for argument in tensors[:most]:
        if argument.type != Type(BaseType.TENSOR):
            report.add(op.locate(argument), f"{_a(op.kind_name)} takes a Tensor here, not {argument.type}")


def _a(kind: str) -> str:
    """Returns the name of a kind with its article: "an elementwise operator", "a view"."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}{' operator' * (kind == 'elementwise')}"


def argument_named(field: Field, signature: Signature | None, fits: Callable[[Argument], bool], expected: str) -> str:
    """Reads the name of an argument.

    Raises Bad if there is no such argument, or if it does not satisfy `fits`, which `expected` describes.
    """
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
    """Reads the named subexpressions in the key `let`; none if it is missing."""
    field = fields.take("let")
    if field is None:
        return {}
    parts = field.fields
    for name, key in parts.keys.items():
        with parts.report.collecting():
            key.name(NAME)
            if signature and signature.argument(name):
                raise key.bad(f"'{name}' is the name of an argument already")
    return parts.other_expressions()


def check_expression(expression: Expression, scope: Scope, wanted: Sort | None, report: Report) -> Sort | None:
    """Reports the first error in an expression, whose sort must be `wanted`, or any number if that is None.

    Returns the sort, or None after an error.
    """
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
    """Returns the fact about kernels that are printed from scalar expressions."""
    types = f"computing in {listed(compute_types(op))}"
    complex_types = f", on some devices also in {listed(COMPLEX)}" * holds_for_complex(op)
    return Fact("kernels", f"printed from the expressions for each device, {types}{complex_types}")


def branches(kind: object) -> Mapping[str | None, Expression]:
    """Returns the expressions of an elementwise operator, a generator or a composite, by the value of `match`."""
    found: Mapping[str | None, Expression] = getattr(kind, "expressions", None) or getattr(kind, "bodies", None) or {}
    return found


def matched_values(kind: object) -> tuple[str, ...]:
    """Returns the values of the attribute that a kind matches on."""
    merges: Mapping[str, object] = getattr(kind, "merges", {})
    return tuple(merges) or tuple(value for value in branches(kind) if value is not None)


def listed(names: Sequence[str]) -> str:
    """Joins names: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
