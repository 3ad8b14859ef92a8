"""Prints scalar expressions as C++ for one element: over the compute type T, with the functions of maths.h."""

from __future__ import annotations

from typing import ClassVar

from codegen.kernel_printer import KernelPrinter


class CpuPrinter(KernelPrinter):
    # Functions replace C++'s shifts, which are undefined for some operands, and && and ||, which are branches.
    as_functions: ClassVar = {"<<": "shift_left", ">>": "shift_right", "and": "both", "or": "either"}
    words: ClassVar = {
        "bool_type": "is_same_type<T, bool>", "float_type": "is_floating<T>", "lowest": "maths::lowest<T>()",
        "highest": "maths::highest<T>()",
    }  # fmt: skip
    taken = frozenset(
        "arguments choice columns element failed first inputs kernel later loops maths number random range result "
        "results rows sources state step values".split()
    )
    failed = "failed"
    kept_bits = "range.kept_bits"
    complex_types = ("complex64", "complex128")
    complex_functions: ClassVar = {"*": "product"}

    def number(self, literal: str) -> str:
        return f"{self.value_type}({literal})"

    def cast(self, expression: str) -> str:
        return self.number(expression)

    def call(self, function: str, arguments: list[str]) -> str:
        return f"maths::{function}({', '.join(arguments)})"

    def draw(self, distribution: str, arguments: list[str]) -> str:
        return f"{distribution}<T>({', '.join(['random', *arguments])})"
