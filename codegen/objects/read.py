"""Reads the records of classes from definition files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codegen.errors import Location, TextError, unknown
from codegen.objects import signature as signatures
from codegen.objects.model import PLAIN, SELF, Class, Constant, Member, Objects, ObjectType, Parameter, Record
from codegen.reader import Field, Fields, Report

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_CLASS = re.compile(r"[A-Z][A-Za-z0-9]*")
_C_NAME = re.compile(r"of_[a-z0-9_]+")

Item = Class | Constant | Member | Record


def read(fields: Fields) -> Item | None:
    """Reads one item of a definition file: a class, a record, a constant or a function."""
    key = next(key for key in fields.keys if key in _READERS)
    return _READERS[key](fields)


def is_item(fields: Fields) -> bool:
    """Returns whether an item of a definition file is one that `read` reads."""
    return any(key in _READERS for key in fields.keys)


def _class(fields: Fields) -> Class | None:
    name = fields.required("class", lambda f: f.name(_CLASS, "a name in PascalCase"))
    handle = fields.required("handle", lambda f: f.name(_C_NAME, "a handle of the C API"))
    summary = fields.required("summary", lambda f: f.words)
    description = fields.optional("description", lambda f: f.prose, "")
    create = fields.optional("create", lambda f: _member(f.fields, name or "", "new"), None)
    methods = fields.optional(
        "methods", lambda f: tuple(filter(None, (_member(each.fields, name or "", "method") for each in f.members))), ()
    )
    state = fields.optional("state", lambda f: _state(f, methods), None)
    fields.finish()
    if name is None or handle is None:
        return None
    location = fields.owner.location
    return Class(name, handle, summary or "", description, create, methods, state, location)


def _state(field: Field, methods: tuple[Member, ...]) -> tuple[Member, Member]:
    """Returns the methods `get_x` and `set_x` for the word `x`."""
    by_name = {each.name: each for each in methods}
    names = (f"get_{field.words}", f"set_{field.words}")
    for name in names:
        if name not in by_name:
            raise field.bad(f"the class has no method '{name}'")
    return by_name[names[0]], by_name[names[1]]


def _record(fields: Fields) -> Record | None:
    name = fields.required("record", lambda f: f.name(_CLASS, "a name in PascalCase"))
    parts = fields.required("fields", _fields)
    summary = fields.required("summary", lambda f: f.words)
    fields.finish()
    return Record(name, parts, summary or "", fields.owner.location) if name and parts else None


def _fields(field: Field) -> tuple[Parameter, ...]:
    """Returns the fields of a record: a mapping from declarations, such as `word seed`, to what they are."""
    fields = field.fields
    return tuple(_field(fields.keys[name], value.words) for name, value in fields.values.items())


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
    """Reads a method, a constructor or a function, whose signature is the value of `key`."""
    parsed = fields.required(key, _signature)
    summary = fields.required("summary", lambda f: f.words)
    names = fields.optional("names", lambda f: {k: v.name(_NAME) for k, v in f.fields.values.items()}, {})
    absent = fields.optional("absent", lambda f: {k: v.words for k, v in f.fields.values.items()}, {})
    constant = fields.optional("of", lambda f: f.name(_NAME), "") if key == "function" else ""
    method = fields.optional("method", lambda f: f.name(_NAME), "") if constant else ""
    calls = "" if constant else fields.required("calls", lambda f: f.name(_C_NAME, "a function of the C API"))
    fields.finish()
    if parsed is None or calls is None:
        return None
    name, parameters, result = parsed
    location = fields.owner.location
    return Member(
        name,
        parameters,
        result,
        summary or "",
        calls,
        location,
        absent,
        names,
        owner,
        constant,
        method or (key if key == "new" else name),
    )


def _function(fields: Fields) -> Member | None:
    return _member(fields, "", "function")


def _signature(field: Field) -> tuple[str, tuple[Parameter, ...], ObjectType]:
    text = field.text
    try:
        return signatures.parse(text.value)
    except TextError as error:
        raise text.bad(error) from None


_READERS = {"class": _class, "record": _record, "constant": _constant, "function": _function}


def complete(items: Iterable[Item], report: Report) -> Objects:
    """Returns all items together; reports names that are missing or given twice."""
    items = list(items)
    classes = tuple(each for each in items if isinstance(each, Class))
    records = tuple(each for each in items if isinstance(each, Record))
    constants = tuple(each for each in items if isinstance(each, Constant))
    functions = [each for each in items if isinstance(each, Member)]
    known: dict[str, Location] = {}
    for name, location in sorted((each.name, each.location) for each in items if isinstance(each, Class | Record)):
        if name in known:
            report.add(location, f"'{name}' is already defined at {known[name]}")
        known[name] = location
    for user, type_, location in _types(classes, records, functions):
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
                completed.append(replace(function, owner=method.owner, calls=method.calls))
    return Objects(classes, records, constants, tuple(completed))


def _types(
    classes: tuple[Class, ...], records: tuple[Record, ...], functions: list[Member]
) -> Iterator[tuple[str, ObjectType, Location]]:
    """Yields the types of all parts with the name of their owner and its location."""
    for record in records:
        for part in record.fields:
            yield record.name, part.type, record.location
    members = [member for each in classes for member in each.members]
    for member in (*members, *functions):
        yield member.name, member.result, member.location
        for parameter in member.parameters:
            yield member.name, parameter.type, member.location
