"""Prints scalar expressions as C++ for one element: over the compute type T, with the functions of maths.h."""

from __future__ import annotations

from typing import ClassVar

from codegen.expression import Binary, Conditional, Invoke, Node
from codegen.intrinsics import BINARY, FUNCTIONS
from codegen.kernel_printer import KernelPrinter

# The functions with a version for vectors: computing them where they are not needed costs less than a branch.
_VECTORISED = frozenset(
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
    "sigmoid".split()
)


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

    def conditional(self, node: Conditional) -> str | None:
        """Prints a selection that computes both values, because loops with a call in a branch are not vectorised."""
        values = [*node.then.walk(), *node.otherwise.walk()]
        has_call = any(isinstance(each, Invoke) and each.function in _VECTORISED for each in values)
        if not has_call or any(map(_divides, values)):
            return None
        parts = (node.condition, node.then, node.otherwise)
        return self.call("select", [self.print(part) for part in parts])

    def number(self, literal: str) -> str:
        return f"{self.value_type}({literal})"

    def cast(self, expression: str) -> str:
        return self.number(expression)

    def call(self, function: str, arguments: list[str]) -> str:
        return f"maths::{function}({', '.join(arguments)})"

    def draw(self, distribution: str, arguments: list[str]) -> str:
        return f"{distribution}<T>({', '.join(['random', *arguments])})"


def _divides(node: Node) -> bool:
    """Returns whether a node reports divisions by zero, which must happen only where its value is needed."""
    match node:
        case Invoke(function=name):
            return name in FUNCTIONS and FUNCTIONS[name].divides
        case Binary(operator=operator):
            return BINARY[operator].divides
    return False
