"""Prints expressions in the syntax that C, C++, CUDA and OpenCL share.

A target subclasses `Printer` and overrides the methods whose syntax differs: constants, variables, calls and operators.
Parentheses are printed only if C's precedence requires them, or if compilers warn without them.
"""

from __future__ import annotations

import math

from codegen.expression import (
    LOGICAL,
    Binary,
    Conditional,
    Constant,
    Ellipsis,
    Invoke,
    ListOf,
    Member,
    Node,
    Subscript,
    Unary,
    Variable,
)

# The reserved words of C and C++; compilers of both languages read the C headers.
RESERVED = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
    xor_eq""".split()
)

# {operator: (C's operator, C's precedence)}; operators with a larger number bind tighter.
_OPERATORS: dict[str, tuple[str, int]] = {
    "or": ("||", 1), "and": ("&&", 2), "|": ("|", 3), "^": ("^", 4), "&": ("&", 5), "==": ("==", 6), "!=": ("!=", 6),
    "<": ("<", 7), "<=": ("<=", 7), ">": (">", 7), ">=": (">=", 7), "<<": ("<<", 8), ">>": (">>", 8),
    "+": ("+", 9), "-": ("-", 9), "*": ("*", 10), "/": ("/", 10),
}  # fmt: skip
# Operators that C lacks, or that mean something else there; they are printed as calls.
AS_FUNCTIONS = {"**": "pow", "//": "floordiv", "%": "remainder"}
_UNARY = {"-": "-", "+": "+", "~": "~", "not": "!"}
_CONDITIONAL, _PREFIX, _ATOM = 0, 11, 12
# Mixing these without parentheses is valid C, but compilers warn about it and people misread it.
_CLARIFIED = frozenset({"or", "and", "|", "^", "&", "<<", ">>"})


class Printer:
    """Prints expressions in C. Subclasses override the methods below `print`, each of which prints one type of node."""

    def print(self, node: Node) -> str:
        """Returns the text of an expression, without parentheses around it."""
        return self._print(node)[0]

    # -- hooks ------------------------------------------------------------------------------------------------------

    def constant(self, node: Constant) -> str:
        """Prints a number, `true` or `false`, a string in double quotes, or the null pointer for None."""
        if node.value is None:
            return "nullptr"
        if isinstance(node.value, bool):
            return "true" if node.value else "false"
        if isinstance(node.value, str):
            return string(node.value)
        return real(node.value)

    def variable(self, node: Variable) -> str:
        """Prints a name."""
        return node.name

    def member(self, node: Member) -> str:
        """Prints a part of a state."""
        return f"{node.owner}.{node.name}"

    def invoke(self, node: Invoke) -> str:
        """Prints a call and its arguments."""
        return self.function(node.function, [self.print(argument) for argument in node.arguments])

    def function(self, name: str, arguments: list[str]) -> str:
        """Prints a call, with printed arguments, of an intrinsic or of a function for an operator that C lacks."""
        return f"{name}({', '.join(arguments)})"

    def operator(self, operator: str, left: Node, right: Node) -> str | None:
        """Prints a binary operator in the target's own syntax, which must bind as tightly as a call; None: as in C."""
        return None

    def subscript(self, node: Subscript) -> str:
        """Prints `list[position]`."""
        return f"{self._atom(node.value)}[{self.print(node.position)}]"

    def list_of(self, node: ListOf) -> str:
        """Prints a braced list."""
        return "{" + ", ".join(self.print(member) for member in node.members) + "}"

    def conditional(self, node: Conditional) -> str | None:
        """Prints a conditional in the target's own syntax, which must bind as tightly as a call; None: `c ? a : b`."""
        return None

    def other(self, node: Node) -> str:
        """Prints a node that only programs have; the text must bind as tightly as a call."""
        raise TypeError(f"not a node of an expression: {node!r}")

    # -- precedence -------------------------------------------------------------------------------------------------

    def _print(self, node: Node) -> tuple[str, int]:
        """Returns the text of a node and its precedence."""
        match node:
            case Constant():
                text = self.constant(node)
                return text, _PREFIX if text.startswith("-") else _ATOM
            case Variable():
                return self.variable(node), _ATOM
            case Member():
                return self.member(node), _ATOM
            case Invoke():
                return self.invoke(node), _ATOM
            case Subscript():
                return self.subscript(node), _ATOM
            case ListOf():
                return self.list_of(node), _ATOM
            case Unary(operator=operator, operand=operand):
                text = self._at_least(operand, _PREFIX)
                spaced = "(" + text + ")" if text[0] == operator else text
                return _UNARY[operator] + spaced, _PREFIX
            case Binary():
                return self._binary(node)
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                own = self.conditional(node)
                if own is not None:
                    return own, _ATOM
                parts = self._at_least(condition, 1), self._at_least(then, 1), self._at_least(otherwise, _CONDITIONAL)
                return "{} ? {} : {}".format(*parts), _CONDITIONAL
            case Ellipsis():
                raise ValueError("an ellipsis cannot be printed: override subscript()")
        return self.other(node), _ATOM

    def _binary(self, node: Binary) -> tuple[str, int]:
        own = self.operator(node.operator, node.left, node.right)
        if own is not None:
            return own, _ATOM
        if node.operator in AS_FUNCTIONS:
            return self.function(AS_FUNCTIONS[node.operator], [self.print(node.left), self.print(node.right)]), _ATOM
        spelling, level = _OPERATORS[node.operator]
        left = self._operand(node, node.left, level)
        right = self._operand(node, node.right, level + 1)
        return f"{left} {spelling} {right}", level

    def _operand(self, owner: Binary, operand: Node, level: int) -> str:
        unclear = (
            owner.operator in _CLARIFIED
            and isinstance(operand, Binary)
            and operand.operator != owner.operator
            and (owner.operator not in LOGICAL or operand.operator in _CLARIFIED)
        )
        return self._at_least(operand, _ATOM if unclear else level)

    def _at_least(self, node: Node, level: int) -> str:
        text, own = self._print(node)
        return text if own >= level else f"({text})"

    def _atom(self, node: Node) -> str:
        return self._at_least(node, _ATOM)


def boolean(value: bool) -> str:
    """Returns a boolean literal of C++."""
    return "true" if value else "false"


def real(value: float) -> str:
    """Returns a number literal of C or C++; one that is not finite requires <cmath>."""
    if math.isfinite(value):
        return repr(value)
    return "NAN" if math.isnan(value) else "-HUGE_VAL" if value < 0 else "HUGE_VAL"


def string(text: str | None) -> str:
    """Returns a string literal of C or C++, or the null pointer of C++ for None."""
    if text is None:
        return "nullptr"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if each >= " " else f"\\{ord(each):03o}" for each in escaped) + '"'
