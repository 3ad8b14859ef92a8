"""Checks that apply to records of every kind."""

from __future__ import annotations

from dataclasses import replace

from codegen import base_types
from codegen.base_types import BASE_TYPES
from codegen.definitions import Definitions, Function
from codegen.dtypes import ResultRule
from codegen.errors import TextError, counted, unknown
from codegen.kinds.composite import check_programs, for_complex
from codegen.model import Complex, Functions, Gradient, Op
from codegen.names import type_placeholders
from codegen.program import Program
from codegen.reader import Report
from codegen.signature import print_argument

WITHOUT_ORACLE = 5  # number of examples and cases that a record without an oracle needs


def check(op: Op, functions: Functions, report: Report, *, has_tests: bool = True) -> None:
    """Reports every problem of one record. `has_tests` tells whether it needs examples and error cases."""
    op.kind.check(op, functions, report)
    _check_aliases(op, report)
    _check_arguments(op, report)
    _check_generator(op, functions, report)
    _check_dtype(op, report)
    _check_in_place(op, report)
    _check_gradient(op, report)
    _check_complex(op, functions, report)
    if has_tests:
        _check_tests(op, report)
    _check_examples(op, report)


def resolved_kind(op: Op, functions: Functions) -> Op:
    """Returns a valid record whose kind is resolved: the calls in its programs name their records."""
    return replace(op, kind=op.kind.resolved(op, functions))


def resolved_complex(op: Op, functions: Functions) -> Op:
    """Returns a valid record whose column `complex` is resolved."""
    if not isinstance(op.complex, Program):
        return op
    of_complex, kind = for_complex(op, op.complex)
    return replace(op, complex=kind.resolved(of_complex, functions).branches[None])


def _check_aliases(op: Op, report: Report) -> None:
    arguments = {a.alias.label: a.alias for a in op.signature.arguments if a.alias}
    for result in op.signature.results:
        if result.alias and result.alias.label not in arguments:
            report.add(op.locate(result), f"no argument has the alias '{result.alias.label}' of this result")
        elif result.alias and result.alias != arguments[result.alias.label]:
            text = f"alias '{result.alias.label}' must be written both in the argument and in the result, or in neither"
            report.add(op.locate(result), text)
    written = [a for a in op.signature.arguments if a.alias and a.alias.written]
    if op.signature.gives_list and not op.kind.may_give_list:
        report.add(op.locate(op.signature.results[0]), f"{op.kind.key} operators cannot return a list of tensors")
    if written and not op.kind.may_write:
        report.add(op.locate(written[0]), f"{op.kind.key} operators cannot write to an argument")
    if any(not each.type.optional for each in written) != op.name.endswith("_"):
        text = "a name must end in '_' if and only if a required argument is written to, as in Tensor(a!)"
        report.add(op.signature_location, text)


def _check_arguments(op: Op, report: Report) -> None:
    """Checks that names are unique, and that a tensor precedes each dimension, which refers to that tensor."""
    has_tensor = False
    for argument in op.signature.arguments:
        if argument.name == "out":
            report.add(op.locate(argument), "'out' is reserved for the tensor that results are written to")
        if any(argument.name == result.name for result in op.signature.results):
            report.add(op.locate(argument), f"'{argument.name}' is also the name of a result")
        has_tensor = has_tensor or argument.type.is_tensor
        if argument.type.base is base_types.DIM and not has_tensor:
            report.add(op.locate(argument), f"{argument.name} is a dim, but no tensor precedes it")


def _check_generator(op: Op, functions: Functions, report: Report) -> None:
    """Checks that callers can choose the generator of a random operator, and of no other."""
    try:
        called = op.kind.resolved(op, functions).called
    except TextError:
        return  # reported by the check of the kind
    is_random = op.kind.is_random or any(each.signature.generator for each in called)
    argument = op.signature.generator
    if is_random and not argument:
        report.add(op.signature_location, f"a random operator needs the argument '{_GENERATOR}', after '*'")
    elif argument and not is_random:
        report.add(op.locate(argument), "only a random operator takes a generator")
    elif argument and not (argument.keyword_only and print_argument(argument) == _GENERATOR):
        report.add(op.locate(argument), f"the generator must be '{_GENERATOR}', after '*'")


def _check_dtype(op: Op, report: Report) -> None:
    results = len(op.signature.results)
    if len(op.dtype.results) != results:
        text = f"the dtype column has {counted(len(op.dtype.results), 'result')}, the signature has {results}"
        report.add(op.location, text)
    has_numbers = any(argument.type.base is base_types.NUMBER for argument in op.signature.arguments)
    for rule in dict.fromkeys((*op.dtype.results, op.dtype.compute or ResultRule.BOOL)):
        of_numbers = has_numbers and rule is ResultRule.PROMOTE
        if rule in _OF_OPERANDS and not (op.signature.tensor_arguments or of_numbers):
            report.add(op.location, f"the dtype column says '{rule.value}', but there is no tensor argument")


