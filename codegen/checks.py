"""What every record must have, whatever its kind."""

from __future__ import annotations

from codegen.errors import unknown
from codegen.kinds import KINDS
from codegen.kinds.base import Functions
from codegen.model import Alias, Op, View
from codegen.names import type_placeholders
from codegen.reader import Report

WITHOUT_ORACLE = 5  # worked examples and cases that a record without an oracle needs


def check(op: Op, functions: Functions, report: Report) -> None:
    """Notes every mistake of one record."""
    KINDS[op.kind_name].check(op, op.kind, functions, report)
    _check_aliases(op, report)
    _check_dtype(op, report)
    _check_examples(op, report)


def _check_aliases(op: Op, report: Report) -> None:
    arguments = {a.alias.label: a.alias for a in op.signature.arguments if a.alias}
    written = [a for a in arguments.values() if a.written]
    for result in op.signature.results:
        if result.alias and result.alias.label not in arguments:
            report.add(op.location, f"a result is an alias of '{result.alias.label}', which no argument is")
        elif result.alias and result.alias != arguments[result.alias.label]:
            report.add(op.location, f"alias '{result.alias.label}' is written in one place and not in another")
    if isinstance(op.kind, View) and not any(isinstance(r.alias, Alias) for r in op.signature.results):
        report.add(op.location, "a view shares memory: its signature must say Tensor(a) input ... -> Tensor(a)")
    if bool(written) != op.name.endswith("_"):
        report.add(op.location, "a name ends in '_' if and only if an argument is written to, as in Tensor(a!)")


def _check_dtype(op: Op, report: Report) -> None:
    results = len(op.signature.results)
    if len(op.dtype.results) != results:
        report.add(op.location, f"the dtype column has {len(op.dtype.results)} results, the signature {results}")


def _check_examples(op: Op, report: Report) -> None:
    if not op.examples:
        report.add(op.location, f"{op.full_name} has no example")
    if not op.errors:
        report.add(op.location, f"{op.full_name} has no error case")
    if op.oracle is None and len(op.examples) + len(op.cases) < WITHOUT_ORACLE:
        text = f"{op.full_name} has no oracle: it needs {WITHOUT_ORACLE} examples and cases"
        report.add(op.location, f"{text}, it has {len(op.examples) + len(op.cases)}")
    count = len(op.signature.results)
    for example in op.examples:
        if count > 1 and not (isinstance(example.gives, tuple) and len(example.gives) == count):
            report.add(example.location, f"the example must give {count} results")
    for case in op.errors:
        for word in type_placeholders(case.says):
            report.add(case.location, unknown("type", word, _TYPE_WORDS))
        if case.call.record == op.full_name and not case.says.startswith(f"{op.name}: "):
            report.add(case.location, f"an error text begins with '{op.name}: '")


_TYPE_WORDS = ("Tensor", "Tensor|Number", "Number", "int", "float", "bool", "str", "dim", "size", "dtype", "device")
