"""Prints programs as C++ functions, in which every call of an operator goes through dispatch.

Programs for sizes and index maps are templates, so that they also compute with sizes that are not numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codegen import base_types
from codegen.answers import Gives, RulePrograms
from codegen.expression import (
    Binary,
    Conditional,
    Constant,
    Invoke,
    ListOf,
    Node,
    Subscript,
    Unary,
    Variable,
)
from codegen.model import Op, OperatorCall, called_in
from codegen.names import fill
from codegen.printer import Printer, string
from codegen.program import (
    Assign,
    Check,
    For,
    If,
    Present,
    Program,
    ResolvedComprehension,
    Return,
    Statement,
    TensorListOf,
    Write,
)
from codegen.program_functions import (
    BOOL,
    DEVICE,
    DTYPE,
    INTEGER,
    INTEGERS,
    MAPS,
    NUMBER,
    PROGRAM,
    REAL,
    TENSOR,
    TENSORS,
    TEXT,
)
from codegen.types import Argument, Type

WIDTH = 120
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_STATUS = {
    "InvalidArgument": "OF_INVALID_ARGUMENT", "TypeMismatch": "OF_TYPE_MISMATCH", "ShapeError": "OF_SHAPE_ERROR",
    "DTypeError": "OF_DTYPE_ERROR", "IndexOutOfRange": "OF_INDEX_OUT_OF_RANGE", "DeviceError": "OF_DEVICE_ERROR",
    "OutOfMemory": "OF_OUT_OF_MEMORY", "Unsupported": "OF_UNSUPPORTED",
    "CommunicationError": "OF_COMMUNICATION_ERROR", "InternalError": "OF_INTERNAL_ERROR", "FileError": "OF_FILE_ERROR",
}  # fmt: skip
# How a body reads an argument: {type: (declaration, method)}; all others stay values.
_ACCESS = {
    TENSOR: ("const Tensor&", "tensor"),
    TENSORS: ("const TensorSpan", "tensors"),
    INTEGER: ("const Integer", "integer"),
    INTEGERS: ("const Sizes", "integers"),
    BOOL: ("const bool", "boolean"),
    REAL: ("const double", "real"),
    TEXT: ("const std::string_view", "string"),
}
# The types of values whose names are declared before they have one; those of tensors depend on the form.
_VALUES = {
    TENSORS: "TensorList", INTEGER: "Integer", INTEGERS: "Integers", BOOL: "bool", REAL: "double",
    TEXT: "std::string_view", DTYPE: "of_dtype", DEVICE: "of_device", NUMBER: "of_scalar",
}  # fmt: skip
_SIZE_ACCESS = {**_ACCESS, NUMBER: ("const of_scalar", "number"), DTYPE: ("const of_dtype", "dtype")}
_FUNCTIONS = {**PROGRAM, **MAPS}


@dataclass(frozen=True)
class Form:
    """What depends on what the function of a program returns."""

    result: str
    template: bool = False  # whether it is a template over the type of integers
    give: tuple[str, str] = ("return ", ";")  # what precedes and what follows the results
    tensors: str = "tensor"  # the method that reads a tensor
    tensor: str = "TensorRef"  # the type of the name of a tensor

    def access(self, type_: Type) -> tuple[str, str] | None:
        """Returns how the function reads an argument: the declaration, and a method of its body."""
        found = (_SIZE_ACCESS if self.template else _ACCESS).get(type_.passed)
        if found and self.template and type_ == TENSOR:
            return "const auto&", self.tensors
        return ("const auto", found[1]) if found and self.template and type_.is_list else found


_FORMS = {
    Gives.RESULTS: Form("void", give=("return body.give(", ");")),
    Gives.MAP: Form("typename Body::Map", template=True, tensors="map", tensor="typename Body::Map"),
    Gives.SIZES: Form("typename Body::Shape", template=True, give=("return Shape(", ");")),
    Gives.LENGTH: Form("typename Body::Shape", template=True, give=("return Shape{", "};")),
    Gives.SIZE: Form("typename Body::Integer", template=True),
}


@dataclass(frozen=True)
class CppDefinition:
    """The definition of a C++ function."""

    name: str
    text: str
    members: tuple[str, ...]  # the members of the kind's rule that point to it
    is_template: bool
    called: tuple[Op, ...]  # the operators that it calls


class ProgramPrinter(Printer):
    """Prints the statements of one program. `constant_of` returns the constant that names a record."""

    def __init__(self, op: Op, program: Program, form: Form, constant_of: Callable[[Op], str]) -> None:
        self.op = op
        self.program = program
        self.form = form
        self.constant_of = constant_of
        self.moved: Sequence[Node] = ()  # the reads of a name from which its tensor is moved
        self.before: list[str] = []  # the lines that precede the statement: loops that fill lists
        self.lists = 0
        self.read: set[str] = set()  # the names that have been printed
        self.own: set[str] = set()  # the names of tensors that the program holds
        self.declared: set[str] = set()  # the names that are declared before they have a value

    def statements(self, block: Sequence[Statement]) -> Iterator[str]:
        """Yields the lines of a block."""
        for statement in block:
            lines = list(self._statement(statement))
            yield from self.before
            self.before = []
            yield from lines

    def _statement(self, statement: Statement) -> Iterator[str]:
        if isinstance(statement, Assign):
            self.own |= {name for name, type_ in zip(statement.names, statement.types, strict=True) if type_ == TENSOR}
        match statement:
            case Assign(names=(name,), value=value, replaces=True):
                yield f"{local(name)} = {self._value(name, value)};"
            case Assign(names=names, value=value, replaces=True):
                yield from (f"TensorRef {local(name)};" for name in names if name not in self.declared)
                yield f"assign({', '.join([self.print(value), *map(local, names)])});"
            case Assign(names=(name,), value=ResolvedComprehension() as value):
                self._fill(name, value)
            case Assign(names=(name,), value=value, types=(type_,)):
                declared = f"{self._declared(name, type_)} {local(name)}"
                line = f"{declared} = {self._value(name, value)};"
                if len(line) > WIDTH - 4 and isinstance(value, Conditional):
                    line = "{} = ({}\n    ? {}\n    : {});".format(declared, *self._parts(value))
                yield line
            case Assign(names=names, value=value):
                yield f"const auto [{', '.join(map(local, names))}] = {self.print(value)};"
            case Check(condition=condition, error=error, pieces=pieces):
                text = "".join(piece if isinstance(piece, str) else "{}" for piece in pieces)
                values = [self.print(piece) for piece in pieces if not isinstance(piece, str)]
                items = [_STATUS[error], string(text), *values]
                yield f"if ({self.negated(condition)})"
                yield "  " + fill("fail_with(", items, ");", WIDTH - 4).replace("\n", "\n  ")
            case If(condition=condition, then=then, otherwise=otherwise, defines=defines):
                self.declared |= dict(defines).keys()
                for name, type_ in defines:
                    yield f"{self.form.tensor if type_ == TENSOR else _VALUES[type_]} {local(name)};"
                yield f"if ({self.print(condition)}) {{"
                yield from ("  " + line for line in self._block(then))
                if otherwise:
                    yield "} else {"
                    yield from ("  " + line for line in self._block(otherwise))
                yield "}"
            case For(name=name, source=source, body=body, item=item):
                unused = "" if name in self.program.names else "[[maybe_unused]] "
                yield f"for ({unused}{_item(item)} {local(name)} : {self.print(source)}) {{"
                yield from ("  " + line for line in self._block(body))
                yield "}"
            case Write(call=call):
                yield f"{self.print(call)};"
            case Return(values=values):
                if not self.form.template:
                    self.moved = [each for value in values for each in self._read_last(value)]
                before, after = self.form.give
                yield fill(before, [self.print(value) for value in values], after, WIDTH - 2)
                self.moved = ()

    def _block(self, block: Sequence[Statement]) -> list[str]:
        """Returns the lines of an inner block; what precedes its statements is inside of it."""
        before, self.before = self.before, []
        lines = list(self.statements(block))
        self.before = before
        return lines

    def _read_last(self, value: Node) -> list[Variable]:
        """Returns the tensors of the program that the outermost call of the last statement takes once.

        They are read after all calls inside of it have been made.
        """
        if not isinstance(value, OperatorCall):
            return [value] if isinstance(value, Variable) and value.name in self.program.assigned else []
        names = [node for node in value.values if isinstance(node, Variable) and node.name in self.program.assigned]
        return [node for node in names if [other.name for other in names].count(node.name) == 1]

    def _declared(self, name: str, type_: Type) -> str:
        """Returns the declaration of a name for a value of a type."""
        const = "" if name in self.program.replaced else "const "
        if type_.base is base_types.TENSOR and self.form.tensors == "tensor":
            return const + ("TensorList" if type_.is_list else "TensorRef")
        if type_.is_list:
            return f"{const}Integers"
        return const + ("Integer" if type_.is_integer else "auto")

    def _value(self, name: str, value: Node) -> str:
        """Prints a value of a name; an argument whose name gets several values is shared."""
        if isinstance(value, TensorListOf):
            return f"owned_list({', '.join(map(self.print, value.members))})"
        text = self.print(value)
        is_shared = name in self.program.replaced and isinstance(value, Variable) and value.name in self._tensors
        return f"share({text})" if is_shared and self.form.tensors == "tensor" else text

    @property
    def _tensors(self) -> set[str]:
        return {argument.name for argument in self.op.signature.tensor_arguments}

    def negated(self, condition: Node) -> str:
        """Prints the negation of a condition."""
        match condition:
            case Binary(operator=operator) if operator in _OPPOSITE:
                return self.print(Binary(_OPPOSITE[operator], condition.left, condition.right))
            case Unary(operator="not", operand=operand):
                return self.print(operand)
        return self.print(Unary("not", condition))

    # -- expressions ------------------------------------------------------------------------------------------------

    def variable(self, node: Variable) -> str:
        text = local(node.name)
        if isinstance(node, Present) and (access := self.form.access(node.type)):
            return f"body.{access[1]}({self.op.position(node.name)})"
        self.read.add(node.name)
        return f"std::move({text})" if any(node is moved for moved in self.moved) else text

    def constant(self, node: Constant) -> str:
        return "kNone" if node.value is None else super().constant(node)

    def conditional(self, node: Conditional) -> str | None:
        """Prints integers with their type, because both values of C++'s operator must have the same one."""

        return "({} ? {} : {})".format(*self._parts(node))

    def _parts(self, node: Conditional) -> tuple[str, str, str]:
        """Prints the condition of a conditional, and both values."""

        def value(each: Node) -> str:
            text = self.print(each)
            return f"Integer({text})" if isinstance(each, Constant) and type(each.value) is int else text

        return self.print(node.condition), value(node.then), value(node.otherwise)

    def invoke(self, node: Invoke) -> str:
        if node.function == "given":
            (argument,) = node.arguments
            assert isinstance(argument, Variable)  # `resolve` has checked this
            return f"body.is_given({self.op.position(argument.name)})"
        parameters = _FUNCTIONS[node.function].parameters if node.function in _FUNCTIONS else ()
        texts = [self.print(argument) for argument in node.arguments]
        for position, (argument, type_) in enumerate(zip(node.arguments, parameters, strict=False)):
            if type_ == NUMBER and isinstance(argument, Constant):
                texts[position] = f"int_scalar({texts[position]})"
            if type_ == TENSOR and self._holds(argument):
                texts[position] = f"*{texts[position]}"
        return self.function(node.function, texts)

    def _holds(self, node: Node) -> bool:
        """Returns whether a value is printed as a TensorRef, rather than as a Tensor."""
        is_own = isinstance(node, Variable) and node.name in self.own
        return self.form.tensors == "tensor" and (is_own or isinstance(node, OperatorCall))

    def other(self, node: Node) -> str:
        match node:
            case OperatorCall():
                return self._call(node)
            case ResolvedComprehension():
                self.lists += 1
                name = f"list{self.lists}" if self.lists > 1 else "list"
                self._fill(name, node)
                return f"std::move({name})"
        return super().other(node)

    def list_of(self, node: ListOf) -> str:
        members = ", ".join(map(self.print, node.members))
        return f"tensor_list({members})" if isinstance(node, TensorListOf) else f"integer_list({members})"

    def subscript(self, node: Subscript) -> str:
        return f"item({self.print(node.value)}, {self.print(node.position)})"

    def _call(self, node: OperatorCall) -> str:
        texts = ["kDefault" if value is None else self.print(value) for value in node.values]
        while texts and texts[-1] == "kDefault":
            texts.pop()
        results = node.op.signature.results
        method = "call_list" if results[0].type.is_list else f"call<{len(results)}>" if len(results) > 1 else "call"
        if node.in_place and node.op.replaced:
            method = f"call_in_place<{node.op.position(node.op.replaced.name)}>"
        if node.out:
            method = "call_into"
            texts.insert(0, f"tensor_list({', '.join(map(self.print, node.out))})")
        return f"body.{method}({', '.join([self.constant_of(node.op), *texts])})"

    def _fill(self, name: str, node: ResolvedComprehension) -> None:
        """Adds the declaration of a list, and the loop that fills it, before the statement."""
        name = local(name)
        source = f"{name}.reserve_for({self.print(node.source)})"
        outer, self.before = self.before, []
        value = self.print(node.value)
        condition = f"if ({self.print(node.condition)}) " if node.condition else ""
        body, self.before = [*self.before, f"{condition}{name}.push_back({value});"], outer
        self.before.append(f"{'TensorList' if node.makes_tensors else 'Integers'} {name};")
        is_read = any(isinstance(each, Variable) and each.name == node.name for each in node.walk())
        item = "[[maybe_unused]] " * (not is_read) + _item(node.item)
        self.before.append(f"for ({item} {local(node.name)} : {source})" + " {" * (len(body) > 1))
        self.before += [f"  {line}" for line in body] + ["}"] * (len(body) > 1)


