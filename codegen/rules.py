"""Rules of graphs: calls that the passes of graphs replace by others, written as programs over operators.

    - rule: silu
      variables: "Tensor x"
      summary: Replaces the product of a tensor and its sigmoid by silu.
      left: mul(x, sigmoid(x))
      right: silu(x)
      error: 1e-6
      try: {x: ["[n]", "[n, h, w]"]}

The variables stand for tensors and attributes of the calls on the left side. Those under `constants` must be tensors
that the graph holds. The right side runs when the rule is applied: calls of constants are computed then, others become
calls of the graph. A rule applies if `when` holds, the right side succeeds, and gives the dtype and the shape of the
left side. With `each`, a rule stands for several ones, in whose texts `$name` is replaced: by the texts of a list, or
of earlier items `- {variants: name, of: [...]}`, in all combinations.

The keys under `try` say what both sides are compared with: for a tensor a shape over free names, such as "[n, 2 * n]",
or a list of shapes; for an attribute a list of values.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen import base_types
from codegen import signature as signatures
from codegen.definitions import Bound, PatternCall, Rule
from codegen.dtypes import DTypeRule
from codegen.errors import Location, TextError, unknown
from codegen.expression import Constant, ListOf, Node, Unary, Variable
from codegen.kinds.composite import Composite
from codegen.kinds.programs import scope
from codegen.model import Functions, Op, OperatorCall
from codegen.program import Assign, Check, Program, Return, TensorListOf
from codegen.reader import Bad, Field, Fields, Report, Text
from codegen.resolve import Scope, resolve, typed
from codegen.types import Argument, Literal, Type

_RESULT = Type(base_types.TENSOR)
_NAME = re.compile(r"\$(?:(\w+)|\{(\w+)\})")  # $name or ${name}
_CONDITION = "the condition of the rule does not hold"


@dataclass(frozen=True)
class RuleText:
    """A rule whose programs are not resolved yet, because that requires all records."""

    family: str
    name: str
    summary: str
    variables: Text
    constants: tuple[Field, ...]
    left: Text
    right: Text
    when: Text | None
    error: float | None
    trials: Fields
    positive: tuple[Field, ...]
    finite: tuple[Field, ...]
    replaced: Mapping[str, str]
    location: Location

    def text(self, text: Text) -> Text:
        """Returns a text in which the names of `each` are replaced, also those in what replaces them."""
        value = self._replaced(self._replaced(text.value))
        return text if value == text.value else replace(text, value=value)

    def _replaced(self, text: str) -> str:
        return _NAME.sub(lambda found: self.replaced.get(found[1] or found[2], found[0]), text)

    def word(self, field: Field) -> str:
        """Returns a word in which the names of `each` are replaced; it may be empty then."""
        return self.text(field.text).value


Variants = Mapping[str, tuple[Mapping[str, str], ...]]


def read_variants(fields: Fields) -> Variants:
    """Reads a list of texts that rules use in turn, by its name."""
    name = fields.required("variants", lambda f: f.name(signatures.NAME))
    found = fields.required("of", lambda f: tuple(dict(_words(item.fields)) for item in f.members))
    fields.finish()
    return {name: found} if name and found else {}


def read_rule(fields: Fields, variants: Variants) -> tuple[RuleText, ...]:
    """Reads a rule, or those that it stands for. `variants` are those that the file has defined so far."""
    name = fields.required("rule", lambda f: f.words)
    each = fields.optional("each", lambda f: _each(f, variants), ({},))
    summary = fields.required("summary", lambda f: f.words)
    variables = fields.required("variables", lambda f: f.text)
    constants = fields.optional("constants", lambda f: tuple(f.members), ())
    left = fields.required("left", lambda f: f.text)
    when = fields.optional("when", lambda f: f.text, None)
    right = fields.required("right", lambda f: f.text)
    error = fields.required("error", _error)
    trials = fields.required("try", lambda f: f.fields)
    positive = fields.optional("positive", lambda f: tuple(f.members), ())
    finite = fields.optional("finite", lambda f: tuple(f.members), ())
    fields.finish()
    if not (name and summary and variables and left and right and trials and error is not None):
        return ()
    found = []
    for replaced in each:
        draft = RuleText(
            _NAME.sub("*", name), name, summary, variables, constants, left, right, when, error or None, trials,
            positive, finite, replaced, fields.owner.location,
        )  # fmt: skip
        own = draft.text(Text(name, fields.keys["rule"].location, False)).value
        with fields.report.collecting():
            if not signatures.NAME.fullmatch(own):
                raise fields.need("rule").bad(f"'{own}' is not a name in snake_case")
        summary_text = draft.text(Text(summary, fields.owner.location, False)).value
        found.append(replace(draft, name=own, summary=summary_text))
    return tuple(found)


def _each(field: Field, variants: Variants) -> tuple[Mapping[str, str], ...]:
    """Returns the texts of a list, of a named list, or of all combinations of several named lists."""
    if field.is_sequence and all(item.is_mapping for item in field.members):
        return tuple(dict(_words(item.fields)) for item in field.members)
    lists = []
    for name in field.one_or_more:
        if name.words not in variants:
            raise name.bad(unknown("list of variants", name.words, variants))
        lists.append(variants[name.words])
    return tuple({k: v for each in found for k, v in each.items()} for found in itertools.product(*lists))


def _words(fields: Fields) -> Iterator[tuple[str, str]]:
    return iter(fields.others(lambda f: f.value.strip()).items())


def _error(field: Field) -> float:
    """Returns the error of a rule; 0 for `none`."""
    if field.words == "none":
        return 0.0
    value = field.literal
    if not isinstance(value, float) or not 0 < value < 1:
        raise field.bad("expected the largest relative error, such as 1e-6, or 'none'")
    return value


def complete_rules(drafts: Sequence[RuleText], functions: Functions, report: Report) -> tuple[Rule, ...]:
    """Resolves the programs of rules; reports all problems."""
    found: dict[str, Rule] = {}
    for draft in drafts:
        with report.collecting():
            if draft.name in found:
                raise Bad(draft.location, f"there is a rule '{draft.name}' already, at {found[draft.name].op.location}")
            found[draft.name] = _completed(draft, functions, report)
    return tuple(found.values())


def _completed(draft: RuleText, functions: Functions, report: Report) -> Rule:
    variables = draft.text(draft.variables)
    try:
        signature = signatures.parse(f"{draft.name}({variables.value}) -> Tensor", exact=False)
    except TextError as error:
        raise Bad(variables.location, error.text) from None
    op = Op(
        name=draft.name, overload=None, signature=signature, summary=draft.summary, description="",
        kind=Composite({}, None), dtype=DTypeRule(), oracle=None, examples=(), errors=(), cases=(), offered_as=(),
        location=draft.location, signature_location=variables.location,
    )  # fmt: skip
    known = scope(op, operators=functions)
    left = _resolved(draft.text(draft.left), known)
    right = _resolved(draft.text(draft.right), known)
    if draft.when:
        right = replace(right, statements=(_condition(draft.text(draft.when), known), *right.statements))
    names = [argument.name for argument in signature.arguments]
    for field in (*draft.constants, *draft.positive, *draft.finite):
        if (name := draft.word(field)) not in (*names, ""):
            report.problems.append(field.bad(unknown("variable", name, names)).problem)
    calls = _calls(left, signature.arguments)
    bound = {variable for call in calls for each in call.arguments for variable in each.variables()}
    for position, name in enumerate(names):
        if position not in bound:
            report.add(variables.location, f"the left side does not contain the variable {name}")
    return Rule(
        op=replace(op, kind=Composite({None: right}, None)),
        family=draft.family,
        calls=calls,
        constants=tuple(map(draft.word, draft.constants)),
        left=draft.text(draft.left).value.strip(),
        right=draft.text(draft.right).value.strip(),
        condition=draft.text(draft.when).value.strip() if draft.when else "",
        error=draft.error,
        trials=_trials(draft, signature.arguments, report),
        positive=tuple(map(draft.word, draft.positive)),
        finite=tuple(map(draft.word, draft.finite)),
    )


def _resolved(text: Text, known: Scope) -> Program:
    program = text.program
    try:
        return resolve(program, known, [_RESULT])
    except TextError as error:
        raise Bad(program.locate(error.offset), error.text, error.length) from None


def _condition(text: Text, known: Scope) -> Check:
    """Returns the check that a condition is, which is the first statement of the right side."""
    program = text.program
    if len(program.statements) != 1 or not isinstance(program.statements[0], Return):
        raise Bad(text.location, "expected a condition")
    (value,) = program.statements[0].values
    try:
        condition, type_ = typed(value, known)
    except TextError as error:
        raise Bad(program.locate(error.offset), error.text, error.length) from None
    if type_ != Type(base_types.BOOL):
        raise Bad(text.location, f"expected a condition, got {type_}")
    return Check(condition, "Unsupported", (_CONDITION,))


def _calls(program: Program, arguments: Sequence[Argument]) -> tuple[PatternCall, ...]:
    """Returns the calls of a left side. Raises Bad for what no matcher can find."""
    variables = {argument.name: i for i, argument in enumerate(arguments)}
    calls: list[PatternCall] = []
    named: dict[str, int] = {}

    def refuse(node: Node, text: str) -> Bad:
        return Bad(program.locate(node.at), text)

    def bound(node: Node | None, argument: Argument) -> Bound:
        match node:
            case None:
                return Bound(literal=argument.default)
            case Variable(name=name) if name in variables:
                return Bound(variable=variables[name])
            case Variable(name=name):
                return Bound(call=named[name])
            case OperatorCall():
                return Bound(call=added(node))
            case TensorListOf(members=members) if members:
                return Bound(items=tuple(bound(member, argument) for member in members))
            case ListOf(members=members) if all(isinstance(each, Constant) for each in members):
                return Bound(literal=tuple(each.value for each in members if isinstance(each, Constant)))
            case Constant(value=value):
                is_list = argument.type.is_list and value is not None
                return Bound(literal=(value,) if is_list else value)
            case Unary(operator="-", operand=Constant(value=int() | float() as value)):
                return Bound(literal=-value)
        raise refuse(node, "the left side of a rule consists of calls, variables and literals")

    def added(node: Node) -> int:
        if not isinstance(node, OperatorCall) or node.in_place or node.out:
            raise refuse(node, "the left side of a rule consists of calls that write to nothing")
        if len(node.op.signature.results) != 1 or node.op.signature.gives_list:
            raise refuse(node, "the calls on the left side of a rule have one result")
        pairs = zip(node.values, node.op.signature.arguments, strict=True)
        arguments = tuple(bound(value, argument) for value, argument in pairs)
        calls.append(PatternCall(node.op, arguments))
        return len(calls) - 1

    for statement in program.statements:
        match statement:
            case Assign(names=(name,), value=value):
                named[name] = added(value)
            case Return(values=(value,)):
                if added(value) != len(calls) - 1:
                    raise refuse(value, "the left side must end in a call")
            case _:
                raise Bad(program.location, "the left side of a rule consists of calls and names for them")
    return tuple(calls)


def _trials(draft: RuleText, arguments: Sequence[Argument], report: Report) -> dict[str, tuple[Literal, ...]]:
    """Returns what each variable is tried with. Reports variables without values, and names that are none."""
    found: dict[str, tuple[Literal, ...]] = {}
    for argument in arguments:
        field = draft.trials.take(argument.name)
        if field is None:
            report.add(draft.trials.owner.location, f"nothing to try for the variable {argument.name}")
            continue
        with report.collecting():
            found[argument.name] = tuple(_alternatives(field, argument, draft))
    if not draft.replaced:  # variants may have other variables
        draft.trials.finish()
    return found


def _alternatives(field: Field, argument: Argument, draft: RuleText) -> Iterator[Literal]:
    if argument.type.base is base_types.TENSOR:
        for each in field.one_or_more:
            yield None if each.literal is None else _shape(each, draft)
    elif field.is_sequence:
        yield from (each.literal for each in field.members)
    else:
        try:
            yield from ast.literal_eval(draft.text(field.text).value)
        except (SyntaxError, ValueError, TypeError):
            raise field.bad("expected a list of values") from None


def _shape(field: Field, draft: RuleText) -> tuple[str, ...]:
    """Returns the sizes of a shape such as `[n, groups * c, 3]`."""
    with contextlib.suppress(SyntaxError):
        tree = ast.parse(draft.text(field.text).value.strip(), mode="eval").body
        if isinstance(tree, ast.List):
            sizes = tuple(map(ast.unparse, tree.elts))
            if wrong := [size for size in sizes if not _is_size(size)]:
                raise field.bad(f"'{wrong[0]}' is no size: expected an integer, a name, or sums and products of them")
            return sizes
    raise field.bad('expected a shape: "[n, 2 * n]"')


def _is_size(text: str) -> bool:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    allowed = (ast.Expression, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Name, ast.Load, ast.Constant)
    return all(isinstance(node, allowed) for node in ast.walk(tree))


def explain_rule(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yields what a rule says, as pairs of a label and lines."""
    yield "rule", f"{rule.name}, {rule.op.location}"
    yield "variables", ", ".join(signatures.print_argument(each) for each in rule.op.signature.arguments)
    if rule.constants:
        yield "constants", ", ".join(rule.constants)
    yield "left", rule.left
    if rule.condition:
        yield "when", " ".join(rule.condition.split())
    yield "right", rule.right
    yield "error", "none: the results are equal" if rule.error is None else f"at most {rule.error:g}, relative"
    yield "finds", " <- ".join(call.op.full_name for call in reversed(rule.calls))
    commuting = sorted({call.op.full_name for call in rule.calls if call.op.kind.commutes(call.op)})
    if commuting:
        yield "commutes", ", ".join(commuting)
