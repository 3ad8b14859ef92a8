"""From a record to what the templates of a device's kernels print: names, types, and expressions as plain text.

A device's target gives its `KernelPrinter`, which says how expressions are spelled there; what follows from a record is
the same for all devices.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from codegen.checking import operand_sort
from codegen.compute_types import compute_types, holds_for_complex
from codegen.expression import Ellipsis, Expression, Invoke, Subscript, Variable
from codegen.intrinsics import RANDOM, Sort
from codegen.kernel_printer import DIVIDING, KernelPrinter
from codegen.kinds import fold
from codegen.model import Argument, BaseType, Elementwise, Gather, Generator, Op, Reduction, ResultRule, Scan
from codegen.names import identifier

# Functions whose last bits depend on how a loop over them was compiled.
APPROXIMATE = frozenset(
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc "
    "lgamma pow normal".split()
)
_DIVIDING_OPERATORS = frozenset({"//", "%"})


@dataclass(frozen=True)
class Operand:
    """A tensor operand that an expression reads."""

    name: str
    position: int  # among the inputs of the kernel
    type: str  # "T", or "bool" for truth values


@dataclass(frozen=True)
class Setting:
    """A variable that holds a non-tensor argument, or whether one was given."""

    type: str  # "T", "bool", "int64_t", or "int64_t*" for a list
    name: str
    position: int  # of the argument
    given: bool = False  # whether it says that the argument was given

    @property
    def is_list(self) -> bool:
        return self.type.endswith("*")


@dataclass(frozen=True)
class Entry:
    """One struct template with its loops, and the rows that it gets in the table of kernels."""

    template: ClassVar[str]  # the kind of kernel, after which its templates are called

    struct: str  # "gelu_tanh_kernel"
    variant: str  # "gelu:tanh"
    comment: str
    types: tuple[str, ...]
    settings: tuple[Setting, ...]
    fails: bool = False
    approximate: bool = False

    @property
    def name(self) -> str:
        return self.struct.removesuffix("_kernel")

    @property
    def parameters(self) -> tuple[Setting, ...]:
        """All settings that a kernel without loops of its own for the choices takes."""
        return self.settings


@dataclass(frozen=True)
class ElementwiseEntry(Entry):
    template = "elementwise"
    operands: tuple[Operand, ...] = ()
    choices: tuple[Setting, ...] = ()  # whether arguments were given: each combination is a loop of its own
    result_type: str = "T"
    value: str = ""

    @property
    def parameters(self) -> tuple[Setting, ...]:
        return self.settings + self.choices

    @property
    def combinations(self) -> list[str]:
        """Template arguments for all choices, the first choice changing fastest."""
        values = itertools.product(("false", "true"), repeat=len(self.choices))
        return [", ".join(reversed(each)) for each in values]


@dataclass(frozen=True)
class CopyEntry(Entry):
    template = "copy"
    position: int = 0


@dataclass(frozen=True)
class GeneratorEntry(Entry):
    template = "generator"
    value: str = ""
    random: bool = False
    uses_index: bool = False
    uses_rows: bool = False


@dataclass(frozen=True)
class Part:
    """One part of the state of a fold."""

    name: str
    type: str
    identity: str
    pre: str
    combine: str


@dataclass(frozen=True)
class FoldEntry(Entry):
    parts: tuple[Part, ...] = ()
    post: tuple[str, ...] = ()
    result_types: tuple[str, ...] = ()
    uses_input: bool = False
    uses_index: bool = False
    uses_count: bool = False


class ReductionEntry(FoldEntry):
    template = "reduction"

    @property
    def rows_at_once(self) -> int:
        """How many rows are folded before the state is stored: what keeps a sum as fast as memory. GCC makes branches
        of several steps over a state of several parts or of truth values, which it does not vectorise."""
        return 4 if [part.type for part in self.parts] == ["T"] else 1


class ScanEntry(FoldEntry):
    template = "scan"


@dataclass(frozen=True)
class GatherEntry(Entry):
    template = "gather"
    dims_argument: int = 0
    index_input: int = -1
    index_everywhere: bool = False
    source: str = ""
    uses_place: bool = False
    uses_size: bool = False
    uses_ordinal: bool = False


# How the dialects of C call the compute types.
SPELLED = {"float32": "float", "float64": "double", "int32": "int32_t", "int64": "int64_t", "bool": "bool"}


def divides(expression: Expression) -> bool:
    """Whether an integer could be divided by zero."""
    operators = {getattr(node, "operator", None) for node in expression.root.walk()}
    return bool(expression.functions & DIVIDING or operators & _DIVIDING_OPERATORS)


def is_approximate(expression: Expression) -> bool:
    operators = {getattr(node, "operator", None) for node in expression.root.walk()}
    return bool(expression.functions & APPROXIMATE or "**" in operators)


def entries(op: Op, dialect: type[KernelPrinter]) -> Iterator[Entry]:
    """What is emitted for a record: one entry per value of the attribute that it matches on; none without kernels."""
    match op.kind:
        case Elementwise(expressions=expressions):
            for value, expression in expressions.items():
                yield _elementwise(op, dialect, value, expression)
        case Generator(expressions=expressions):
            for value, expression in expressions.items():
                yield _generator(op, dialect, value, expression)
        case Reduction() as kind:
            yield _fold(op, dialect, kind, ReductionEntry)
        case Scan() as kind:
            yield _fold(op, dialect, kind, ScanEntry)
        case Gather() as kind:
            yield _gather(op, dialect, kind)


def _elementwise(op: Op, dialect: type[KernelPrinter], value: str | None, expression: Expression) -> Entry:
    struct, variant = _names(op, value)
    operands = tuple(_operands(op, dialect, expression.names))
    root = expression.root
    may_be_complex = holds_for_complex(op)
    if isinstance(root, Variable) and operands and operands[0].type == "T":
        return CopyEntry(struct, variant, expression.text, (), (), position=operands[0].position)
    return ElementwiseEntry(
        struct,
        variant,
        expression.text,
        _compute_types(op) + (dialect.complex_types if may_be_complex else ()),
        tuple(_settings(op, dialect, [expression])),
        fails=divides(expression),
        approximate=is_approximate(expression),
        operands=operands,
        choices=tuple(_choices(op, [expression])),
        result_type=_result_type(op.dtype.results[0]),
        value=dialect(may_be_complex=may_be_complex).print(root),
    )


def _generator(op: Op, dialect: type[KernelPrinter], value: str | None, expression: Expression) -> GeneratorEntry:
    struct, variant = _names(op, value)
    return GeneratorEntry(
        struct,
        variant,
        expression.text,
        _compute_types(op),
        (*_settings(op, dialect, [expression]), *_choices(op, [expression])),
        fails=divides(expression),
        approximate=is_approximate(expression),
        value=dialect().print(expression.root),
        random=bool(expression.functions & RANDOM.keys()),
        uses_index="index" in expression.names,
        uses_rows=bool(expression.names & {"row", "column"}),
    )


def _fold(op: Op, dialect: type[KernelPrinter], kind: Reduction | Scan, make: type[FoldEntry]) -> FoldEntry:
    struct, variant = _names(op, None)
    printer = dialect()
    types = _state_types(op, kind)
    inner = [*kind.pre.values(), *kind.combine.values()]
    every = [*kind.state.values(), *inner, *kind.post]
    return make(
        struct,
        variant,
        "; ".join(f"{name} <- {pre.text}" for name, pre in kind.pre.items()),
        _compute_types(op),
        (*_settings(op, dialect, every), *_choices(op, every)),
        parts=tuple(
            Part(
                dialect.local(name),
                types[name],
                printer.print(kind.state[name].root),
                printer.print(kind.pre[name].root),
                printer.print(kind.combine[name].root),
            )
            for name in kind.state
        ),
        post=tuple(printer.print(expression.root) for expression in kind.post),
        result_types=tuple(map(_result_type, op.dtype.results)),
        uses_input=any("input" in expression.names for expression in inner),
        uses_index=any("index" in expression.names for expression in inner),
        uses_count=any("count" in expression.names for expression in kind.post),
    )


def _state_types(op: Op, kind: Reduction | Scan) -> Mapping[str, str]:
    """The C++ types of a state: positions, and what becomes an int64 result as it is, are int64."""
    spelled = {Sort.INTEGER: "int64_t", Sort.TRUTH: "bool"}
    types = {name: spelled.get(sort, "T") for name, sort in fold.state_sorts(op, kind).items()}
    for rule, post in zip(op.dtype.results, kind.post, strict=True):
        if rule is ResultRule.INT64 and isinstance(post.root, Variable) and post.root.name in types:
            types[post.root.name] = "int64_t"
    return types


def _gather(op: Op, dialect: type[KernelPrinter], kind: Gather) -> GatherEntry:
    struct, variant = _names(op, None)
    reads = [node for node in kind.source.root.walk() if isinstance(node, Subscript)]
    tensors = [a.name for a in op.signature.tensor_arguments]
    indices = [n for n in reads if isinstance(n.value, Variable) and n.value.name in tensors]
    index = indices[0].value.name if indices and isinstance(indices[0].value, Variable) else None
    return GatherEntry(
        struct,
        variant,
        kind.source.text,
        (),
        tuple(_gather_settings(op, dialect, kind.source)),
        dims_argument=[a.name for a in op.signature.arguments].index(kind.dims),
        index_input=tensors.index(index) if index else -1,
        index_everywhere=any(isinstance(node.position, Ellipsis) for node in indices),
        source=dialect(op).print(kind.source.root),
        uses_place=any(isinstance(n, Variable) and n.name == "i" for n in _outside_subscripts(kind.source, indices)),
        uses_size="size" in kind.source.names,
        uses_ordinal="k" in kind.source.names,
        fails=divides(kind.source),
    )


def _outside_subscripts(source: Expression, indices: list[Subscript]) -> Iterator[object]:
    inside = {id(node) for index in indices for node in index.walk()}
    return (node for node in source.root.walk() if id(node) not in inside)


def _gather_settings(op: Op, dialect: type[KernelPrinter], source: Expression) -> Iterator[Setting]:
    for position, argument in enumerate(op.signature.arguments):
        if argument.name in source.names and not argument.type.is_tensor:
            type_ = "bool" if argument.type.base is BaseType.BOOL else "int64_t"
            yield Setting(type_ + "*" * argument.type.is_list, dialect.local(argument.name), position)


def _names(op: Op, value: str | None) -> tuple[str, str]:
    suffix = f"_{value}" if value is not None else ""
    return f"{identifier(op.full_name)}{suffix}_kernel", op.full_name + (f":{value}" if value is not None else "")


def _operands(op: Op, dialect: type[KernelPrinter], names: frozenset[str]) -> Iterator[Operand]:
    for position, argument in enumerate(op.signature.tensor_arguments):
        if argument.name in names:
            is_truth = operand_sort(op, argument) is Sort.TRUTH
            yield Operand(dialect.local(argument.name), position, "bool" if is_truth else "T")


def _settings(op: Op, dialect: type[KernelPrinter], expressions: list[Expression]) -> Iterator[Setting]:
    names = frozenset().union(*(e.names for e in expressions))
    for position, argument in enumerate(op.signature.arguments):
        if argument.name in names and _is_value(argument):
            type_ = "bool" if argument.type.base is BaseType.BOOL else "T"
            yield Setting(type_, dialect.local(argument.name), position)


def _is_value(argument: Argument) -> bool:
    """Whether an expression reads it as a number; of a text or a list it can only ask whether it was given."""
    bases = (BaseType.STR, BaseType.DTYPE, BaseType.DEVICE)
    return not (argument.type.is_tensor or argument.type.is_list or argument.type.base in bases)


def _choices(op: Op, expressions: list[Expression]) -> Iterator[Setting]:
    """Whether the arguments that `given` asks for were given."""
    asked = {
        node.arguments[0].name
        for expression in expressions
        for node in expression.root.walk()
        if isinstance(node, Invoke) and node.function == "given" and isinstance(node.arguments[0], Variable)
    }
    for position, argument in enumerate(op.signature.arguments):
        if argument.name in asked:
            yield Setting("bool", f"{argument.name}_given", position, given=True)


def _result_type(rule: ResultRule) -> str:
    return {ResultRule.BOOL: "bool", ResultRule.INT64: "int64_t"}.get(rule, "T")


def _compute_types(op: Op) -> tuple[str, ...]:
    return tuple(SPELLED[name] for name in compute_types(op))