def _check_in_place(op: Op, report: Report) -> None:
    if op.in_place and (op.kind.replaced(op) or not op.receiver or len(op.signature.results) != 1):
        report.add(op.location, "in_place: for operators with a receiver, one result and no derived in-place form")


def _check_gradient(op: Op, report: Report) -> None:
    if Gradient.SELECTION in op.gradient.values() and len(op.signature.results) != 1:
        report.add(op.location, "gradient: only an operator with one result is a selection")


def _check_complex(op: Op, functions: Functions, report: Report) -> None:
    if isinstance(op.complex, Program):
        check_programs(*for_complex(op, op.complex), functions, report)
    elif op.complex is not None and op.complex not in op.kind.complex_forms:
        report.add(op.location, f"complex: {op.kind.key} operators do not support '{op.complex.value}'")
    if op.complex not in (None, Complex.SAME) and any(a.type.is_list for a in op.signature.tensor_arguments):
        report.add(op.location, "complex: operators that take a list of tensors support only 'same'")
    if op.complex is Complex.PARTS and len(op.signature.results) != 1:
        report.add(op.location, "complex: an operator on parts must have one result")


def _check_tests(op: Op, report: Report) -> None:
    if not op.examples and not op.kind.needs_others:
        report.add(op.location, f"{op.full_name} has no example")
    if not op.errors:
        report.add(op.location, f"{op.full_name} has no error case")
    if op.oracle is None and not op.kind.needs_others and len(op.examples) + len(op.cases) < WITHOUT_ORACLE:
        text = f"{op.full_name} has no oracle: it needs {WITHOUT_ORACLE} examples and cases"
        report.add(op.location, f"{text}, it has {len(op.examples) + len(op.cases)}")


def _check_examples(op: Op, report: Report) -> None:
    count = len(op.signature.results)
    for example in op.examples:
        if op.signature.gives_list and not isinstance(example.gives, tuple):
            report.add(example.location, "the example must give a list of tensors")
        if count > 1 and not (isinstance(example.gives, tuple) and len(example.gives) == count):
            report.add(example.location, f"the example must give a list of {count} results")
    for case in op.errors:
        for word in type_placeholders(case.says):
            report.add(case.location, unknown("type", word, _TYPE_WORDS))
        if case.call.record == op.full_name and not case.says.startswith(f"{op.name}: "):
            report.add(case.location, f"an error text must begin with '{op.name}: '")


def check_names(definitions: Definitions, report: Report) -> None:
    """Reports names that two records would share in a language that joins their parts with underscores."""
    owners: dict[str, Op] = {}
    public = [name for op in definitions.ops for name in (op.name, *op.offered_as)]
    spaces = {name.partition(".")[0]: name for name in public if "." in name}
    for op in definitions.ops:
        name = op.full_name.replace(".", "_")
        for derived in (name, f"{name}_out" * op.has_out, f"{name}_" * op.has_in_place):
            if derived and owners.setdefault(derived, op) is not op:
                other = owners[derived].full_name
                report.add(op.location, f"'{derived}' would be the name of both {op.full_name} and {other}")
        if op.name in spaces:
            report.add(op.location, f"'{op.name}' is already the namespace of {spaces[op.name]}")
        if op.name == "tensor":
            report.add(op.location, "'tensor' is reserved: it creates tensors in examples and in every language")
    for function in definitions.functions:
        _check_overloads(function, report)


def _check_overloads(function: Function, report: Report) -> None:
    """Reports overloads that no call can reach: it selects the first one that accepts the types of its arguments."""
    seen: dict[tuple[str, ...], Op] = {}
    for op in function.overloads:
        needed = [a for a in op.signature.arguments if not (a.keyword_only and a.has_default)]
        types = tuple(f"{a.name}: {a.type}" if a.keyword_only else str(a.type) for a in needed)
        if seen.setdefault(types, op) is not op:
            first = seen[types].full_name
            text = f"{op.full_name} takes the same types as {first}, which {function.name} tries first"
            report.add(op.signature_location, text)


_OF_OPERANDS = {ResultRule.PROMOTE, ResultRule.SAME, ResultRule.LAST, ResultRule.ACCUMULATE}
_GENERATOR = "Generator? generator=None"
_TYPE_WORDS = tuple(BASE_TYPES)
