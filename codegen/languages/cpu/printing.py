"""Scalar expressions as C++ for one element: templates over the compute type T, functions from maths.h."""

from __future__ import annotations

from codegen.expression import Binary, Constant, Invoke, Member, Node, Subscript, Variable
from codegen.kernels import DIVIDING
from codegen.model import Op
from codegen.printer import Printer

# Operators that C++ has in another form: its shifts are undefined for some operands, its && and || are branches.
_AS_FUNCTIONS = {"<<": "shift_left", ">>": "shift_right", "and": "both", "or": "either"}
_ARITHMETIC = frozenset("+-*/&|^")
_TYPES = {"bool_type": "is_same_type<T, bool>", "float_type": "is_floating<T>"}
_LIMITS = {"lowest": "lowest<T>", "highest": "highest<T>"}
_RANDOM = frozenset({"uniform", "normal", "below"})

# The names that the templates use for themselves.
_TAKEN = frozenset(
    "arguments choice element failed first inputs kernel lane lanes later loops maths number random range result "
    "results rows sources state step values".split()
)


def local(name: str) -> str:
    """The name of the C++ variable that holds an argument or a part of a state."""
    return f"{name}_" if name in _TAKEN else name


class ScalarPrinter(Printer):
    """Prints expressions over values of type T."""

    value_type = "T"

    def constant(self, node: Constant) -> str:
        return super().constant(node) if isinstance(node.value, bool) else f"T({node.value!r})"

    def variable(self, node: Variable) -> str:
        return local(node.name)

    def member(self, node: Member) -> str:
        return f"{node.owner}_{local(node.name)}"

    def invoke(self, node: Invoke) -> str:
        name = node.function
        if name in _TYPES:
            return _TYPES[name]
        if name == "given":
            (argument,) = node.arguments
            assert isinstance(argument, Variable)  # the intrinsic takes a name
            return f"{argument.name}_given"
        if name in _RANDOM:
            position, *others = node.arguments
            assert isinstance(position, Constant)
            kept = ["range.kept_bits"] if name == "uniform" else []
            return f"{name}<T>({', '.join(['random', str(position.value), *kept, *map(self._argument, others)])})"
        return self.function(name, [self._argument(argument) for argument in node.arguments])

    def _argument(self, node: Node) -> str:
        """An argument of a function template: C++ computes in int what is narrower."""
        text = self.print(node)
        return f"{self.value_type}({text})" if isinstance(node, Binary) and node.operator in _ARITHMETIC else text

    def function(self, name: str, arguments: list[str]) -> str:
        failed = ["failed"] if name in DIVIDING else []
        return f"maths::{_LIMITS.get(name, name)}({', '.join(arguments + failed)})"

    def operator(self, operator: str, left: Node, right: Node) -> str | None:
        if operator not in _AS_FUNCTIONS:
            return None
        return self.function(_AS_FUNCTIONS[operator], [self.print(left), self.print(right)])


class IndexPrinter(ScalarPrinter):
    """Prints the index maps of gathers: everything is an int64."""

    value_type = "int64_t"

    def __init__(self, op: Op) -> None:
        self.op = op

    def constant(self, node: Constant) -> str:
        return f"int64_t{{{node.value!r}}}"

    def subscript(self, node: Subscript) -> str:
        if isinstance(node.value, Variable):
            argument = self.op.signature.argument(node.value.name)
            if argument and argument.type.is_tensor:
                return "index"
        return super().subscript(node)
