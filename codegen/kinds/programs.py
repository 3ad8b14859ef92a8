"""The scope and the check of the programs that several kinds consist of or contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.errors import TextError
from codegen.model import Op, Type
from codegen.program import Program
from codegen.program_functions import PROGRAM, ProgramFunction
from codegen.reader import Report
from codegen.resolve import Operators, Scope, resolve


def scope(op: Op, functions: Mapping[str, ProgramFunction] = PROGRAM, operators: Operators | None = None) -> Scope:
    """Returns what a program may use: the arguments, these functions and these operators."""
    names = {argument.name: argument.type for argument in op.signature.arguments}
    return Scope(names, operators or {}, frozenset(names), functions=functions)


def check_program(program: Program, scope: Scope, results: Sequence[Type], report: Report) -> Program | None:
    """Returns the resolved program, or reports its first error and returns None."""
    try:
        return resolve(program, scope, results)
    except TextError as error:
        report.add(program.locate(error.offset), error.text, error.length)
        return None
