"""The C++ functions that are generated from the list expressions and the composites of records."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codegen.checking import Scope, setting_sort
from codegen.expression import Constant, Invoke, Subscript, Variable
from codegen.intrinsics import SIZES, VIEW, Sort
from codegen.kinds.gather import Gather
from codegen.kinds.generator import Generator, size_scope
from codegen.kinds.view import View
from codegen.model import Argument, BaseType, Op
from codegen.names import fill
from codegen.printer import Printer, string

WIDTH = 120

_LAYOUT_PARTS = {
    "sizes": ("const Shape& sizes = input.sizes();", Sort.LIST),
    "strides": ("const Shape& strides = input.strides();", Sort.LIST),
    "base": ("const int64_t base = input.offset();", Sort.INTEGER),
    "rank": ("const int64_t rank = input.rank();", Sort.INTEGER),
}


@dataclass(frozen=True)
class CppDefinition:
    """The definition of a C++ function."""

    name: str
    text: str
    member: str  # the member of the kind's rule that points to it
    called: tuple[Op, ...] = ()  # the operators that it calls


class ListPrinter(Printer):
    """Prints list expressions, in which positions are checked at run time, and constants may become an of_scalar."""

    def subscript(self, node: Subscript) -> str:
        return f"at_dim({self.print(node.value)}, {self.print(node.position)})"

    def invoke(self, node: Invoke) -> str:
        intrinsic = SIZES.get(node.function) or VIEW.get(node.function)
        texts = []
        for position, argument in enumerate(node.arguments):
            takes_number = intrinsic is not None and intrinsic.parameter(position) is Sort.VALUE
            text = self.print(argument)
            texts.append(f"int_scalar({text})" if takes_number and isinstance(argument, Constant) else text)
        return self.function(node.function, texts)


def layout(op: Op, kind: View, name: str) -> CppDefinition:
    """Returns the stride map of a view."""
    variables = {part: sort for part, (_, sort) in _LAYOUT_PARTS.items()}
    variables |= {argument.name: setting_sort(argument) for argument in op.signature.arguments}
    expressions = [*kind.let.values(), kind.sizes, kind.strides, kind.offset]
    used = frozenset().union(*(expression.names for expression in expressions))
    lines = []
    if used & _LAYOUT_PARTS.keys():
        lines.append("const Tensor& input = call.tensor(0);")
    own = {argument.name for argument in op.signature.arguments}
    lines += [text for part, (text, _) in _LAYOUT_PARTS.items() if part in used and part not in own]
    lines += _bindings(op, used)
    printer = ListPrinter()
    for part, expression in kind.let.items():
        scope = Scope(variables, VIEW, number=Sort.INTEGER)
        variables[part] = scope.sort(expression.root)
        type_ = "Shape" if variables[part] is Sort.LIST else "int64_t"
        lines.append(f"const {type_} {part} = {printer.print(expression.root)};")
    parts = [printer.print(expression.root) for expression in (kind.sizes, kind.strides, kind.offset)]
    lines.append(fill("return {", parts, "};", WIDTH - 2))
    return _function("ViewLayout", name, lines, "layout")


def sizes(op: Op, kind: Generator, name: str) -> CppDefinition | None:
    """Returns the function for the shape of a generator's result, or None if an argument is the shape."""
    root = kind.sizes.root
    if isinstance(root, Variable):
        argument = op.signature.argument(root.name)
        if argument is not None and argument.type.is_list:
            return None
    value = ListPrinter().print(root)
    is_list = size_scope(op).sort(root) is Sort.LIST
    lines = [*_size_bindings(op, kind.sizes.names), f"return {value};" if is_list else f"return Shape{{{value}}};"]
    return _function("Shape", name, lines, "sizes")


def _size_bindings(op: Op, used: Iterable[str]) -> Iterator[str]:
    """Yields a local variable for each argument that is used; that of a tensor holds its sizes."""
    for position, argument in enumerate(op.signature.arguments):
        if argument.name in used:
            tensor = f"const Shape& {argument.name} = call.tensor({position}).sizes();"
            yield tensor if argument.type.is_tensor else _binding(argument, position)


def gather_size(op: Op, kind: Gather, name: str) -> CppDefinition | None:
    """Returns the function for the size of a gather's result along `dims`, or None if it is that of the input."""
    if kind.sizes is None:
        return None
    lines = [*_bindings(op, kind.sizes.names), f"return {ListPrinter().print(kind.sizes.root)};"]
    return _function("int64_t", name, lines, "size")


def _bindings(op: Op, used: Iterable[str]) -> Iterator[str]:
    """Yields a local variable for each argument that is used."""
    for position, argument in enumerate(op.signature.arguments):
        if argument.name in used:
            yield _binding(argument, position)


def _binding(argument: Argument, position: int) -> str:
    name, base = argument.name, argument.type.base
    if argument.type.is_tensor:
        return f"const Tensor& {name} = call.tensor({position});"
    if argument.type.optional:
        return f"const of_value& {name} = call.arguments[{position}];"
    if argument.type.is_list:
        return f"const Sizes {name} = call.integers({position});"
    if base in (BaseType.NUMBER, BaseType.FLOAT):
        return f"const of_scalar {name} = call.number({position});"
    if base is BaseType.BOOL:
        return f"const bool {name} = call.boolean({position});"
    return f"const int64_t {name} = call.integer({position});"


def _function(
    result: str,
    name: str,
    lines: list[str],
    member: str,
    parameter: str = "const Call& call",
    called: tuple[Op, ...] = (),
) -> CppDefinition:
    text = "\n".join([f"{result} {name}({parameter}) {{", *(textwrap.indent(line, "  ") for line in lines), "}"])
    return CppDefinition(name, text, member, called)


def literal(text: str, column: int) -> str:
    """Returns a string literal that begins at `column`, in several pieces if it does not fit on the line."""
    escaped = string(text)[1:-1]
    room = WIDTH - column - len('"",')
    if len(escaped) <= room:
        return f'"{escaped}"'
    lines = textwrap.wrap(escaped, room - 1, drop_whitespace=False, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * column).join(f'"{line}"' for line in lines)
