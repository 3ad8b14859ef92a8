"""`composite: "expression over operators"`, or a mapping: `value:` or `match:` with one body per value, and `let:`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from codegen import signature as signatures
from codegen.errors import TextError, counted, unknown
from codegen.expression import Constant, Expression, Invoke, ListOf, Node, Variable
from codegen.kinds import base, branches
from codegen.kinds.base import Fact, Functions, Rules, Skeleton
from codegen.model import Argument, BaseType, Composite, Op, Signature, Type
from codegen.reader import Field, Report

_TENSOR = Type(BaseType.TENSOR)


class _Composite(Rules[Composite]):
    skeleton = Skeleton('  composite: ""\n')

    def read(self, field: Field, signature: Signature | None) -> Composite:
        if field.is_scalar:
            return Composite({None: field.expression})
        fields = field.fields
        parts = base.let(fields, signature)
        found = branches.read(fields, signature)
        fields.finish()
        return Composite(found.expressions, found.match, parts)

    def check(self, op: Op, kind: Composite, functions: Functions, report: Report) -> None:
        if len(op.signature.results) != 1:
            report.add(op.locate(op.signature.results[1]), "a composite must have one result")
        check_bodies(op, kind, functions, report)
        if cycle := _cycle(op, op, functions, (op.full_name,)):
            report.add(op.location, f"a composite must not call itself: {' -> '.join(cycle)}")

    def facts(self, op: Op, kind: Composite) -> Iterator[Fact]:
        calls = sorted({f for e in (*kind.let.values(), *kind.bodies.values()) for f in e.functions})
        yield Fact("calls", ", ".join(calls))
        for name, part in kind.let.items():
            yield Fact(name, part.text)
        yield Fact("shape", "that of the result of the definition")
        yield Fact("kernels", "those of the operators that it calls")
        yield Fact("cost", "the sum of the costs of these operators")


def check_bodies(op: Op, kind: Composite, functions: Functions, report: Report) -> None:
    """Reports the first error in each expression."""
    for expression, known in scopes(op, kind):
        try:
            if not isinstance(expression.root, Invoke):
                raise TextError("expected a call of an operator", expression.root.at, len(expression.text))
            _type_of(expression.root, known, functions)
        except TextError as error:
            report.add(expression.location.shifted(error.offset), error.text, error.length)


def for_complex(op: Op, body: Expression) -> tuple[Op, Composite]:
    """Returns the composite that computes an operator for complex operands, which are all tensors."""
    arguments = tuple(
        replace(a, type=replace(a.type, base=BaseType.TENSOR)) if a.type.base is BaseType.OPERAND else a
        for a in op.signature.arguments
    )
    kind = Composite({None: body})
    return replace(op, signature=replace(op.signature, arguments=arguments), kind=kind), kind


def scopes(op: Op, kind: Composite) -> Iterator[tuple[Expression, Mapping[str, Type]]]:
    """Yields the parts of `let`, then the bodies, each with the types of the names that it may use."""
    known: dict[str, Type] = {a.name: a.type for a in op.signature.arguments}
    for name, part in kind.let.items():
        yield part, dict(known)
        known[name] = _TENSOR
    for branch, body in kind.bodies.items():
        yield body, {**known, **_narrowed(op, kind, branch)}


def _cycle(start: Op, op: Op, functions: Functions, path: tuple[str, ...]) -> tuple[str, ...] | None:
    """Returns the records on a cycle of calls from `start` through `op`, or None; `path` leads from `start` to `op`."""
    for called in _called(op, functions):
        if called.full_name == start.full_name:
            return *path, called.full_name
        if called.full_name not in path and (found := _cycle(start, called, functions, (*path, called.full_name))):
            return found
    return None


def _called(op: Op, functions: Functions) -> Iterator[Op]:
    if isinstance(op.kind, Composite):
        for expression, known in scopes(op, op.kind):
            for node in expression.root.walk():
                if isinstance(node, Invoke):
                    with suppress(TextError):  # check_bodies() reports it
                        yield resolve(node, known, functions)


def _narrowed(op: Op, kind: Composite, branch: str | None) -> dict[str, Type]:
    """Returns the type of the argument that is matched on, which is not optional in the branch `given`."""
    argument = op.signature.argument(kind.match) if kind.match else None
    if argument is None or branch != "given":
        return {}
    type_ = argument.type
    return {argument.name: Type(type_.base, type_.is_list, optional_members=type_.optional_members)}


def resolve(node: Invoke, known: Mapping[str, Type], functions: Functions) -> Op:
    """Returns the overload that a call in a body selects, for names of the types `known`; raises TextError."""
    overloads = functions.get(node.function)
    if overloads is None:
        raise TextError(unknown("operator", node.function, functions), node.at, len(node.function))
    failures = []
    for op in overloads:
        try:
            _check_arguments(node, op, known, functions)
            return op
        except TextError as error:
            failures.append(error)
    raise max(failures, key=lambda error: error.offset)


def _check_arguments(node: Invoke, op: Op, known: Mapping[str, Type], functions: Functions) -> None:
    positional = [a for a in op.signature.arguments if not a.keyword_only]
    if len(node.arguments) > len(positional):
        text = f"{op.full_name} takes at most {counted(len(positional), 'positional argument')}"
        raise TextError(text, node.at, len(node.function))
    bound: list[tuple[Argument, Node]] = list(zip(positional, node.arguments, strict=False))
    for keyword in node.keywords:
        argument = op.signature.argument(keyword.name)
        if argument is None:
            known_names = [a.name for a in op.signature.arguments]
            raise TextError(unknown("argument", keyword.name, known_names), keyword.at, len(keyword.name))
        if argument in (each for each, _ in bound):
            raise TextError(f"argument {argument.name} given twice", keyword.at, len(keyword.name))
        bound.append((argument, keyword.value))
    for argument, value in bound:
        if not _fits(value, argument.type, known, functions):
            raise TextError(f"{argument.name} of {op.full_name} must be {argument.type}", value.at)
    given = {argument.name for argument, _ in bound}
    for argument in op.signature.arguments:
        if not argument.has_default and argument.name not in given:
            raise TextError(f"missing argument {argument.name} of {op.full_name}", node.at, len(node.function))


def _fits(node: Node, wanted: Type, known: Mapping[str, Type], functions: Functions) -> bool:
    if isinstance(node, ListOf):
        member = Type(wanted.base, optional=wanted.optional_members)
        return wanted.is_list and all(_fits(m, member, known, functions) for m in node.members)
    found = _type_of(node, known, functions)
    if found is None:
        assert isinstance(node, Constant)
        single = Type(wanted.base) if wanted.is_list and wanted.is_integer else wanted
        return signatures.fits(node.value, wanted) or (node.value is not None and signatures.fits(node.value, single))
    if found.optional and not wanted.optional:
        return False
    if found.is_list != wanted.is_list and not (wanted.is_list and wanted.is_integer and found.is_integer):
        return False
    return found.base is wanted.base or _converts(found, wanted)


def _converts(found: Type, wanted: Type) -> bool:
    if wanted.base is BaseType.OPERAND:
        return found.is_tensor or found.is_integer or found.base in (BaseType.NUMBER, BaseType.FLOAT)
    if wanted.base in (BaseType.NUMBER, BaseType.FLOAT):
        return found.is_integer or found.base in (BaseType.NUMBER, BaseType.FLOAT, BaseType.BOOL)
    return wanted.is_integer and found.is_integer


def _type_of(node: Node, known: Mapping[str, Type], functions: Functions) -> Type | None:
    """Returns the type of a part, or None for a constant; raises TextError."""
    match node:
        case Constant():
            return None
        case Variable(name=name):
            if name not in known:
                raise TextError(unknown("name", name, known), node.at, len(name))
            return known[name]
        case Invoke():
            op = resolve(node, known, functions)
            if len(op.signature.results) > 1:
                text = f"expected one tensor, but {op.full_name} has {len(op.signature.results)} results"
                raise TextError(text, node.at, len(node.function))
            if op.signature.gives_list:
                text = f"expected one tensor, but {op.full_name} returns a list of tensors"
                raise TextError(text, node.at, len(node.function))
            return _TENSOR
        case _:
            raise TextError("a composite may contain only calls of operators, names and constants", node.at)


RULES = _Composite()
