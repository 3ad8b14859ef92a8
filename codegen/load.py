"""Loads definition files into the model; one DefinitionError holds all problems of the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from codegen import base_types
from codegen import signature as signatures
from codegen.calls import CallParser
from codegen.checks import check, check_names, resolved_complex, resolved_kind
from codegen.definitions import Definitions, Elsewhere
from codegen.derive.gradients import derive_gradients
from codegen.dtypes import DTypeRule, DTypeSet, ResultRule
from codegen.errors import ERRORS, DefinitionError, Location, TargetError, TextError, unknown
from codegen.examples import Call, ErrorCase, Example
from codegen.former import check_formers
from codegen.kinds import KINDS
from codegen.kinds.checks import argument_named
from codegen.model import Complex, FormerOperator, Functions, Gradient, Kind, Op, StatedGradient, Word
from codegen.objects import read as objects
from codegen.program import Program
from codegen.reader import Bad, Field, Fields, Report, compose
from codegen.rules import RuleText, complete_rules, read_rule, read_variants
from codegen.types import Argument, Signature


@dataclass(frozen=True)
class _Draft:
    """A record whose calls are not parsed yet, because that requires the signatures of all records."""

    op: Op
    has_whole_kind: bool  # whether the kind and all of its expressions could be parsed
    examples: tuple[Field, ...]
    errors: tuple[Field, ...]
    cases: tuple[Field, ...]
    space: str = ""  # the namespace of a library of operators


@dataclass(frozen=True)
class _Space:
    """The namespace of a library of operators."""

    name: str
    location: Location


@dataclass(frozen=True)
class Library:
    """The records of a library of operators, with all those that they may call."""

    space: str
    location: Location  # of the namespace
    whole: Definitions

    @property
    def definitions(self) -> Definitions:
        """Returns the records of the library alone."""
        own = tuple(op for op in self.whole.ops if is_in_space(op, self.space))
        gradients = {op.full_name: self.whole.gradients[op.full_name] for op in own}
        return Definitions(own, gradients, space=self.space)


@dataclass(frozen=True)
class _OtherNames:
    """Further names of functions, and of arguments: of those of all functions, or "function.argument"."""

    functions: tuple[tuple[Field | None, str, Field], ...] = ()  # where the name stands, the name, and the function
    arguments: tuple[tuple[Field, tuple[Field, ...]], ...] = ()  # the argument, and its other names
    words: tuple[str, ...] = ()  # names in texts of the runtime that are not those of records
    elsewhere: tuple[Elsewhere, ...] = ()


@dataclass(frozen=True)
class _Rules:
    """Rules that one item of a file stands for."""

    rules: tuple[RuleText, ...]


_Part = _Draft | _OtherNames | _Rules | objects.Item


def definition_files(root: Path) -> list[Path]:
    """Returns all definition files of a repository. Raises TargetError if there are none."""
    found = sorted((root / "opdefs").rglob("*.yaml"))
    if not found:
        raise TargetError(f"{root / 'opdefs'} has no definition files (*.yaml)")
    return found


def load(paths: Iterable[Path], root: Path | None = None) -> Definitions:
    """Loads definition files; locations contain paths relative to `root`. Raises DefinitionError."""
    report = Report()
    drafts = [part for file, text in _texts(paths, root, report) for part in _drafts(text, file, report)]
    definitions = _complete(drafts, report)
    if report.problems:
        raise DefinitionError(report.problems)
    return definitions


def load_library(folder: Path, root: Path) -> Library:
    """Loads the records of a library of operators, which may call those of the repository `root`.

    Its namespace is the name of the folder, or that of an item `namespace:`. Raises DefinitionError, and TargetError
    for a folder without records.
    """
    files = sorted(folder.rglob("*.yaml")) if folder.is_dir() else []
    if not files:
        raise TargetError(f"{folder} has no definition files (*.yaml)")
    report = Report()
    parts: list[_Part] = []
    spaces: list[_Space] = []
    for file, text in _texts(files, None, report):
        for field in compose(text, file, report):
            with report.collecting():
                found = _library_item(field.fields)
                if isinstance(found, _Space):
                    spaces.append(found)
                elif found:
                    parts.append(found)
    for other in spaces[1:]:
        report.add(other.location, f"a second namespace, after that at {spaces[0].location}")
    space = spaces[0] if spaces else _Space(folder.resolve().name, Location(files[0].as_posix(), 1, 1))
    own = [_in_space(part, space.name) for part in parts if isinstance(part, _Draft)]
    built_in = [
        part for file, text in _texts(definition_files(root), root, report) for part in _drafts(text, file, report)
    ]
    if not _fits(space, [part.op for part in built_in if isinstance(part, _Draft)], report):
        raise DefinitionError(report.problems)
    whole = _complete([*built_in, *own], report, space.name)
    if report.problems:
        raise DefinitionError(report.problems)
    return Library(space.name, space.location, replace(whole, space=space.name))


def _texts(paths: Iterable[Path], root: Path | None, report: Report) -> Iterator[tuple[str, str]]:
    """Yields the name of each file in locations, and its text."""
    for path in paths:
        file = path.relative_to(root).as_posix() if root else path.as_posix()
        try:
            yield file, path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            report.add(Location(file, 1, 1), f"not UTF-8 at byte {error.start}")


def load_text(text: str, file: str = "<text>") -> Definitions:
    """Loads definitions from a string. Raises DefinitionError."""
    report = Report()
    definitions = _complete(_drafts(text, file, report), report)
    if report.problems:
        raise DefinitionError(report.problems)
    return definitions


def _drafts(text: str, file: str, report: Report) -> list[_Part]:
    drafts: list[_Part] = []
    variants: dict[str, tuple[Mapping[str, str], ...]] = {}
    for field in compose(text, file, report):
        with report.collecting():
            fields = field.fields
            if "variants" in fields.keys:
                variants.update(read_variants(fields))
                continue
            if "rule" in fields.keys:
                drafts.append(_Rules(read_rule(fields, variants)))
                continue
            if objects.is_item(fields):
                if item := objects.read(fields):
                    drafts.append(item)
                continue
            read = next((_OTHER_ITEMS[key] for key in fields.keys if key in _OTHER_ITEMS), _record)
            draft = read(fields)
            if draft:
                drafts.append(draft)
    return drafts


def _library_item(fields: Fields) -> _Draft | _Space | None:
    """Reads an item of a library of operators: a record, or its namespace."""
    if "namespace" in fields.keys:
        name = fields.need("namespace").name(signatures.NAME)
        fields.finish()
        return _Space(name, fields.owner.location)
    if other := next((key for key in fields.keys if key in ("rule", "variants", *_OTHER_ITEMS)), None):
        raise fields.keys[other].bad(f"a library of operators has no item '{other}', only records and its namespace")
    if objects.is_item(fields):
        raise Bad(fields.owner.location, "a library of operators has no classes, only records and its namespace")
    named = fields.values.get("op")
    draft = _record(fields)
    if draft and named and "." in draft.op.name:
        raise named.bad("names in a library of operators have no dots: its namespace precedes them")
    if draft and not draft.op.kind.in_libraries:
        text = f"a library of operators has no {draft.op.kind.key} operators: they need functions written by hand"
        raise Bad(draft.op.location, text)
    return draft


def _in_space(draft: _Draft, space: str) -> _Draft:
    """Returns a record whose name is in a namespace."""
    name = f"{space}.{draft.op.name}"
    signature = replace(draft.op.signature, name=name)
    others = tuple(f"{space}.{each}" for each in draft.op.offered_as)
    return replace(draft, op=replace(draft.op, name=name, signature=signature, offered_as=others), space=space)


def _fits(space: _Space, built_in: list[Op], report: Report) -> bool:
    """Returns whether operators may have a namespace; reports one that is no name, or that is taken."""
    names = {op.name for op in built_in}
    taken = {*names, *(name.partition(".")[0] for name in names if "." in name)}
    if not signatures.NAME.fullmatch(space.name):
        text = f"the namespace '{space.name}' is not a name in snake_case: give one by an item `namespace:`"
    elif space.name in taken:
        text = f"the namespace '{space.name}' is a name of built-in operators"
    else:
        return True
    report.add(space.location, text)
    return False


def _namespace(fields: Fields) -> _OtherNames | None:
    """Reads a namespace in which functions are offered under their own names, too."""
    name = fields.required("namespace", lambda f: f.name(signatures.OPERATOR_NAME))
    offered = fields.optional("offers", lambda f: tuple(f.members), ())
    fields.finish()
    return _OtherNames(functions=tuple((None, name, each) for each in offered)) if name else None


def _function_names(fields: Fields) -> _OtherNames:
    named = fields.need("functions").fields
    fields.finish()
    return _OtherNames(functions=tuple((named.keys[name], name, function) for name, function in named.values.items()))


def _argument_names(fields: Fields) -> _OtherNames:
    named = fields.need("arguments").fields
    fields.finish()
    return _OtherNames(
        arguments=tuple((named.keys[name], tuple(others.members)) for name, others in named.values.items())
    )


def _words(fields: Fields) -> _OtherNames:
    words = fields.need("words").members
    fields.finish()
    return _OtherNames(words=tuple(each.name(signatures.NAME) for each in words))


def _elsewhere(fields: Fields) -> _OtherNames:
    """Reads names of other libraries, with the name here: one for all languages, or a mapping by language."""
    sort = fields.need("elsewhere")
    if sort.words not in ("functions", "methods"):
        raise sort.bad(unknown("value", sort.words, ("functions", "methods")))
    names = fields.need("names").fields
    fields.finish()

    def here(field: Field) -> dict[str, str]:
        if not field.is_mapping:
            return {"": field.words}
        return {language: each.words for language, each in field.fields.values.items()}

    return _OtherNames(
        elsewhere=tuple(Elsewhere(name, here(field), sort.words == "methods") for name, field in names.values.items())
    )


# What a definition file may hold besides records, by the key that tells.
_OTHER_ITEMS: Mapping[str, Callable[[Fields], _OtherNames | None]] = {
    "namespace": _namespace,
    "functions": _function_names,
    "arguments": _argument_names,
    "words": _words,
    "elsewhere": _elsewhere,
}


def _record(fields: Fields) -> _Draft | None:
    """Reads one record; returns None if its name, its signature or its kind could not be read."""
    name = fields.required("op", lambda f: f.name(signatures.OPERATOR_NAME))
    overload = fields.optional("overload", lambda f: f.name(signatures.NAME), None)
    signature_field = fields.take("signature")
    signature = fields.required("signature", lambda f: _signature(f, name))
    summary = fields.required("summary", lambda f: f.words)
    description = fields.optional("description", lambda f: f.prose, "")
    kind, has_whole_kind = _kind(fields, signature)
    dtype = fields.optional("dtype", lambda f: _dtype(f.fields, signature), DTypeRule())
    complex_ = fields.optional("complex", _complex, None)
    oracle = fields.optional("oracle", lambda f: f.words, None)
    from_any_device = fields.optional(
        "from_any_device", lambda f: argument_named(f, signature, _is_tensor, "a tensor"), None
    )
    in_place = fields.optional("in_place", lambda f: f.boolean, False)
    gradient = fields.optional("gradient", lambda f: _gradient(f.fields, signature), {})
    formerly = fields.optional("formerly", lambda f: tuple(_former(each.fields) for each in f.members), ())
    offered_as = fields.optional("offered_as", lambda f: _offered_as(f, name), ())
    examples = fields.optional("examples", lambda f: tuple(f.members), ())
    errors = fields.optional("errors", lambda f: tuple(f.members), ())
    cases = fields.optional("cases", lambda f: tuple(f.members), ())
    fields.finish()
    if name is None or signature is None or signature_field is None or kind is None:
        return None
    op = Op(
        name=name,
        overload=overload,
        signature=signature,
        summary=summary or "",
        description=description,
        kind=kind,
        dtype=dtype,
        oracle=oracle,
        complex=complex_,
        examples=(),
        errors=(),
        cases=(),
        offered_as=offered_as,
        from_any_device=from_any_device,
        in_place=in_place,
        formerly=formerly,
        gradient=gradient,
        location=fields.owner.location,
        signature_location=signature_field.text.location,
    )
    return _Draft(op, has_whole_kind, examples, errors, cases)


def _signature(field: Field, name: str | None) -> Signature:
    text = field.text
    try:
        signature = signatures.parse(text.value, exact=text.one_line)
    except TextError as error:
        raise text.bad(error) from None
    if name is not None and signature.name != name:
        wrong = TextError(f"the signature has the name '{signature.name}', but the record has the name '{name}'")
        wrong.length = len(signature.name)
        raise text.bad(wrong)
    return signature


def _complex(field: Field) -> Complex | Program:
    try:
        return Complex(field.words)
    except ValueError:
        return field.program


def _gradient(fields: Fields, signature: Signature | None) -> dict[str, StatedGradient | Gradient]:
    """Returns the gradients that a record states, by argument; the reason for them, `why`, is for people."""
    fields.required("why", lambda f: f.words)
    is_holomorphic = fields.optional("holomorphic", lambda f: f.boolean, False)
    for key in fields.keys.values():
        for name in _names_in(key.words) if key.words not in ("why", "holomorphic") else ():
            if signature and name not in (tensors := [a.name for a in signature.tensor_arguments]):
                raise key.bad(unknown("tensor argument", name, tensors))
    words = {each.value for each in Gradient}
    found: dict[str, StatedGradient | Gradient] = {}

    def programs(field: Field) -> Mapping[str | None, Program] | Gradient:
        if field.is_mapping:
            return dict[str | None, Program](field.fields.others(lambda f: f.program).items())
        return Gradient(field.words) if field.words in words else {None: field.program}

    for text, value in fields.others(programs).items():
        names = _names_in(text)
        stated = value if isinstance(value, Gradient) else StatedGradient(names, value, is_holomorphic)
        found |= dict.fromkeys(names, stated)
    return found


def _names_in(key: str) -> tuple[str, ...]:
    return tuple(key.replace(" ", "").split(","))


def _former(fields: Fields) -> FormerOperator:
    """Reads an operator of an earlier version: "name: signature", as graph files have it."""
    text = fields.need("operator").text
    stored = re.fullmatch(r"([a-z0-9_.]+): (.*)", text.value)
    if not stored:
        expected = "expected a name and a signature, as graph files have them: 'f: f(Tensor x) -> Tensor'"
        raise text.bad(TextError(expected))
    try:
        signature = signatures.parse(stored[2], exact=text.one_line)
    except TextError as error:
        error.offset += stored.start(2)
        raise text.bad(error) from None
    if not f"{stored[1]}.".startswith(f"{signature.name}."):
        raise text.bad(TextError(f"'{stored[1]}' is not an overload or a gradient of '{signature.name}'"))
    renames = fields.optional("renames", lambda f: tuple((_word(k), _word(v)) for k, v in _items(f.fields)), ())
    values = fields.optional("values", lambda f: tuple((_word(k), v.literal) for k, v in _items(f.fields)), ())
    drops = fields.optional("drops", lambda f: tuple(map(_word, f.members)), ())
    fields.finish()
    return FormerOperator(stored[1], signature, renames, values, drops, text.location)


def _items(fields: Fields) -> list[tuple[Field, Field]]:
    """Returns the keys of a mapping, with their values."""
    return [(fields.keys[name], value) for name, value in fields.values.items()]


def _word(field: Field) -> Word:
    return Word(field.words, field.location)


def _offered_as(field: Field, name: str | None) -> tuple[str, ...]:
    found: list[str] = []
    for member in field.members:
        other = member.name(signatures.OPERATOR_NAME)
        if other == name or other in found:
            raise member.bad(f"'{other}' is a name of this record already")
        found.append(other)
    return tuple(found)


def _kind(fields: Fields, signature: Signature | None) -> tuple[Kind | None, bool]:
    """Returns the kind, and whether everything in its key could be read."""
    before = len(fields.report.problems)
    kind: Kind | None = None
    with fields.report.collecting():
        found = [(key, field) for key in KINDS if (field := fields.take(key))]
        found.sort(key=lambda each: list(fields.keys).index(each[0]))  # in the order of the record
        if not found:
            raise Bad(fields.owner.location, f"no kind: expected one of the keys {', '.join(KINDS)}")
        if len(found) > 1:
            key = found[1][0]
            raise fields.keys[key].bad(f"a second kind '{key}', after '{found[0][0]}'")
        key, field = found[0]
        kind = KINDS[key].read(field, signature)
    return kind, len(fields.report.problems) == before


def _dtype(fields: Fields, signature: Signature | None) -> DTypeRule:
    default = DTypeRule()
    rule = DTypeRule(
        fields.optional("accepts", lambda f: _accepts(f, signature), default.accepts),
        fields.optional("result", _result_rules, default.results),
        fields.optional("override", lambda f: argument_named(f, signature, _is_dtype, "a dtype"), None),
        fields.optional("compute", _result_rule, None),
        fields.optional("holds", lambda f: tuple(_number_argument(each, signature) for each in f.one_or_more), ()),
        fields.optional("integers", lambda f: tuple(_tensor_argument(each, signature) for each in f.one_or_more), ()),
    )
    fields.finish()
    return rule


def _accepts(field: Field, signature: Signature | None) -> dict[str, DTypeSet]:
    """Returns the accepted sets by argument; the key "" stands for all other arguments."""
    if not field.is_mapping:
        return {"": _dtype_set(field)}
    fields = field.fields
    for name, key in fields.keys.items():
        if name and signature and name not in (tensors := [a.name for a in signature.tensor_arguments]):
            raise key.bad(unknown("tensor argument", name, tensors))
    return {"": DTypeSet.ANY, **{name: _dtype_set(value) for name, value in fields.values.items()}}


def _is_dtype(argument: Argument) -> bool:
    return argument.type.base is base_types.DTYPE


def _number_argument(field: Field, signature: Signature | None) -> str:
    return argument_named(field, signature, lambda argument: argument.type.takes_number, "a number")


def _tensor_argument(field: Field, signature: Signature | None) -> str:
    return argument_named(field, signature, lambda argument: argument.type.is_tensor, "a tensor")


def _is_tensor(argument: Argument) -> bool:
    return argument.type.is_tensor and not argument.type.is_list


def _dtype_set(field: Field) -> DTypeSet:
    return field.choice(DTypeSet, "dtype set")


def _result_rules(field: Field) -> tuple[ResultRule, ...]:
    if not (rules := tuple(map(_result_rule, field.one_or_more))):
        raise field.bad("expected a result rule, got nothing")
    return rules


def _result_rule(field: Field) -> ResultRule:
    return field.choice(ResultRule, "result rule")


# ------------------------------------------------------------------------------------------------ calls


def is_in_space(op: Op, space: str) -> bool:
    """Returns whether a record belongs to the library with a namespace."""
    return bool(space) and op.name.startswith(f"{space}.")


def _seen_by(op: Op, functions: Functions, space: str) -> Functions:
    """Returns the functions that a record may call: those of its library by their own names, too."""
    if not is_in_space(op, space):
        return functions
    own = {name.partition(".")[2]: found for name, found in functions.items() if name.startswith(f"{space}.")}
    return {**functions, **own}


def _complete(parts: list[_Part], report: Report, space: str = "") -> Definitions:
    """Parses the calls of all records, and checks the records. `space` is the namespace of a library of operators."""
    drafts = [each for each in parts if isinstance(each, _Draft)]
    others = [each for each in parts if isinstance(each, _OtherNames)]
    of_functions = _names_of_functions(others, drafts, report)
    of_arguments = _names_of_arguments(others, drafts, report)
    drafts = [replace(each, op=_with_other_names(each.op, of_functions, of_arguments)) for each in drafts]
    unique: dict[str, _Draft] = {}
    for draft in drafts:
        name = draft.op.full_name
        if name in unique:
            report.add(draft.op.location, f"record '{name}' is already defined at {unique[name].op.location}")
        else:
            unique[name] = draft
    plain = Definitions(tuple(draft.op for draft in unique.values()))
    check_names(plain, report)
    ops = []
    for draft in unique.values():
        before = len(report.problems)
        functions = _seen_by(draft.op, plain.overloads, space)
        op = _with_calls(draft, CallParser(functions, draft.space), report)
        ops.append(op)
        if draft.has_whole_kind and len(report.problems) == before:
            check(op, functions, report, has_tests=not draft.space)
    if report.problems:
        return Definitions(tuple(ops))
    found = objects.complete([each for each in parts if isinstance(each, objects.Item)], report)
    definitions = Definitions(tuple(_resolved(ops, space)), objects=found)
    rules = [rule for each in parts if isinstance(each, _Rules) for rule in each.rules]
    whole = replace(
        definitions,
        words=tuple(word for each in others for word in each.words),
        elsewhere=tuple(name for each in others for name in each.elsewhere),
        gradients=derive_gradients(definitions, report, lambda op, functions: _seen_by(op, functions, space)),
        rules=complete_rules(rules, definitions.overloads, report),
    )
    check_formers(whole, report)
    return whole


def _resolved(ops: list[Op], space: str) -> Iterator[Op]:
    """Yields valid records with resolved programs. The calls of a composite hold resolved records."""
    overloads = {name: list(found) for name, found in Definitions(tuple(ops)).overloads.items()}
    done: dict[str, Op] = {}

    def finish(op: Op) -> None:
        if op.full_name in done:
            return
        done[op.full_name] = op
        for called in resolved_kind(op, _seen_by(op, overloads, space)).kind.called:
            finish(called)
        resolved = resolved_kind(op, _seen_by(op, overloads, space))
        if resolved.kind is op.kind:
            return  # it has no programs
        done[op.full_name] = resolved
        for name in (op.name, *op.offered_as):
            overloads[name] = [resolved if each is op else each for each in overloads[name]]

    for op in ops:
        finish(op)
    yield from (resolved_complex(done[op.full_name], _seen_by(op, overloads, space)) for op in ops)


def _names_of_functions(parts: list[_OtherNames], drafts: list[_Draft], report: Report) -> dict[str, list[str]]:
    """Returns the further names of functions; reports functions that do not exist, and names that are not free."""
    known = sorted({draft.op.name for draft in drafts})
    found: dict[str, list[str]] = {}
    taken = {*known, *(name for draft in drafts for name in draft.op.offered_as)}
    for key, name, field in (each for part in parts for each in part.functions):
        with report.collecting():
            function = field.words
            if function not in known:
                raise field.bad(unknown("function", function, known))
            other = name if key else f"{name}.{function}"
            if key and not signatures.OPERATOR_NAME.fullmatch(other):
                raise key.bad(f"'{other}' is not a name in snake_case")
            if other in taken:
                raise (key or field).bad(f"'{other}' is a function already")
            taken.add(other)
            found.setdefault(function, []).append(other)
    return found


def _names_of_arguments(parts: list[_OtherNames], drafts: list[_Draft], report: Report) -> dict[str, list[str]]:
    """Returns the further names by argument, "dim" or "clamp.min"; reports arguments that do not exist."""
    arguments = [(draft.op.name, each.name) for draft in drafts for each in draft.op.signature.arguments]
    known = {name for function, argument in arguments for name in (argument, f"{function}.{argument}")}
    found: dict[str, list[str]] = {}
    for field, others in (each for part in parts for each in part.arguments):
        with report.collecting():
            if field.words not in known:
                raise field.bad(unknown("argument", field.words, sorted(known)))
            found[field.words] = [each.name(signatures.NAME) for each in others]
    return found


def _with_other_names(op: Op, of_functions: dict[str, list[str]], of_arguments: dict[str, list[str]]) -> Op:
    """Returns a record with its further names, and those of its arguments that no other argument has."""
    own = {argument.name for argument in op.signature.arguments}
    arguments = []
    for argument in op.signature.arguments:
        others = [*of_arguments.get(f"{op.name}.{argument.name}", ()), *of_arguments.get(argument.name, ())]
        free = tuple(name for name in dict.fromkeys(others) if name not in own)
        own.update(free)
        arguments.append(replace(argument, other_names=free))
    signature = replace(op.signature, arguments=tuple(arguments))
    return replace(op, signature=signature, offered_as=(*op.offered_as, *of_functions.get(op.name, ())))


def _with_calls(draft: _Draft, parser: CallParser, report: Report) -> Op:
    examples: list[Example] = []
    errors: list[ErrorCase] = []
    cases = []
    for field in draft.examples:
        with report.collecting():
            examples.append(_example(field.fields, draft.op, parser))
    for field in draft.errors:
        with report.collecting():
            errors.append(_error_case(field.fields, draft, parser))
    for field in draft.cases:
        with report.collecting():
            cases.append(_call(field, draft.op, parser, strict=True))
    return replace(draft.op, examples=tuple(examples), errors=tuple(errors), cases=tuple(cases))


def _call(field: Field, op: Op, parser: CallParser, *, strict: bool) -> Call:
    text = field.text
    try:
        return parser.parse(text.value, op, strict=strict, exact=text.one_line)
    except TextError as error:
        raise text.bad(error) from None


def _example(fields: Fields, op: Op, parser: CallParser) -> Example:
    call = fields.need("call")
    gives = fields.need("gives").numbers
    note = fields.optional("note", lambda f: f.words, None)
    fields.finish()
    return Example(_call(call, op, parser, strict=True), gives, call.text.location, note)


def _error_case(fields: Fields, draft: _Draft, parser: CallParser) -> ErrorCase:
    call = fields.need("call")
    raises = fields.need("raises")
    says = fields.need("says").prose
    fields.finish()
    name = raises.words
    if name not in ERRORS:
        raise raises.bad(unknown("error class", name, ERRORS))
    if draft.space and says.startswith(f"{draft.op.name.partition('.')[2]}: "):
        says = f"{draft.space}.{says}"
    return ErrorCase(_call(call, draft.op, parser, strict=name != "TypeMismatch"), name, says, call.text.location)
