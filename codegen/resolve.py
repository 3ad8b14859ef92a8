"""Resolves programs over operators: determines the type of every part, and the record that each call selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from codegen import base_types
from codegen import signature as signatures
from codegen.errors import TextError, counted, unknown
from codegen.expression import (
    COMPARISONS,
    LOGICAL,
    Binary,
    Comprehension,
    Conditional,
    Constant,
    Invoke,
    ListOf,
    Node,
    Subscript,
    Unary,
    Variable,
)
from codegen.model import Functions, Op, OperatorCall
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
    names_in,
)
from codegen.program_functions import (
    BOOL,
    DIMS,
    INTEGER,
    INTEGERS,
    NUMBER,
    PROGRAM,
    REAL,
    TENSOR,
    TENSORS,
    TEXT,
    ProgramFunction,
)
from codegen.types import Argument, Type


@dataclass(frozen=True)
class Scope:
    """The names that a program may use, with their types, and the operators that it may call."""

    names: Mapping[str, Type]
    operators: Functions
    arguments: frozenset[str]  # the names that `given` accepts
    present: frozenset[str] = frozenset()  # the optional arguments that are not null
    functions: Mapping[str, ProgramFunction] = field(default_factory=lambda: PROGRAM)
    may_replace: bool = False  # whether statements may give a name another value: inside a loop or a condition
    read_later: frozenset[str] = frozenset()  # the names that the statements after this block read
    lost: Mapping[str, str] = field(default_factory=dict)  # why names of the branches of an `if` have no value after it

    def with_names(self, names: Sequence[str], types: Sequence[Type]) -> Scope:
        """Returns the scope with further names."""
        return replace(self, names={**self.names, **dict(zip(names, types, strict=True))})

    def without_null(self, *names: str) -> Scope:
        """Returns the scope of statements that run only if optional arguments are given."""
        nullable = [name for name in names if name in self.names and self.names[name].optional]
        found = self.with_names(nullable, [replace(self.names[name], optional=False) for name in nullable])
        return replace(found, present=self.present.union(nullable))


def resolve(program: Program, scope: Scope, results: Sequence[Type]) -> Program:
    """Returns a program whose calls name their records, for results of these types; raises TextError."""
    return replace(program, statements=_block(program.statements, scope, tuple(results))[0])


def _block(
    statements: Sequence[Statement], scope: Scope, results: tuple[Type, ...]
) -> tuple[tuple[Statement, ...], Scope]:
    """Returns resolved statements, and the scope after them."""
    resolved: list[Statement] = []
    for position, statement in enumerate(statements):
        match statement:
            case Assign(names=(name,), value=value) if (
                scope.may_replace and name in scope.names.keys() - scope.arguments
            ):
                value, type_ = typed(value, scope)
                if not (type_ == scope.names[name] or _matches(type_, scope.names[name])):
                    raise TextError(f"'{name}' is {scope.names[name]}, and cannot become {type_}", value.at)
                resolved.append(Assign((name,), value, (type_,), replaces=True))
            case Assign(names=names, value=value):
                for name in names:
                    if name in scope.names:
                        raise TextError(f"'{name}' is a name already", value.at)
                value, types = _several(value, scope, len(names))
                resolved.append(Assign(names, value, types))
                scope = scope.with_names(names, types)
            case Check():
                resolved.append(_resolved_check(statement, scope))
                scope = scope.without_null(*_tested(statement.condition))
            case For(name=name, source=source, body=body):
                items, inner = _items(name, source, scope)
                block, _ = _block(body, replace(inner, may_replace=True), results)
                resolved.append(For(name, items, block, inner.names[name]))
            case If(condition=condition, then=then, otherwise=otherwise):
                read_later = scope.read_later | names_in(statements[position + 1 :])
                outer = replace(scope, may_replace=True, read_later=read_later)
                inner = outer.without_null(*_tested(condition))
                (first, after_first), (second, after_second) = (
                    _block(then, inner, results),
                    _block(otherwise, outer, results),
                )
                defined, lost = _joined(outer, after_first, after_second)
                blocks = _without_declarations(first, defined), _without_declarations(second, defined)
                resolved.append(If(_as(condition, BOOL, scope), *blocks, tuple(defined.items())))
                scope = replace(scope.with_names([*defined], [*defined.values()]), lost={**scope.lost, **lost})
            case Write(call=Invoke() as call):
                resolved.append(Write(_call(call, scope)))
            case Return(values=values):
                resolved.append(Return(_results(values, scope, results)))
    return tuple(resolved), scope


def _joined(before: Scope, first: Scope, second: Scope) -> tuple[dict[str, Type], dict[str, str]]:
    """Returns the names that both branches of an `if` define and that are read later, and why others have no value.

    The scopes are those before the `if`, and after each of its branches.
    """
    own, other = ({name: each.names[name] for name in each.names.keys() - before.names} for each in (first, second))
    lost = {name: f"'{name}' has a value in only one branch of the if statement" for name in own.keys() ^ other.keys()}
    for name in own.keys() & other.keys():
        if not _matches(own[name], other[name]) or own[name].optional:
            types = " and ".join(dict.fromkeys((str(own[name]), str(other[name]))))
            lost[name] = f"'{name}' has no value after the if statement, whose branches give it {types}"
    return {name: own[name].passed for name in sorted((own.keys() - lost.keys()) & before.read_later)}, lost


def _without_declarations(block: Sequence[Statement], defined: Mapping[str, Type]) -> tuple[Statement, ...]:
    """Returns the statements of a branch, which give values to names that are declared before the `if`."""

    def changed(statement: Statement) -> Statement:
        match statement:
            case Assign(names=names) if defined.keys() & names:
                return replace(statement, replaces=True)
            case If(defines=inner):
                return replace(statement, defines=tuple(each for each in inner if each[0] not in defined))
        return statement

    return tuple(map(changed, block))


def _resolved_check(statement: Check, scope: Scope) -> Check:
    texts = tuple(each if isinstance(each, str) else typed(each, scope)[0] for each in statement.pieces)
    return Check(_as(statement.condition, BOOL, scope), statement.error, texts)


def _items(name: str, source: Node, scope: Scope) -> tuple[Node, Scope]:
    """Returns a resolved list, and the scope in which `name` is an item of it."""
    items, type_ = typed(source, scope)
    if not type_.is_list:
        raise TextError(f"expected a list, got {type_}", source.at)
    if name in scope.names:
        raise TextError(f"'{name}' is a name already", source.at)
    return items, scope.with_names([name], [_member(type_)])


def _tested(condition: Node) -> tuple[str, ...]:
    """Returns the names of the arguments that are given where a condition holds."""
    match condition:
        case Invoke(function="given", arguments=(Variable(name=name),)):
            return (name,)
        case Binary(operator="and", left=left, right=right):
            return (*_tested(left), *_tested(right))
    return ()


def _results(values: tuple[Node, ...], scope: Scope, results: tuple[Type, ...]) -> tuple[Node, ...]:
    if len(values) == 1 and len(results) > 1:
        value, types = _several(values[0], scope, len(results))
        found = [(value, each) for each in types]
        kept: tuple[Node, ...] = (value,)
    else:
        if len(values) != len(results):
            text = f"returns {counted(len(values), 'value')} for {counted(len(results), 'result')}"
            raise TextError(text, values[0].at)
        found = [typed(value, scope) for value in values]
        kept = tuple(value for value, _ in found)
    for (value, type_), wanted in zip(found, results, strict=True):
        if not _matches(type_, wanted):
            raise TextError(f"expected a result of type {wanted}, got {type_}", value.at)
    return kept


def _several(node: Node, scope: Scope, count: int) -> tuple[Node, tuple[Type, ...]]:
    """Returns a resolved value and its types: those of all results of a call if `count` is not 1."""
    if count == 1:
        value, type_ = typed(node, scope)
        return value, (type_,)
    if isinstance(node, Invoke) and node.function not in scope.functions:
        call = _call(node, scope)
        types = tuple(result.type for result in call.op.signature.results)
        if len(types) == count:
            return call, types
        raise TextError(f"{call.op.full_name} has {counted(len(types), 'result')}, not {count}", node.at)
    raise TextError(f"expected a call of an operator with {count} results", node.at)


def typed(node: Node, scope: Scope) -> tuple[Node, Type]:
    """Returns a resolved expression and its type; raises TextError."""
    match node:
        case Constant(value=value):
            return node, _constant_type(node, value)
        case Variable(name=name):
            if name not in scope.names:
                raise TextError(scope.lost.get(name) or unknown("name", name, scope.names), node.at, len(name))
            found = scope.names[name]
            return Present(name, found, at=node.at) if name in scope.present else node, found
        case Unary(operator="not", operand=operand):
            return replace(node, operand=_as(operand, BOOL, scope)), BOOL
        case Unary(operator="-", operand=operand):
            value, type_ = _number(operand, scope)
            return replace(node, operand=value), type_
        case Binary():
            return _binary(node, scope)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            (first, type_), (second, other) = (
                typed(then, scope.without_null(*_tested(condition))),
                typed(otherwise, scope),
            )
            if type_.is_tensor:
                raise TextError("an if statement chooses between tensors", node.at)
            if type_ != other:
                raise TextError(f"the values of a conditional have the types {type_} and {other}", node.at)
            return replace(node, condition=_as(condition, BOOL, scope), then=first, otherwise=second), type_
        case Subscript(value=value, position=position):
            items, type_ = typed(value, scope)
            if not type_.is_list:
                raise TextError(f"expected a list, got {type_}", value.at)
            return replace(node, value=items, position=_as(position, INTEGER, scope)), _member(type_)
        case ListOf(members=members):
            return _list(node, members, scope)
        case Comprehension(value=value, name=name, source=source, condition=condition):
            items, inner = _items(name, source, scope)
            each, member = typed(value, inner)
            found = _list_type(node, member)
            fits = _as(condition, BOOL, inner) if condition else None
            item = inner.names[name]
            return ResolvedComprehension(each, name, items, fits, item, found == TENSORS, at=node.at), found
        case Invoke(function=function) if function in scope.functions and not _prefers_operator(node, scope):
            return _intrinsic(node, scope)
        case Invoke():
            call = _call(node, scope)
            results = call.op.signature.results
            if len(results) > 1:
                text = f"expected one value, but {call.op.full_name} has {len(results)} results"
                raise TextError(text, node.at, len(node.function))
            return call, Type(base_types.TENSOR, is_list=results[0].type.is_list)
    raise TextError("this is not supported in a program", node.at)


def _constant_type(node: Node, value: object) -> Type:
    match value:
        case bool():
            return BOOL
        case int():
            return INTEGER
        case float():
            return REAL
        case str():
            return TEXT
    raise TextError("None is allowed only as an argument of an operator", node.at, 4)


def _as(node: Node, wanted: Type, scope: Scope) -> Node:
    """Returns a resolved expression that must have a type; raises TextError."""
    value, found = typed(node, scope)
    if wanted == NUMBER and ((found.is_integer and not found.is_list and not found.optional) or found == REAL):
        return value
    if wanted == DIMS and found.is_integer:
        return value
    if wanted.optional and _matches(replace(found, optional=False), wanted):
        return value
    if not _matches(found, wanted):
        raise TextError(f"expected {wanted}, got {found}", node.at)
    return value


def _matches(found: Type, wanted: Type) -> bool:
    return found.base.passed is wanted.base.passed and found.is_list == wanted.is_list and not found.optional


def _number(node: Node, scope: Scope) -> tuple[Node, Type]:
    value, found = typed(node, scope)
    if found.is_list or found.optional or not (found.is_integer or found.base.passed is base_types.FLOAT):
        raise TextError(f"expected an integer or a float, got {found}", node.at)
    return value, INTEGER if found.is_integer else REAL


def _binary(node: Binary, scope: Scope) -> tuple[Node, Type]:
    if node.operator in LOGICAL:
        left, right = _as(node.left, BOOL, scope), _as(node.right, BOOL, scope)
        return replace(node, left=left, right=right), BOOL
    if node.operator in ("==", "!="):
        (left, type_), (right, other) = typed(node.left, scope), typed(node.right, scope)
        if not (_matches(type_, other) and not other.optional and not type_.is_tensor):
            raise TextError(f"cannot compare {type_} with {other}", node.at)
        if type_.is_list:
            same = Invoke("same", (left, right), at=node.at)
            return (same if node.operator == "==" else Unary("not", same, at=node.at)), BOOL
        return replace(node, left=left, right=right), BOOL
    if node.operator == "+" and typed(node.left, scope)[1].is_list:
        left, right = _as(node.left, INTEGERS, scope), _as(node.right, INTEGERS, scope)
        return Invoke("joined", (left, right), at=node.at), INTEGERS
    (left, type_), (right, other) = _number(node.left, scope), _number(node.right, scope)
    if node.operator in COMPARISONS:
        return replace(node, left=left, right=right), BOOL
    allowed = ("+", "-", "*", "//", "%") if type_ == other == INTEGER else ("+", "-", "*", "/")
    if node.operator not in allowed:
        raise TextError(f"'{node.operator}' is not allowed between {type_} and {other}", node.at)
    return replace(node, left=left, right=right), INTEGER if type_ == other == INTEGER else REAL


def _member(type_: Type) -> Type:
    return Type(type_.base.passed, optional=type_.optional_members)


def _list_type(node: Node, member: Type) -> Type:
    if member == TENSOR:
        return TENSORS
    if member.is_integer and not member.is_list and not member.optional:
        return INTEGERS
    raise TextError(f"expected a list of tensors or of integers, got items of type {member}", node.at)


def _list(node: ListOf, members: tuple[Node, ...], scope: Scope) -> tuple[Node, Type]:
    if not members:
        return node, INTEGERS
    found = [typed(each, scope) for each in members]
    types = {_list_type(node, type_) for _, type_ in found}
    if len(types) > 1:
        raise TextError("the items of a list must have the same type", node.at)
    make = TensorListOf if TENSORS in types else ListOf
    return make(tuple(value for value, _ in found), at=node.at), types.pop()


# ------------------------------------------------------------------------------------------------ calls


def _prefers_operator(node: Invoke, scope: Scope) -> bool:
    """Returns whether a function that shares its name with an operator is called on a tensor: `max(input)`."""
    if node.function not in scope.operators or not node.arguments:
        return False
    try:
        return typed(node.arguments[0], scope)[1] == TENSOR
    except TextError:
        return False


def _intrinsic(node: Invoke, scope: Scope) -> tuple[Node, Type]:
    name = node.function
    if node.keywords:
        raise TextError(f"{name} takes no keyword arguments", node.at, len(name))
    if name == "given":
        match node.arguments:
            case (Variable(name=argument),) if argument in scope.arguments:
                return node, BOOL
        raise TextError("given takes the name of an argument", node.at, len(name))
    function = scope.functions[name]
    least = len(function.parameters) - function.optional
    if not least <= len(node.arguments) <= len(function.parameters):
        wanted = counted(len(function.parameters), "argument")
        raise TextError(f"{name} takes {f'{least} to ' * (function.optional > 0)}{wanted}", node.at, len(name))
    if name == "len":
        (items,) = node.arguments
        value, found = typed(items, scope)
        if found.is_list:
            return replace(node, arguments=(value,)), INTEGER
    pairs = zip(node.arguments, function.parameters, strict=False)
    return replace(node, arguments=tuple(_as(each, type_, scope) for each, type_ in pairs)), function.result


def _call(node: Invoke, scope: Scope) -> OperatorCall:
    """Returns a call with the first overload that accepts its arguments; raises TextError.

    `add_` is the in-place form of `add`, unless a record has this name.
    """
    overloads = scope.operators.get(node.function, ())
    in_place = not overloads and node.function.endswith("_")
    if in_place:
        overloads = [op for op in scope.operators.get(node.function.removesuffix("_"), ()) if op.has_in_place]
    if not overloads:
        raise TextError(
            unknown("operator", node.function, [*scope.operators, *scope.functions]), node.at, len(node.function)
        )
    plain = replace(node, keywords=tuple(each for each in node.keywords if each.name != "out"))
    failures = []
    for op in overloads:
        try:
            return OperatorCall(op, _bound(plain, op, scope), in_place, _out(node, op, scope), at=node.at)
        except TextError as error:
            failures.append(error)
    raise max(failures, key=lambda error: error.offset)


def _out(node: Invoke, op: Op, scope: Scope) -> tuple[Node, ...]:
    """Returns the tensors that a call names to write its results to: one, or a list if there are several results."""
    given = [keyword.value for keyword in node.keywords if keyword.name == "out"]
    if not given:
        return ()
    wanted = len(op.signature.results)
    targets = given[0].members if isinstance(given[0], ListOf) else (given[0],)
    if not op.has_out or len(targets) != wanted:
        raise TextError(f"{op.full_name} takes {wanted * op.has_out} tensors to write to", node.at, len(node.function))
    return tuple(_as(each, TENSOR, scope) for each in targets)


def _bound(node: Invoke, op: Op, scope: Scope) -> tuple[Node | None, ...]:
    """Returns the value of each argument of the signature; raises TextError if the call does not fit it."""
    positional = [a for a in op.signature.arguments if not a.keyword_only]
    if len(node.arguments) > len(positional):
        text = f"{op.full_name} takes at most {counted(len(positional), 'positional argument')}"
        raise TextError(text, node.at, len(node.function))
    given: dict[str, Node] = {a.name: value for a, value in zip(positional, node.arguments, strict=False)}
    for keyword in node.keywords:
        if op.signature.argument(keyword.name) is None:
            known = [a.name for a in op.signature.arguments]
            raise TextError(unknown("argument", keyword.name, known), keyword.at, len(keyword.name))
        if keyword.name in given:
            raise TextError(f"argument {keyword.name} given twice", keyword.at, len(keyword.name))
        given[keyword.name] = keyword.value
    values: list[Node | None] = []
    for argument in op.signature.arguments:
        if argument.name in given:
            values.append(_argument(given[argument.name], argument, op, scope))
        elif argument.has_default:
            values.append(None)
        else:
            raise TextError(f"missing argument {argument.name} of {op.full_name}", node.at, len(node.function))
    return tuple(values)


def _argument(node: Node, argument: Argument, op: Op, scope: Scope) -> Node:
    wanted = argument.type
    wrong = TextError(f"{argument.name} of {op.full_name} must be {wanted}", node.at)
    if isinstance(node, Constant):
        single = Type(wanted.base) if wanted.is_list and wanted.is_integer else wanted
        if signatures.fits(node.value, wanted) or (node.value is not None and signatures.fits(node.value, single)):
            return node
        raise wrong
    value, found = typed(node, scope)
    if isinstance(node, ListOf) and not node.members and wanted.is_list:
        return value
    if found.optional and not wanted.optional:
        raise wrong
    if found.is_list != wanted.is_list and not (wanted.is_list and wanted.is_integer and found.is_integer):
        raise wrong
    if found.base.passed is not wanted.base.passed and not _converts(found, wanted):
        raise wrong
    if wanted.base.only is not None and found.base is not wanted.base:
        raise wrong
    return value


def _converts(found: Type, wanted: Type) -> bool:
    if wanted.base is base_types.OPERAND:
        return found.is_tensor or found.base.passed in (base_types.INT, base_types.NUMBER, base_types.FLOAT)
    numbers = (base_types.INT, base_types.NUMBER, base_types.FLOAT, base_types.BOOL)
    return wanted.base.passed in (base_types.NUMBER, base_types.FLOAT) and found.base.passed in numbers
