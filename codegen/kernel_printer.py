"""Prints the expressions of kernels: scalar code over a compute type T, and the index maps of gathers over int64.

The dialect of a device subclasses `KernelPrinter`, and defines the syntax of literals, casts and calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from codegen.expression import Binary, Constant, Invoke, Member, Node, Subscript, Variable
from codegen.intrinsics import FUNCTIONS, RANDOM
from codegen.printer import Printer
from codegen.types import Signature

_ARITHMETIC = frozenset("+-*/&|^")


class KernelPrinter(Printer, ABC):
    """The dialect of C in which a device's kernels are written."""

    as_functions: ClassVar[Mapping[str, str]]  # {operator: function} for operators that are printed as calls
    words: ClassVar[Mapping[str, str]]  # {intrinsic: text} for intrinsics without arguments
    taken: ClassVar[frozenset[str]]  # names that the templates use for their own variables
    failed: ClassVar[str]  # the argument that points to the flag for a division by zero
    kept_bits: ClassVar[str]  # the expression for the number of bits of a uniform number that the result's dtype keeps
    complex_types: ClassVar[tuple[str, ...]] = ()  # the complex types in which kernels can compute
    complex_functions: ClassVar[Mapping[str, str]] = {}  # as as_functions, for kernels in which T may be complex

    def __init__(self, gather: Signature | None = None, *, may_be_complex: bool = False) -> None:
        """Prints expressions over the compute type T, or the index map of a gather if its signature is given."""
        self.gather = gather
        self.value_type = "int64_t" if gather else "T"
        self.functions = {**self.as_functions, **(self.complex_functions if may_be_complex else {})}

    @abstractmethod
    def number(self, literal: str) -> str:
        """Returns a literal of the value type."""

    @abstractmethod
    def cast(self, expression: str) -> str:
        """Returns an expression that converts another one to the value type."""

    @abstractmethod
    def call(self, function: str, arguments: list[str]) -> str:
        """Returns a call of a function of maths.h."""

    @abstractmethod
    def draw(self, distribution: str, arguments: list[str]) -> str:
        """Returns a call of a function of maths.h that draws random numbers."""

    @classmethod
    def local(cls, name: str) -> str:
        """Returns the name of the variable that holds an argument or a part of a state."""
        return f"{name}_" if name in cls.taken else name

    def constant(self, node: Constant) -> str:
        return super().constant(node) if isinstance(node.value, bool) else self.number(repr(node.value))

    def variable(self, node: Variable) -> str:
        return self.local(node.name)

    def member(self, node: Member) -> str:
        return f"{node.owner}_{self.local(node.name)}"

    def invoke(self, node: Invoke) -> str:
        name = node.function
        if name in self.words:
            return self.words[name]
        if name == "given":
            (argument,) = node.arguments
            assert isinstance(argument, Variable)  # the intrinsic takes a name
            return f"{argument.name}_given"
        if name in RANDOM:
            position, *others = node.arguments
            assert isinstance(position, Constant)
            kept = [self.kept_bits] if name == "uniform" else []
            return self.draw(name, [str(position.value), *kept, *map(self._argument, others)])
        return self.function(name, [self._argument(argument) for argument in node.arguments])

    def function(self, name: str, arguments: list[str]) -> str:
        return self.call(name, arguments + [self.failed] * (name in FUNCTIONS and FUNCTIONS[name].divides))

    def operator(self, operator: str, left: Node, right: Node) -> str | None:
        if operator not in self.functions:
            return None
        return self.function(self.functions[operator], [self.print(left), self.print(right)])

    def subscript(self, node: Subscript) -> str:
        if self.gather and isinstance(node.value, Variable):
            argument = self.gather.argument(node.value.name)
            if argument and argument.type.is_tensor:
                return "index"
        return super().subscript(node)

    def _argument(self, node: Node) -> str:
        """Returns an argument of an overloaded function, with a cast if C may have promoted it to int."""
        text = self.print(node)
        return self.cast(text) if isinstance(node, Binary) and node.operator in _ARITHMETIC else text
