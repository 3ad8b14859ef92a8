"""Derives from a record what the templates of kernels print.

A device's target passes its `KernelPrinter`, which prints expressions in the dialect of the device. Everything else is
the same for all devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from codegen import base_types
from codegen.checking import Scope, operand_sort
from codegen.dtypes import ResultRule
from codegen.expression import Ellipsis, Expression, Invoke, Subscript, Variable
from codegen.intrinsics import RANDOM, Sort
from codegen.kernel_printer import KernelPrinter
from codegen.kernels import (
    SPELLED,
    CopyKernel,
    ElementwiseKernel,
    ElementwiseResult,
    FoldKernel,
    GatherKernel,
    GeneratorKernel,
    Kernel,
    Operand,
    Part,
    Setting,
)
from codegen.kinds.fold_parts import Parts
from codegen.model import Op
from codegen.names import identifier
from codegen.types import Argument

Computed = tuple[Op | None, Kernel]  # a kernel, and the operator whose table it is in


def computed(ops: Iterable[Op], dialect: type[KernelPrinter]) -> Iterator[Computed]:
    """Yields the kernels of operators."""
    for op in ops:
        for kernel in op.kind.kernels(op, dialect):
            yield op, kernel


def divides(expression: Expression) -> bool:
    """Returns whether an expression can divide an integer by zero."""
    return any(each.divides for each in expression.intrinsics)


def is_approximate(expression: Expression) -> bool:
    """Returns whether an expression calls a function that is approximate."""
    return any(each.is_approximate for each in expression.intrinsics)


def elementwise(
    op: Op,
    dialect: type[KernelPrinter],
    value: str | None,
    expressions: tuple[Expression, ...],
    scope: Scope,
    comment: str,
) -> Kernel:
    """Returns the kernel of one branch of an elementwise operator, with an expression per result."""
    struct, variant = _names(op, value)
    names = frozenset().union(*(expression.names for expression in expressions))
    operands = tuple(_operands(op, dialect, names))
    may_be_complex = op.kind.holds_for_complex(op)
    is_copy = len(expressions) == 1 and isinstance(expressions[0].root, Variable)
    if is_copy and operands and operands[0].type == "T":
        return CopyKernel(struct, variant, comment, (), (), position=operands[0].position)
    printer = dialect(scope.sort, may_be_complex=may_be_complex)
    return ElementwiseKernel(
        struct,
        variant,
        comment,
        _compute_types(op) + (dialect.complex_types if may_be_complex else ()),
        tuple(_settings(op, dialect, expressions)),
        fails=any(map(divides, expressions)),
        approximate=any(map(is_approximate, expressions)),
        operands=operands,
        choices=tuple(_choices(op, expressions)),
        results=tuple(
            ElementwiseResult(f"result_{i}", _result_type(rule), printer.print(expression.root))
            for i, (rule, expression) in enumerate(zip(op.dtype.results, expressions, strict=True))
        ),
    )


def generator(
    op: Op, dialect: type[KernelPrinter], value: str | None, expression: Expression, scope: Scope
) -> GeneratorKernel:
    """Returns the kernel of one expression of a generator."""
    struct, variant = _names(op, value)
    return GeneratorKernel(
        struct,
        variant,
        expression.text,
        _compute_types(op),
        (*_settings(op, dialect, [expression]), *_choices(op, [expression])),
        fails=divides(expression),
        approximate=is_approximate(expression),
        value=dialect(scope.sort).print(expression.root),
        random=bool(expression.functions & RANDOM.keys()),
        uses_index="index" in expression.names,
        uses_rows=bool(expression.names & {"row", "column"}),
    )


def fold(
    op: Op,
    dialect: type[KernelPrinter],
    parts: Parts,
    sorts: Mapping[str, Sort],
    scope: Scope,
    make: type[FoldKernel],
) -> FoldKernel:
    """Returns the kernel of a fold whose parts have these sorts."""
    struct, variant = _names(op, None)
    printer = dialect(scope.sort)
    types = _state_types(op, parts, sorts)
    inner = [*parts.pre.values(), *parts.combine.values()]
    of_parts = [*parts.state.values(), *inner]
    every = [*of_parts, *parts.post]
    return make(
        struct,
        variant,
        "; ".join(f"{name} <- {pre.text}" for name, pre in parts.pre.items()),
        _compute_types(op),
        (*_settings(op, dialect, every), *_choices(op, every)),
        parts=tuple(
            Part(
                dialect.local(name),
                types[name],
                (dialect(gather=op.signature) if sorts[name] is Sort.INTEGER else printer).print(
                    parts.state[name].root
                ),
                printer.print(parts.pre[name].root),
                printer.print(parts.combine[name].root),
            )
            for name in parts.state
        ),
        loop_settings=(*_settings(op, dialect, of_parts), *_choices(op, of_parts)),
        post=tuple(printer.print(expression.root) for expression in parts.post),
        result_types=tuple(map(_result_type, op.dtype.results)),
        alone=printer.print(parts.alone.root) if parts.alone else None,
        uses_input=any("input" in expression.names for expression in inner),
        uses_index=any("index" in expression.names for expression in inner),
        uses_count=any("count" in expression.names for expression in parts.post),
    )


def _state_types(op: Op, parts: Parts, sorts: Mapping[str, Sort]) -> Mapping[str, str]:
    """Returns the C++ type of each part of a state; positions, and parts that are an int64 result, are int64."""
    spelled = {Sort.INTEGER: "int64_t", Sort.TRUTH: "bool"}
    types = {name: spelled.get(sort, "T") for name, sort in sorts.items()}
    for rule, post in zip(op.dtype.results, parts.post, strict=True):
        if rule is ResultRule.INT64 and isinstance(post.root, Variable) and post.root.name in types:
            types[post.root.name] = "int64_t"
    return types


def gather(op: Op, dialect: type[KernelPrinter], dims: str, source: Expression) -> GatherKernel:
    """Returns the kernel that copies elements from the positions `source` along the dimensions `dims`."""
    struct, variant = _names(op, None)
    reads = [node for node in source.root.walk() if isinstance(node, Subscript)]
    tensors = [a.name for a in op.signature.tensor_arguments]
    indices = [n for n in reads if isinstance(n.value, Variable) and n.value.name in tensors]
    index = indices[0].value.name if indices and isinstance(indices[0].value, Variable) else None
    return GatherKernel(
        struct,
        variant,
        source.text,
        (),
        tuple(_gather_settings(op, dialect, source)),
        dims_argument=op.position(dims),
        index_input=tensors.index(index) if index else -1,
        index_everywhere=any(isinstance(node.position, Ellipsis) for node in indices),
        source=dialect(gather=op.signature).print(source.root),
        uses_place=any(isinstance(n, Variable) and n.name == "i" for n in _outside_subscripts(source, indices)),
        uses_size="size" in source.names,
        uses_ordinal="k" in source.names,
        fails=divides(source),
    )


def _outside_subscripts(source: Expression, indices: list[Subscript]) -> Iterator[object]:
    inside = {id(node) for index in indices for node in index.walk()}
    return (node for node in source.root.walk() if id(node) not in inside)


def _gather_settings(op: Op, dialect: type[KernelPrinter], source: Expression) -> Iterator[Setting]:
    for position, argument in enumerate(op.signature.arguments):
        if argument.name in source.names and not argument.type.is_tensor:
            type_ = "bool" if argument.type.base.passed is base_types.BOOL else "int64_t"
            yield Setting(type_ + "*" * argument.type.is_list, dialect.local(argument.name), position)


def _names(op: Op, value: str | None) -> tuple[str, str]:
    suffix = f"_{value}" if value is not None else ""
    return f"{identifier(op.full_name)}{suffix}_kernel", op.full_name + (f":{value}" if value is not None else "")


def _operands(op: Op, dialect: type[KernelPrinter], names: frozenset[str]) -> Iterator[Operand]:
    for position, argument in enumerate(op.signature.tensor_arguments):
        if argument.name in names:
            is_truth = operand_sort(op, argument) is Sort.TRUTH
            yield Operand(dialect.local(argument.name), position, "bool" if is_truth else "T")


def _settings(op: Op, dialect: type[KernelPrinter], expressions: Sequence[Expression]) -> Iterator[Setting]:
    names = frozenset().union(*(e.names for e in expressions))
    for position, argument in enumerate(op.signature.arguments):
        if argument.name in names and _is_value(argument):
            type_ = "bool" if argument.type.base.passed is base_types.BOOL else "T"
            yield Setting(type_, dialect.local(argument.name), position)


def _is_value(argument: Argument) -> bool:
    """Returns whether expressions can read the value; for strings and lists, they only test whether one was given."""
    return not (argument.type.is_tensor or argument.type.is_list) and argument.type.base.holds_numbers


def _choices(op: Op, expressions: Sequence[Expression]) -> Iterator[Setting]:
    """Yields a variable for each argument that an expression tests by `given`."""
    tested = {
        node.arguments[0].name
        for expression in expressions
        for node in expression.root.walk()
        if isinstance(node, Invoke) and node.function == "given" and isinstance(node.arguments[0], Variable)
    }
    for position, argument in enumerate(op.signature.arguments):
        if argument.name in tested:
            yield Setting("bool", f"{argument.name}_given", position, given=True)


def _result_type(rule: ResultRule) -> str:
    return {ResultRule.BOOL: "bool", ResultRule.INT64: "int64_t"}.get(rule, "T")


def _compute_types(op: Op) -> tuple[str, ...]:
    return tuple(SPELLED[name] for name in op.compute_types)
