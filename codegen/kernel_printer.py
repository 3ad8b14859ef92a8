"""Prints the expressions of kernels: scalar code over a compute type T, and the index maps of gathers over int64.

The dialect of a device subclasses `KernelPrinter`, and defines the syntax of literals, casts and calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar

from codegen.expression import Binary, Constant, Invoke, Member, Node, Subscript, Variable
from codegen.intrinsics import BINARY, FUNCTIONS, RANDOM, Sort
from codegen.printer import AS_FUNCTIONS, Printer
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

    def __init__(
        self,
        sort: Callable[[Node], Sort] | None = None,
        gather: Signature | None = None,
        *,
        may_be_complex: bool = False,
    ) -> None:
        """Prints expressions over the compute type T, or the index map of a gather if its signature is given.

        `sort` tells the sorts of the parts of expressions over T.
        """
        self.sort = sort
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
            parameters = RANDOM[name].parameters[1:]
            return self.draw(name, [str(position.value), *kept, *map(self._argument, others, parameters)])
        parameters = FUNCTIONS[name].parameters
        return self.function(name, list(map(self._argument, node.arguments, parameters)))

    def function(self, name: str, arguments: list[str]) -> str:
        return self.call(name, arguments + [self.failed] * (name in FUNCTIONS and FUNCTIONS[name].divides))

    def operator(self, operator: str, left: Node, right: Node) -> str | None:
        name = self.functions.get(operator) or AS_FUNCTIONS.get(operator)
        if name is None:
            return None
        operands = zip((left, right), BINARY[operator].parameters, strict=True)
        return self.function(name, [self._converted(each, wanted) for each, wanted in operands])

    def subscript(self, node: Subscript) -> str:
        if self.gather and isinstance(node.value, Variable):
            argument = self.gather.argument(node.value.name)
            if argument and argument.type.is_tensor:
                return "index"
        return super().subscript(node)

    def _argument(self, node: Node, wanted: Sort) -> str:
        """Returns an argument of an overloaded function, with a cast if C may have promoted it to int."""
        if isinstance(node, Binary) and node.operator in _ARITHMETIC:
            return self.cast(self.print(node))
        return self._converted(node, wanted)

    def _converted(self, node: Node, wanted: Sort) -> str:
        """Returns an argument of a function, all of whose numbers have the compute type."""
        text = self.print(node)
        needs_cast = self.sort and wanted is Sort.VALUE and self.sort(node) is not Sort.VALUE
        return self.cast(text) if needs_cast else text
