"""Derives, from a record, a composite for the gradient of each tensor argument.

The composite of `input` takes the gradient of each result (`grad`), and those arguments and results (`result`) that its
program reads. Example: that of `sin` has the signature `sin(Tensor grad, Tensor input) -> Tensor` and the program
`mul(grad, cos(input))`. It broadcasts as the record does: what calls it sums the dimensions that were broadcast, and
casts to the dtype of the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from codegen import base_types
from codegen.as_program import OperatorTable, operand_names, what_computes
from codegen.base_types import BaseType
from codegen.definitions import Definitions, Gradients
from codegen.derivative import UnknownDerivative
from codegen.dtypes import DTypeRule, ResultRule
from codegen.errors import TextError
from codegen.expression import Comprehension, Constant, Invoke, Node, Variable
from codegen.kinds.adjoints import Adjoint, SelectionAdjoint
from codegen.kinds.composite import Composite
from codegen.kinds.fused import fused
from codegen.model import Complex, Functions, Gradient, Kind, Op, OperatorCall, StatedGradient, calls_in
from codegen.program import Program
from codegen.program_functions import METADATA
from codegen.reader import Report
from codegen.types import Alias, Argument, Result, Type

_TENSOR = Type(base_types.TENSOR)
# The position in a list of tensors of the one whose gradient is computed.
ITEM = "position"
_ITEM = Argument(ITEM, Type(base_types.INT))


class From(Enum):
    """Where the value of an argument of a gradient comes from."""

    GRADIENT = "kGradient"  # of a result
    ARGUMENT = "kArgument"  # of the call
    RESULT = "kResult"  # of the call
    ITEM = "kItem"  # the position in a list of tensors


@dataclass(frozen=True)
class GradientInput:
    """The source of an argument of a gradient: a position, and whether the elements of a tensor are read."""

    source: From
    position: int
    needs_elements: bool


@dataclass(frozen=True)
class GradientRule:
    """What computes the gradient of an argument; `op` is None if it is not known."""

    argument: int
    op: Op | None
    result: int  # which result of `op` it is
    inputs: tuple[GradientInput, ...]
    is_transpose: bool  # whether it multiplies by derivatives: for complex numbers, the adjoint is the conjugate of it


# How the gradient of an argument is computed: by a kind of operator, by programs, or not, for a reason.
_Source = Kind | Mapping[str | None, Program] | StatedGradient | str


def derive_gradients(
    definitions: Definitions, report: Report, seen_by: Callable[[Op, Functions], Functions] = lambda _, all_: all_
) -> dict[str, Gradients]:
    """Returns the gradients of all records, by full name; reports errors in the programs of records.

    The programs of records may also call the gradients that are not composites. `seen_by` returns those of all
    functions that a record may call by their own names, where it states its gradients: those that are derived call the
    operators of the table, whatever operators a library has of the same names.
    """
    operators = operator_table(definitions)
    functions: dict[str, Sequence[Op]] = dict(definitions.overloads)
    found = [{each: _derived(op, each, operators) for each in differentiable(op)} for op in definitions.ops]
    kinds = []
    for op, derived in zip(definitions.ops, found, strict=True):
        kinds.append({a.name: _of_kind(op, a, each) for a, each in derived.items() if isinstance(each, Kind)})
        functions |= {each.full_name: [each] for each in kinds[-1].values()}
    parts = zip(definitions.ops, found, kinds, strict=True)
    return {
        op.full_name: _gradients(op, derived, own, functions, seen_by(op, functions), report)
        for op, derived, own in parts
    }


def operator_table(definitions: Definitions) -> OperatorTable:
    """Returns the table of all records with one expression, of which the first one of an equal function counts."""
    found: dict[str, str] = {}
    for op in definitions.ops:
        for root in op.kind.element:
            if operand_names(root) == tuple(argument.name for argument in op.signature.arguments):
                found.setdefault(what_computes(root), op.name)
    return OperatorTable(found)


def _derived(op: Op, argument: Argument, operators: OperatorTable) -> _Source:
    """Returns what the record states or what follows from its kind."""
    own = op.gradient.get(argument.name)
    if own is Gradient.SELECTION:
        return SelectionAdjoint(op.full_name, argument.name, op.position(argument.name))
    if isinstance(own, StatedGradient):
        return own
    try:
        return op.kind.adjoint(op, argument, operators)
    except UnknownDerivative as error:
        return str(error)
    except TextError as error:
        return error.text


def _gradients(
    op: Op,
    derived: Mapping[Argument, _Source],
    kinds: Mapping[str, Op],
    functions: Functions,
    seen: Functions,
    report: Report,
) -> Gradients:
    """Returns the gradients of a record; `kinds` are those that the runtime computes itself.

    Derived programs call `functions`, and those that the record states call what it has `seen`.
    """
    ops = dict(kinds)
    missing: dict[str, str] = {}
    for argument, found in derived.items():
        try:
            match found:
                case str():
                    missing[argument.name] = found
                case StatedGradient(arguments=names) if names[0] == argument.name:
                    together = [each for name in names if (each := op.signature.argument(name))]
                    ops |= dict.fromkeys(names, _stated(op, together, found.programs, seen, report))
                case Mapping():
                    ops[argument.name] = _resolved(op, [argument], found, functions)
        except TextError as error:
            missing[argument.name] = error.text
    return Gradients(ops, missing)


def _stated(
    op: Op,
    wanted: Sequence[Argument],
    programs: Mapping[str | None, Program],
    functions: Functions,
    report: Report,
) -> Op:
    """Returns the gradient that a record states. Reports errors in its programs, and then raises TextError."""
    values = [value for value in programs if value is not None]
    if values and set(values) != set(op.kind.matched_values):
        expected = f"a program for each of {', '.join(op.kind.matched_values)}" if op.kind.matched else "one program"
        text = f"the gradient of {wanted[0].name} must have {expected}, got those of {', '.join(values)}"
        report.add(op.location, text)
        raise TextError(text)
    try:
        return _resolved(op, wanted, programs, functions)
    except TextError:
        for value, program in programs.items():
            try:
                _resolved(op, wanted, {value: program}, functions)
            except TextError as error:
                report.add(program.locate(error.offset), error.text, error.length)
        raise


def has_smooth_result(op: Op) -> bool:
    """Returns whether a result may be a floating-point tensor."""
    return any(rule not in (ResultRule.BOOL, ResultRule.INT64) for rule in op.dtype.results)


def differentiable(op: Op) -> Iterator[Argument]:
    """Yields the tensor arguments that may have a gradient: floating-point ones, if a result is floating-point, too."""
    if not has_smooth_result(op):
        return
    for argument in op.signature.tensor_arguments:
        if op.accepted(argument).may_be_floating and op.gradient.get(argument.name) is not Gradient.NONE:
            yield argument


def _resolved(op: Op, wanted: Sequence[Argument], programs: Mapping[str | None, Program], functions: Functions) -> Op:
    """Returns the composite of these programs, in which numbers may take the place of tensors if the programs allow it.

    Otherwise a caller passes 0-d tensors. Raises TextError.
    """
    gradient = _composite(op, wanted, programs, base_types.OPERAND)
    try:
        kind = gradient.kind.resolved(gradient, functions)
        if isinstance(kind, Composite) and all(_takes_numbers(gradient, each) for each in kind.branches.values()):
            return replace(gradient, kind=fused(kind))
    except TextError:
        pass
    gradient = _composite(op, wanted, programs, base_types.TENSOR)
    return replace(gradient, kind=fused(gradient.kind.resolved(gradient, functions)))


def _takes_numbers(op: Op, program: Program) -> bool:
    """Returns whether each call has a tensor even if all arguments that may be numbers are."""

    def has_tensor(call: OperatorCall) -> bool:
        operands = zip(call.op.signature.arguments, call.values, strict=True)
        operators = [value for argument, value in operands if argument.type.is_tensor and value]
        return not operators or any(map(is_tensor, operators))

    def is_tensor(value: Node) -> bool:
        match value:
            case OperatorCall():
                return has_tensor(value)
            case Variable(name=name):
                argument = op.signature.argument(name)
                return argument is None or argument.type.base is base_types.TENSOR
        return not isinstance(value, Constant)

    return all(map(has_tensor, calls_in(program)))


def _composite(op: Op, wanted: Sequence[Argument], programs: Mapping[str | None, Program], operand: BaseType) -> Op:
    """Returns the composite of these programs, which has a result for each of the wanted gradients.

    `operand` is the type of arguments that are tensors or numbers.
    """
    used = frozenset(name for program in programs.values() for name in program.names)
    match = op.kind.matched if None not in programs else None
    signature = op.signature
    is_gradient = used <= {*signature.gradient_names} and all(p.text in used for p in programs.values())
    alias = Alias("a") if is_gradient and len(wanted) == 1 else None
    is_only = len(op.signature.results) == 1
    types = [Type(base_types.TENSOR, is_list=each.type.is_list and ITEM not in used) for each in wanted]
    arguments = [
        *(replace(each, alias=alias) for each in _gradients_of_results(op) if each.name in used or is_only),
        *(_required(each, operand) for each in signature.arguments if each.name in used or each.name == match),
        *(Argument(name, _TENSOR) for name in signature.result_names if name in used),
        *(_ITEM for _ in range(ITEM in used)),
    ]
    results = [
        Result(type_, name=f"grad_{each.name}" if len(wanted) > 1 else None, alias=alias)
        for each, type_ in zip(wanted, types, strict=True)
    ]
    return _gradient_op(op, wanted, arguments, results, Composite(programs, match))


def _of_kind(op: Op, argument: Argument, kind: Kind) -> Op:
    """Returns the gradient that takes all arguments."""
    arguments = [
        *_gradients_of_results(op),
        *(_required(each, base_types.OPERAND) for each in op.signature.arguments),
        *(_ITEM for _ in range(argument.type.is_list)),
    ]
    return _gradient_op(op, [argument], arguments, [Result(_TENSOR)], kind)


def _gradients_of_results(op: Op) -> Iterator[Argument]:
    for name, result in zip(op.signature.gradient_names, op.signature.results, strict=True):
        yield Argument(name, result.type)


def _required(argument: Argument, operand: BaseType) -> Argument:
    """Returns an argument without its default, and without the meaning of dims and sizes, which are checked already.

    `operand` is the type of an argument that is a tensor or a number.
    """
    base = operand if argument.type.base is base_types.OPERAND else argument.type.base.passed
    return Argument(argument.name, replace(argument.type, base=base))


def _gradient_op(
    op: Op, wanted: Sequence[Argument], arguments: Sequence[Argument], results: Sequence[Result], kind: Kind
) -> Op:
    names = [argument.name for argument in wanted]
    return Op(
        name=op.name,
        overload="_".join(filter(None, (op.overload, "gradient", *names))),
        signature=replace(op.signature, arguments=tuple(arguments), results=tuple(results)),
        summary=f"Computes the gradient of {' and '.join(f'`{name}`' for name in names)} of `{op.full_name}`.",
        description="",
        kind=kind,
        dtype=DTypeRule(results=(ResultRule.SAME,) * len(results)),
        complex=Complex.SAME,
        oracle=None,
        examples=(),
        errors=(),
        cases=(),
        offered_as=(),
        location=op.location,
        signature_location=op.signature_location,
    )


def gradient_rules(op: Op, definitions: Definitions) -> Iterator[GradientRule]:
    """Yields a rule for each argument of a record, or of one of its gradients, that may have a gradient.

    An operator with a body has none where that of the calls in its body applies.
    """
    if isinstance(op.kind, SelectionAdjoint):  # it is linear, and its adjoint is the selection itself
        of = definitions.by_name[op.kind.of]
        yield GradientRule(0, of, 0, tuple(_inputs_of_selection(op, of, op.kind.argument)), is_transpose=True)
    found = definitions.gradients.get(op.full_name)
    for argument in differentiable(op) if found else ():
        gradient = found.ops.get(argument.name) if found else None
        if gradient or not op.kind.has_body:
            inputs = tuple(_inputs(op, gradient)) if gradient else ()
            own = op.gradient.get(argument.name)
            stated = own if isinstance(own, StatedGradient) else None
            result = stated.arguments.index(argument.name) if stated else 0
            is_transpose = own is None or (stated is not None and stated.is_holomorphic)
            yield GradientRule(op.position(argument.name), gradient, result, inputs, is_transpose)


def saved_names(op: Op, definitions: Definitions) -> Iterator[str]:
    """Yields the names of the arguments and results whose elements a call keeps for its gradients."""
    named = {
        From.ARGUMENT: [each.name for each in op.signature.arguments],
        From.RESULT: list(op.signature.result_names),
    }
    rules = (rule for rule in gradient_rules(op, definitions) if rule.op)
    inputs = [each for rule in rules for each in rule.inputs if each.needs_elements]
    yield from dict.fromkeys(named[each.source][each.position] for each in inputs if each.source in named)


def _inputs(op: Op, gradient: Op) -> Iterator[GradientInput]:
    names = {
        **{name: (From.GRADIENT, i) for i, name in enumerate(op.signature.gradient_names)},
        **{name: (From.RESULT, i) for i, name in enumerate(op.signature.result_names)},
        **{argument.name: (From.ARGUMENT, i) for i, argument in enumerate(op.signature.arguments)},
    }
    for argument in gradient.signature.arguments:
        source, position = (From.ITEM, 0) if argument.name == ITEM else names[argument.name]
        yield GradientInput(source, position, argument.type.is_tensor and reads(gradient, argument.name))


def _inputs_of_selection(adjoint: Op, of: Op, selected: str) -> Iterator[GradientInput]:
    for argument in of.signature.arguments:
        if argument.name == selected:
            yield GradientInput(From.GRADIENT, 0, True)
        else:
            yield GradientInput(From.ARGUMENT, adjoint.position(argument.name), argument.type.is_tensor)


def reads(gradient: Op, name: str) -> bool:
    """Returns whether a gradient reads the elements of an argument, rather than only its shape and dtype."""
    kind = gradient.kind
    if isinstance(kind, Adjoint):
        return kind.reads(name)
    assert isinstance(kind, Composite)
    return any(_reads_elements(root, name) for program in kind.branches.values() for root in program.roots())


def _reads_elements(node: Node, name: str) -> bool:
    if isinstance(node, Invoke) and node.function in METADATA:
        return False
    if isinstance(node, Comprehension) and node.source == Variable(name):
        return _reads_elements(node.value, node.name) or _reads_elements(node.value, name)
    is_read = isinstance(node, Variable) and node.name == name
    return is_read or any(_reads_elements(child, name) for child in node.children)


def gradient_lines(op: Op, definitions: Definitions) -> Iterator[str]:
    """Yields the gradient of each argument of a record, for people."""
    if op.kind.has_body and not op.gradient:
        yield "that of the operators that it calls"
        return
    found = definitions.gradients[op.full_name]
    for gradient in found.operators:
        argument = ", ".join(name for name, each in found.ops.items() if each is gradient)
        lines = list(gradient.kind.definitions())
        if len(lines) == 1:
            yield f"{argument}: {lines[0][1]}"
            continue
        yield f"{argument}:"
        yield from (f"  {f'{value}: ' if value else ''}{text}" for value, text in lines)
    for argument, reason in found.missing.items():
        yield f"{argument}: not known, {reason}"
    if not found.ops and not found.missing:
        yield "none: no result depends smoothly on an argument"
