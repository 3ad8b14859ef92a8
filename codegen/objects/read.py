"""Reads the records of classes from definition files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from codegen.errors import Location, TextError, unknown
from codegen.objects import signature as signatures
from codegen.objects.model import PLAIN, SELF, Class, Constant, Items, Member, Objects, ObjectType, Parameter, Record
from codegen.reader import Field, Fields, Report

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_CLASS = re.compile(r"([a-z]+\.)?[A-Z][A-Za-z0-9]*")
_HANDLE = re.compile(r"of_[a-z0-9_]+|[A-Z][A-Za-z0-9]*")
_PUBLIC = re.compile(r"_*[a-z][a-z0-9]*(_[a-z0-9]+)*(_*|\?)")
_C_NAME = re.compile(r"of_[a-z0-9_]+")
_HEADER = re.compile(r"oneflow/[a-z0-9_]+\.h")
_OVERRIDABLE = "A subclass can override the method: the library then calls that of the subclass."
_RETURNED_BY_OVERRIDES = ("None", "bool", "int", "float", "str", "dtype", "device", "Tensor")

Item = Class | Constant | Member | Record


def read(fields: Fields) -> Item | None:
    """Reads one item of a definition file: a class, a record, a constant or a function."""
    key = next(key for key in fields.keys if key in _READERS)
    return _READERS[key](fields)


def is_item(fields: Fields) -> bool:
    """Returns whether an item of a definition file is one that `read` reads."""
    return any(key in _READERS for key in fields.keys)


def _class(fields: Fields) -> Class | None:
    whole = fields.required("class", lambda f: f.name(_CLASS, "a name in PascalCase, perhaps after a namespace"))
    namespace, _, name = (whole or "").rpartition(".")
    handle = fields.required("handle", lambda f: f.name(_HANDLE, "a handle of the C API or a class of runtime/objects"))
    summary = fields.required("summary", lambda f: f.words)
    description = fields.optional("description", lambda f: f.prose, "")
    create = fields.optional("create", lambda f: _member(f.fields, name, "new"), None)
    reason = fields.optional("made_by", lambda f: f.words, "")
    methods = fields.optional("members", lambda f: _members(f, name), ())
    state = fields.optional("state", lambda f: _state(f, methods), None)
    by_name = {each.name: each for each in methods}
    properties = [each.name for each in methods if each.is_property]
    context, needs_block, use = fields.optional("context", lambda f: _context(f.fields, name), ((), False, ""))
    equality = fields.optional("equality", lambda f: by_name[_one_of(f, "property", properties)], None)
    items = fields.optional("items", lambda f: _items(f.fields, by_name, properties), None)
    plain = [each.name for each in methods if not each.parameters]
    examples = fields.optional("examples", lambda f: tuple((each.prose, each.location) for each in f.members), ())
    text = fields.optional("text", lambda f: by_name[_one_of(f, "member without parameters", plain)], None)
    header = fields.optional("header", lambda f: f.name(_HEADER, "a public header, such as oneflow/graph.h"), "")
    is_shared = fields.optional("shared", lambda f: f.boolean, False)
    omitted = fields.optional("omitted", lambda f: {key: text.words for key, text in f.fields.values.items()}, {})
    fields.finish()
    if not name or handle is None:
        return None
    if ("create" in fields.keys) == ("made_by" in fields.keys):
        raise fields.owner.bad("a class has either the key 'create' or 'made_by'")
    if handle.startswith("of_") and any(each.is_overridable for each in methods):
        raise fields.keys["handle"].bad("a class with overridable methods has a class of runtime/objects as its handle")
    return Class(
        name=name,
        handle=handle,
        summary=summary or "",
        description=description,
        create=create,
        methods=tuple(each for each in methods if not each.by_hand),
        by_hand=tuple(each for each in methods if each.by_hand),
        context=context,
        needs_block=needs_block,
        use=use,
        equality=equality,
        examples=examples,
        items=items,
        state=state,
        location=fields.owner.location,
        namespace=namespace,
        text=text,
        reason=reason,
        header=header,
        is_shared=is_shared,
        omitted=omitted,
    )


def _members(field: Field, owner: str) -> tuple[Member, ...]:
    found = []
    for each in field.members:
        fields = each.fields
        found.append(_member(fields, owner, "property" if "property" in fields.keys else "method"))
    return tuple(filter(None, found))


def _one_of(field: Field, what: str, known: Iterable[str] | None) -> str:
    """Returns the name of one of the known ones; of any if they are None."""
    if known is not None and field.words not in known:
        raise field.bad(unknown(what, field.words, known))
    return field.words


def _texts(field: Field, known: Iterable[str] | None = None, what: str = "parameter") -> dict[str, str]:
    """Returns texts, by the parameters, or else, that they are about."""
    fields = field.fields
    return {_one_of(fields.keys[name], what, known): text.words for name, text in fields.values.items()}


def _renamed(field: Field, known: Iterable[str] | None, what: str = "parameter") -> dict[str, dict[str, str]]:
    """Returns the names of parameters, or else, by language."""
    return {language: _texts(names, known, what) for language, names in field.fields.values.items()}


def _items(fields: Fields, by_name: Mapping[str, Member], properties: list[str]) -> Items | None:
    """Returns the property that has the keys of the items, and the method that gets an item."""
    keys = fields.required("keys", lambda f: by_name[_one_of(f, "property", properties)])
    get = fields.required("get", lambda f: by_name[_one_of(f, "method", by_name.keys() - set(properties))])
    fields.finish()
    return Items(keys, get) if keys and get else None


def _context(fields: Fields, owner: str) -> tuple[tuple[Member, ...], bool, str]:
    """Returns what enters and leaves a block, whether objects need one, and the method that calls a function in it."""
    is_optional = fields.optional("optional", lambda f: f.boolean, False)
    use = fields.optional("method", lambda f: f.name(_NAME), "")
    runs = {key: fields.required(key, lambda f: f.name(_NAME)) for key in ("enter", "leave")}
    fields.finish()
    location = fields.owner.location
    none = ObjectType("None")
    members = tuple(
        Member(key, (), none, "", "", name or "", location, work="always", is_context=True, owner=owner, method=key)
        for key, name in runs.items()
    )
    return members, not is_optional, use


def _state(field: Field, methods: tuple[Member, ...]) -> tuple[Member, Member]:
    """Returns the methods `get_x` and `set_x` for the word `x`."""
    by_name = {each.name: each for each in methods}
    names = (f"get_{field.words}", f"set_{field.words}")
    for name in names:
        if name not in by_name:
            raise field.bad(f"the class has no method '{name}'")
    return by_name[names[0]], by_name[names[1]]


def _record(fields: Fields) -> Record | None:
    whole = fields.required("record", lambda f: f.name(_CLASS, "a name in PascalCase, perhaps after a namespace"))
    namespace, _, name = (whole or "").rpartition(".")
    parts = fields.required("fields", _fields)
    summary = fields.required("summary", lambda f: f.words)
    text = fields.optional("text", lambda f: _one_of(f, "field", [each.name for each in parts or ()]), "")
    is_plain = fields.optional("plain", lambda f: f.boolean, False)
    names = fields.optional("names", _texts, {})
    known = [each.name for each in parts or ()]
    renamed = fields.optional("renamed", lambda f: _renamed(f, known, "field"), {})
    fields.finish()
    if not name or parts is None:
        return None
    return Record(name, parts, summary or "", fields.owner.location, namespace, text, is_plain, names, renamed)


def _fields(field: Field) -> tuple[Parameter, ...]:
    """Returns the fields of a record: a mapping from declarations, such as `word seed`, to what they are."""
    fields = field.fields
    found = [_field(fields.keys[name], value.words) for name, value in fields.values.items()]
    for part, key in zip(found, fields.keys.values(), strict=True):
        if next(each for each in found if each.name == part.name) is not part:
            raise key.bad(f"duplicate field '{part.name}'")
    return tuple(found)


def _field(declaration: Field, summary: str) -> Parameter:
    text = declaration.text
    try:
        return replace(signatures.parse_field(text.value), summary=summary)
    except TextError as error:
        raise text.bad(error) from None


def _constant(fields: Fields) -> Constant | None:
    name = fields.required("constant", lambda f: f.name(_NAME))
    type_ = fields.required("type", lambda f: f.name(_CLASS, "the name of a class"))
    calls = fields.required("calls", lambda f: f.name(_C_NAME, "a function of the C API"))
    summary = fields.required("summary", lambda f: f.words)
    fields.finish()
    return Constant(name, type_, calls, summary or "", fields.owner.location) if name and type_ and calls else None


def _member(fields: Fields, owner: str, key: str) -> Member | None:
    """Reads a method, a property, a constructor or a function, whose signature is the value of `key`."""
    parsed = fields.required(key, _property if key == "property" else _signature)
    summary = fields.required("summary", lambda f: f.words)
    description = fields.optional("description", lambda f: f.prose, "")
    known = [each.name for each in parsed[1]] if parsed else None
    about = fields.optional("arguments", lambda f: _texts(f, known), {})
    names = fields.optional("names", lambda f: {k: v.name(_PUBLIC) for k, v in f.fields.values.items()}, {})
    renamed = fields.optional("renamed", lambda f: _renamed(f, known), {})
    absent = fields.optional("absent", lambda f: _texts(f, known), {})
    constant = fields.optional("of", lambda f: f.name(_NAME), "") if key == "function" else ""
    method = fields.optional("method", lambda f: f.name(_NAME), "") if constant else ""
    by_hand = fields.optional("by_hand", lambda f: f.boolean, False)
    is_overridable = fields.optional("overridable", lambda f: f.boolean, False) if key == "method" else False
    calls = fields.optional("calls", lambda f: f.name(_C_NAME, "a function of the C API"), "")
    runs = fields.optional("runs", lambda f: f.name(_NAME), "")
    work = fields.optional("work", lambda f: f.name(_NAME), "")
    says = fields.optional("says", lambda f: f.name(_NAME), "")
    block = fields.optional("block", lambda f: _one_of(f, "parameter", known), "")
    options = fields.optional("options", lambda f: f.name(_CLASS, "a name in PascalCase"), "")
    only_here = fields.optional(
        "only_here", lambda f: tuple(_one_of(each, "parameter", known) for each in f.members), ()
    )
    setter = fields.optional("sets", lambda f: _setter(f.fields, parsed), None) if key == "property" else None
    fields.finish()
    if parsed is None:
        return None
    whole, parameters, result = parsed
    namespace, _, name = whole.rpartition(".")
    if [bool(calls), bool(runs), bool(constant), by_hand].count(True) != 1:
        raise fields.owner.bad("expected one of the keys 'calls', 'runs' and 'by_hand'")
    if key == "new" and owner and (name, str(result)) != (owner, SELF):
        raise fields.values[key].bad(f"expected the signature '{owner}(...) -> {SELF}'")
    if work and key == "tensor_method":
        raise fields.values["work"].bad("methods of tensors have no promise variants")
    if is_overridable and str(result).removesuffix("?") not in _RETURNED_BY_OVERRIDES:
        raise fields.values[key].bad(f"an overridable method returns one of {', '.join(_RETURNED_BY_OVERRIDES)}")
    member = Member(
        name=name,
        parameters=tuple(replace(each, summary=about.get(each.name, "")) for each in parameters),
        result=result,
        summary=summary or "",
        calls=calls,
        runs=runs,
        location=fields.owner.location,
        description="\n\n".join(filter(None, (description.strip(), _OVERRIDABLE if is_overridable else ""))),
        work=work,
        says=says,
        block=block,
        options=options,
        only_here=only_here,
        is_property=key == "property",
        by_hand=by_hand,
        of_tensors=key == "tensor_method",
        is_overridable=is_overridable,
        absent=absent,
        names=names,
        renamed=renamed,
        namespace=namespace,
        owner=owner,
        constant=constant,
        method=method or (key if key == "new" else name),
    )
    if setter is None:
        return member
    parameter, runs = setter
    sets = replace(member, parameters=(parameter,), result=ObjectType("None"), calls="", runs=runs)
    return replace(member, setter=sets)


def _setter(
    fields: Fields, parsed: tuple[str, tuple[Parameter, ...], ObjectType] | None
) -> tuple[Parameter, str] | None:
    """Returns the parameter of what sets a property, and the function that does."""
    value = fields.required("value", lambda f: f.words)
    runs = fields.required("runs", lambda f: f.name(_NAME))
    fields.finish()
    return (Parameter(value, parsed[2]), runs) if parsed and value and runs else None


def _property(field: Field) -> tuple[str, tuple[Parameter, ...], ObjectType]:
    text = field.text
    try:
        name, type_ = signatures.parse_property(text.value)
    except TextError as error:
        raise text.bad(error) from None
    return name, (), type_


def _function(fields: Fields) -> Member | None:
    return _member(fields, "", "function")


def _tensor_method(fields: Fields) -> Member | None:
    return _member(fields, "", "tensor_method")


def _signature(field: Field) -> tuple[str, tuple[Parameter, ...], ObjectType]:
    text = field.text
    try:
        return signatures.parse(text.value)
    except TextError as error:
        raise text.bad(error) from None


_READERS = {
    "class": _class,
    "record": _record,
    "constant": _constant,
    "function": _function,
    "tensor_method": _tensor_method,
}


def complete(items: Iterable[Item], report: Report) -> Objects:
    """Returns all items together; reports names that are missing or given twice."""
    items = list(items)
    classes = tuple(each for each in items if isinstance(each, Class))
    records = tuple(each for each in items if isinstance(each, Record))
    constants = tuple(each for each in items if isinstance(each, Constant))
    functions = [each for each in items if isinstance(each, Member)]
    types = [(each.name, each.location) for each in items if isinstance(each, Class | Record)]
    methods = [(each.full_name, each.location) for owner in classes for each in owner.methods]
    others = [(each.name, each.location) for each in constants]
    others += [(each.full_name, each.location) for each in functions]
    found: dict[str, Location] = {}
    for name, location in (*types, *methods, *others):
        if name in found:
            report.add(location, f"'{name}' is already defined at {found[name]}")
        found.setdefault(name, location)
    known = dict(types)
    for user, type_, location in _types(classes, records, constants, functions):
        for name in type_.names:
            if name not in known:
                report.add(location, f"{user}: {unknown('type', name, (*PLAIN, SELF, *known))}")
    of_constants = {each.name: each for each in constants}
    by_name = {each.name: each for each in classes}
    completed = []
    for function in functions:
        if not function.constant:
            completed.append(function)
        elif function.constant not in of_constants:
            report.add(function.location, unknown("constant", function.constant, of_constants))
        else:
            owner = by_name.get(of_constants[function.constant].type)
            method = next((each for each in owner.methods if each.name == function.method), None) if owner else None
            if method is None:
                report.add(function.location, f"'{function.constant}' has no method '{function.method}'")
            else:
                completed.append(replace(function, owner=method.owner, calls=method.calls, runs=method.runs))
    by_hand = tuple(each for each in completed if each.by_hand)
    of_tensors = tuple(each for each in completed if each.of_tensors)
    plain = tuple(each for each in completed if each not in (*by_hand, *of_tensors))
    return Objects(classes, records, constants, plain, of_tensors, by_hand)


def _types(
    classes: tuple[Class, ...], records: tuple[Record, ...], constants: tuple[Constant, ...], functions: list[Member]
) -> Iterator[tuple[str, ObjectType, Location]]:
    """Yields the types of all parts with the name of their owner and its location."""
    yield from ((each.name, ObjectType(each.type), each.location) for each in constants)
    for record in records:
        for part in record.fields:
            yield record.name, part.type, record.location
    members = [member for each in classes for member in each.members]
    for member in (*members, *functions):
        yield member.name, member.result, member.location
        for parameter in member.parameters:
            yield member.name, parameter.type, member.location
