"""The scope and the check of the programs that several kinds consist of or contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.errors import TextError
from codegen.model import Functions, Op
from codegen.program import Program, parse
from codegen.program_functions import PROGRAM, ProgramFunction
from codegen.reader import Report
from codegen.resolve import Scope, resolve
from codegen.types import Type


def scope(op: Op, functions: Mapping[str, ProgramFunction] = PROGRAM, operators: Functions | None = None) -> Scope:
    """Returns what a program may use: the arguments, these functions and these operators."""
    names = {argument.name: argument.type for argument in op.signature.arguments}
    return Scope(names, operators or {}, frozenset(names), functions=functions)


def derived(text: str, op: Op) -> Program:
    """Parses a program that follows from a record, at which its errors are located."""
    return parse(text, op.location, exact=False)


def check_program(program: Program, scope: Scope, results: Sequence[Type], report: Report) -> Program | None:
    """Returns the resolved program, or reports its first error and returns None."""
    try:
        return resolve(program, scope, results)
    except TextError as error:
        report.add(program.locate(error.offset), error.text, error.length)
        return None