def _item(type_: Type | None) -> str:
    """Returns the declaration of an item of a list."""
    return "const Integer" if type_ and type_.is_integer else "const auto&"


def local(name: str) -> str:
    """Returns the name of a variable, which must not hide a function."""
    return f"{name}_" if name in _FUNCTIONS else name


def function_of(op: Op, found: RulePrograms, constant_of: Callable[[Op], str], name: str) -> CppDefinition:
    """Returns the function that runs one of several programs, which the value of the matched attribute selects."""
    form = _FORMS[found.gives]
    printers = [ProgramPrinter(op, program, form, constant_of) for program in found.programs]
    blocks = [list(printer.statements(printer.program.statements)) for printer in printers]
    used = set().union(*(printer.read for printer in printers))
    lines = [_binding(argument, i, form) for i, argument in enumerate(op.signature.arguments) if argument.name in used]
    for position, block in enumerate(blocks[:-1]):
        lines += [f"if (body.variant() == {position}) {{", *(f"  {line}" for line in block), "}"]
    lines += blocks[-1]
    head = [f"OF_COMPACT {form.result} {name}(ProgramBody& body) {{"]
    if form.template:
        text = "\n".join(lines)
        types = [each for each in ("Integer", "Integers", "Shape") if re.search(rf"\b{each}\b", text)]
        lines = [*(f"using {each} = typename Body::{each};" for each in types), *lines]
        head = ["template <class Body>", f"{form.result} {name}(const Body& body) {{"]
    text = "\n".join([*head, *(f"  {line}" for line in _split(lines)), "}"])
    ops = tuple(each for program in found.programs for each in called_in(program))
    return CppDefinition(name, text, found.members, form.template, ops)


def _split(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield from line.split("\n")


def _binding(argument: Argument, position: int, form: Form) -> str:
    declared, method = form.access(argument.type) or ("const of_value&", "argument")
    return f"{declared} {local(argument.name)} = body.{method}({position});"
