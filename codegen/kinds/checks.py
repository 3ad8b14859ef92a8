"""Checks of signatures and expressions that several kinds share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from codegen import base_types
from codegen.answers import Fact
from codegen.checking import FLOATS, NEED_FLOATS, Scope
from codegen.compute_types import COMPLEX, FLOATING
from codegen.errors import TextError, counted, unknown
from codegen.expression import Expression
from codegen.intrinsics import Cost, Sort
from codegen.model import Op
from codegen.reader import Field, Report
from codegen.types import Argument, Result, Signature, Type


def scalar_refusals(op: Op) -> Mapping[str, str]:
    """Returns the operators that are not defined on every type that a record computes in, with the reason."""
    others = [name for name in op.compute_types if name not in FLOATING]
    refused = dict(FLOATS) if FLOATING & set(op.compute_types) else {}
    if others:
        reason = f"it requires floating-point types, and the record also computes in {listed(others)}"
        refused |= dict.fromkeys(NEED_FLOATS, reason)
    return refused


def check_results(op: Op, report: Report) -> None:
    """Checks that an operator has one result, which shares no memory with an argument."""
    if len(op.signature.results) > 1:
        result = op.signature.results[1]
        report.add(op.locate(result), f"{_a(op.kind.key)} must have one result")
    check_fresh(op, report)


def check_fresh(op: Op, report: Report) -> None:
    """Checks that no result shares memory with an argument, and that no argument is written to."""
    parts: tuple[Argument | Result, ...] = (*op.signature.arguments, *op.signature.results)
    for part in parts:
        if part.alias:
            report.add(op.locate(part), f"{_a(op.kind.key)} cannot share memory with an argument or write to one")


def check_input(op: Op, report: Report) -> None:
    """Checks that the first argument is `Tensor input`, which folds, gathers and views read."""
    first = op.signature.arguments[0] if op.signature.arguments else None
    if first is None or first.name != "input" or first.type != Type(base_types.TENSOR):
        location = op.locate(first) if first else op.signature_location
        report.add(location, f"the first argument of {_a(op.kind.key)} must be `Tensor input`")


def check_names(op: Op, taken: Collection[str], report: Report) -> None:
    """Checks that no argument has a name that the expressions of the kind define."""
    for argument in op.signature.arguments:
        if argument.name in taken:
            report.add(op.locate(argument), f"'{argument.name}' is a reserved name in {_a(op.kind.key)}")


def check_tensors(op: Op, most: int, report: Report) -> None:
    """Checks that there are at most `most` tensor arguments, and that they are not optional, numbers or lists."""
    tensors = op.signature.tensor_arguments
    for argument in tensors[most:]:
        report.add(op.locate(argument), f"{_a(op.kind.key)} takes at most {counted(most, 'tensor')}")
    for argument in tensors[:most]:
        if argument.type != Type(base_types.TENSOR):
            report.add(op.locate(argument), f"{_a(op.kind.key)} takes a Tensor here, not {argument.type}")


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


def expression_per_result(field: Field, signature: Signature | None) -> tuple[Expression, ...]:
    """Reads an expression, or a list with one per result. Raises Bad for another number of them."""
    found = tuple(each.expression for each in field.one_or_more)
    if signature and len(found) != len(signature.results):
        raise field.bad(f"{counted(len(found), 'expression')} for {counted(len(signature.results), 'result')}")
    return found


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
    types = f"computing in {listed(op.compute_types)}"
    complex_types = f", on some devices also in {listed(COMPLEX)}" * op.kind.holds_for_complex(op)
    return Fact("kernels", f"printed from the expressions for each device, {types}{complex_types}")


def element_cost(expressions: Iterable[Expression]) -> Mapping[Cost, int]:
    """Returns how many operations of each class the expressions take for one element."""
    return Counter(each.cost for expression in expressions for each in expression.intrinsics)


def cost_fact(counts: Mapping[Cost, int], elements: str, value: str | None = None) -> Fact:
    """Returns the fact about the cost of computing expressions for each of these elements.

    `value` is that of the matched attribute for which they are computed.
    """
    text = " and ".join(counted(counts[cost], cost.value) for cost in Cost if counts.get(cost))
    return Fact(
        "cost" if value is None else f"cost, {value}", f"{text or 'one read or write'} per element of {elements}"
    )


def listed(names: Sequence[str]) -> str:
    """Joins names: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
