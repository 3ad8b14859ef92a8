"""Scalar expressions in the C that OpenCL and CUDA share: functions from maths.h, casts in place of constructors."""

from __future__ import annotations

from codegen.expression import Binary, Constant, Invoke, Member, Node, Subscript, Variable
from codegen.kernels import DIVIDING, Dialect
from codegen.model import Op
from codegen.printer import Printer

_AS_FUNCTIONS = {"<<": "shift_left", ">>": "shift_right"}
_ARITHMETIC = frozenset("+-*/&|^")
_TYPES = {"bool_type": "OF_IS_BOOL(T)", "float_type": "OF_IS_FLOATING(T)"}
_LIMITS = {"lowest": "of_lowest_like((T)0)", "highest": "of_highest_like((T)0)", "last_index": "OF_LAST_INDEX"}
_RANDOM = frozenset({"uniform", "normal", "below"})

# The names that the templates use for themselves, and the words that OpenCL adds to C.
_TAKEN = frozenset(
    "at base bytes coordinate count d data dim dtype end exists failed first fold gather indices input_at item items "
    "j kept_bits lane last later merge number offset op place positions random report rest result result_at results "
    "round S source space span split state step stride strides T tile turn u valid value values whole x y "
    "constant global half kernel local private read_only read_write sampler_t uchar uint ulong ushort "
    "write_only".split()
)


def local(name: str) -> str:
    """The variable that holds an argument or a part of a state."""
    return f"{name}_" if name in _TAKEN else name


class ScalarPrinter(Printer):
    """Prints expressions over values of type T."""

    value_type = "T"

    def constant(self, node: Constant) -> str:
        return super().constant(node) if isinstance(node.value, bool) else f"({self.value_type}){node.value!r}"

    def variable(self, node: Variable) -> str:
        return local(node.name)

    def member(self, node: Member) -> str:
        return f"{node.owner}_{local(node.name)}"

    def invoke(self, node: Invoke) -> str:
        name = node.function
        if name in _TYPES or name in _LIMITS:
            return _TYPES.get(name) or _LIMITS[name]
        if name == "given":
            (argument,) = node.arguments
            assert isinstance(argument, Variable)  # the intrinsic takes a name
            return f"{argument.name}_given"
        if name in _RANDOM:
            position, *others = node.arguments
            assert isinstance(position, Constant)
            kept = ["kept_bits"] if name == "uniform" else []
            arguments = ["random", str(position.value), *kept, *map(self._argument, others)]
            return f"of_{name} OF_OF(T)({', '.join(arguments)})"
        return self.function(name, [self._argument(argument) for argument in node.arguments])

    def _argument(self, node: Node) -> str:
        """An argument of an overloaded function: C computes in int what is narrower."""
        text = self.print(node)
        return f"({self.value_type})({text})" if isinstance(node, Binary) and node.operator in _ARITHMETIC else text

    def function(self, name: str, arguments: list[str]) -> str:
        failed = ["&failed"] if name in DIVIDING else []
        return f"of_{name}({', '.join(arguments + failed)})"

    def operator(self, operator: str, left: Node, right: Node) -> str | None:
        if operator not in _AS_FUNCTIONS:
            return None
        return self.function(_AS_FUNCTIONS[operator], [self.print(left), self.print(right)])


class IndexPrinter(ScalarPrinter):
    """Prints the index maps of gathers: everything is an int64."""

    value_type = "int64_t"

    def __init__(self, op: Op) -> None:
        self.op = op

    def subscript(self, node: Subscript) -> str:
        if isinstance(node.value, Variable):
            argument = self.op.signature.argument(node.value.name)
            if argument and argument.type.is_tensor:
                return "index"
        return super().subscript(node)


DIALECT = Dialect(ScalarPrinter(), IndexPrinter, local)
