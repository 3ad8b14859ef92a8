"""Prints programs over operators as C++ functions, in which every call of an operator goes through dispatch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

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
from codegen.intrinsics import BOOL, INTEGER, INTEGERS, TENSOR, TENSORS, TEXT
from codegen.model import Argument, BaseType, Op, Type
from codegen.names import fill
from codegen.printer import Printer, string
from codegen.program import (
    Assign,
    Check,
    For,
    If,
    OperatorCall,
    Present,
    Program,
    ResolvedComprehension,
    Return,
    Statement,
    TensorListOf,
)
from codegen.targets.runtime.functions import WIDTH, CppDefinition

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_STATUS = {
    "InvalidArgument": "OF_INVALID_ARGUMENT", "TypeMismatch": "OF_TYPE_MISMATCH", "ShapeError": "OF_SHAPE_ERROR",
    "DTypeError": "OF_DTYPE_ERROR", "IndexOutOfRange": "OF_INDEX_OUT_OF_RANGE", "DeviceError": "OF_DEVICE_ERROR",
    "OutOfMemory": "OF_OUT_OF_MEMORY", "Unsupported": "OF_UNSUPPORTED",
    "CommunicationError": "OF_COMMUNICATION_ERROR", "InternalError": "OF_INTERNAL_ERROR",
}  # fmt: skip
# How a body reads an argument: {type: (declaration, method of Body)}; all others stay values.
_ACCESS = {
    TENSOR: ("const Tensor&", "tensor"),
    TENSORS: ("const TensorSpan", "tensors"),
    INTEGER: ("const Integer", "integer"),
    INTEGERS: ("const Sizes", "integers"),
    BOOL: ("const bool", "boolean"),
    TEXT: ("const std::string_view", "string"),
}


class ProgramPrinter(Printer):
    """Prints the statements of one program. `constant_of` returns the constant that names a record."""

    def __init__(self, op: Op, program: Program, constant_of: Callable[[Op], str]) -> None:
        self.op = op
        self.program = program
        self.constant_of = constant_of
        self.moved: Sequence[Node] = ()  # the reads of a name from which its tensor is moved
        self.before: list[str] = []  # the lines that precede the statement: loops that fill lists
        self.lists = 0
        self.read: set[str] = set()  # the names that have been printed

    def statements(self, block: Sequence[Statement]) -> Iterator[str]:
        """Yields the lines of a block."""
        for statement in block:
            lines = list(self._statement(statement))
            yield from self.before
            self.before = []
            yield from lines

    def _statement(self, statement: Statement) -> Iterator[str]:
        match statement:
            case Assign(names=(name,), value=ResolvedComprehension() as value):
                self._fill(name, value)
            case Assign(names=(name,), value=value, types=(type_,)):
                yield f"{_declared(type_)} {name} = {self.print(value)};"
            case Assign(names=names, value=value):
                yield f"const auto [{', '.join(names)}] = {self.print(value)};"
            case Check(condition=condition, error=error, pieces=pieces):
                text = "".join(piece if isinstance(piece, str) else "{}" for piece in pieces)
                values = [self.print(piece) for piece in pieces if not isinstance(piece, str)]
                items = [_STATUS[error], string(text), *values]
                yield f"if ({self.negated(condition)})"
                yield "  " + fill("fail_with(", items, ");", WIDTH - 4).replace("\n", "\n  ")
            case If(condition=condition, then=then, otherwise=otherwise):
                yield f"if ({self.print(condition)}) {{"
                yield from ("  " + line for line in self._block(then))
                if otherwise:
                    yield "} else {"
                    yield from ("  " + line for line in self._block(otherwise))
                yield "}"
            case For(name=name, source=source, body=body, item=item):
                yield f"for ({_item(item)} {name} : {self.print(source)}) {{"
                yield from ("  " + line for line in self._block(body))
                yield "}"
            case Return(values=values):
                self.moved = [each for value in values for each in self._read_last(value)]
                yield fill("return body.give(", [self.print(value) for value in values], ");", WIDTH - 2)
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
        text = super().variable(node)
        if isinstance(node, Present) and (access := _ACCESS.get(_plain(node.type))):
            return f"body.{access[1]}({self.op.position(node.name)})"
        self.read.add(node.name)
        return f"std::move({text})" if any(node is moved for moved in self.moved) else text

    def constant(self, node: Constant) -> str:
        return "kNone" if node.value is None else super().constant(node)

    def conditional(self, node: Conditional) -> str | None:
        """Prints integers with their type, because both values of C++'s operator must have the same one."""

        def value(each: Node) -> str:
            text = self.print(each)
            return f"Integer({text})" if isinstance(each, Constant) and type(each.value) is int else text

        return f"({self.print(node.condition)} ? {value(node.then)} : {value(node.otherwise)})"

    def invoke(self, node: Invoke) -> str:
        if node.function == "given":
            (argument,) = node.arguments
            assert isinstance(argument, Variable)  # `resolve` has checked this
            return f"body.is_given({self.op.position(argument.name)})"
        return super().invoke(node)

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
        return f"body.{method}({', '.join([self.constant_of(node.op), *texts])})"

    def _fill(self, name: str, node: ResolvedComprehension) -> None:
        """Adds the declaration of a list, and the loop that fills it, before the statement."""
        source = f"{name}.reserve_for({self.print(node.source)})"
        outer, self.before = self.before, []
        value = self.print(node.value)
        body, self.before = [*self.before, f"{name}.push_back({value});"], outer
        self.before.append(f"{'TensorList' if node.makes_tensors else 'Integers'} {name};")
        self.before.append(f"for ({_item(node.item)} {node.name} : {source})" + " {" * (len(body) > 1))
        self.before += [f"  {line}" for line in body] + ["}"] * (len(body) > 1)


def _item(type_: Type | None) -> str:
    """Returns the declaration of an item of a list."""
    return "const Integer" if type_ and type_.is_integer else "const auto&"


def _declared(type_: Type) -> str:
    """Returns the declaration of a name for a value of a type."""
    if type_.base is BaseType.TENSOR:
        return "const TensorList" if type_.is_list else "const TensorRef"
    if type_.is_list:
        return "const Integers"
    return "const Integer" if type_.is_integer else "const auto"


def bodies(op: Op, programs: Sequence[Program], constant_of: Callable[[Op], str], name: str) -> CppDefinition:
    """Returns the function that runs one of several programs, which the value of the matched attribute selects."""
    printers = [ProgramPrinter(op, program, constant_of) for program in programs]
    blocks = [list(printer.statements(printer.program.statements)) for printer in printers]
    used = set().union(*(printer.read for printer in printers))
    lines = [_binding(argument, i) for i, argument in enumerate(op.signature.arguments) if argument.name in used]
    for position, block in enumerate(blocks[:-1]):
        lines += [f"if (body.variant() == {position}) {{", *(f"  {line}" for line in block), "}"]
    lines += blocks[-1]
    text = "\n".join([f"void {name}(ProgramBody& body) {{", *(f"  {line}" for line in _split(lines)), "}"])
    return CppDefinition(name, text, "body", tuple(called for program in programs for called in program.called))


def _split(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield from line.split("\n")


def _plain(type_: Type) -> Type:
    """Returns a type in which dims and sizes are ints."""
    return Type(BaseType.INT, type_.is_list, type_.optional) if type_.is_integer else type_


def _binding(argument: Argument, position: int) -> str:
    declared, method = _ACCESS.get(_plain(argument.type), ("const of_value&", "argument"))
    return f"{declared} {argument.name} = body.{method}({position});"
