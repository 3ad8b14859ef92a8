"""The tables of types, parameters and methods (oneflow/objects.h) that the extensions of all languages have."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from codegen.names import pascal
from codegen.objects.model import PLAIN, SELF, Member, Objects, ObjectType, Parameter, Record
from codegen.printer import boolean, string
from codegen.templates import Templates, banner


class ClassWords(ABC):
    """What classes are called in a language."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects

    language: str  # as records name it
    words: Mapping[str, tuple[str, ...]]  # types in error texts, of one value and of several, and in declarations
    null: str  # the null value in error texts
    list_word: str
    map_word: str
    has_blocks = False

    @abstractmethod
    def record_word(self, record: Record) -> str:
        """Returns the name of a record in error texts: "tuple of two ints, the seed and the offset"."""

    def type_word(self, type_: ObjectType) -> str:
        """Returns the name of a type in error texts, without that of the null value: "int", "list of ints"."""
        if type_.item:
            return f"{self.list_word} of {self.several(type_.item)}" if type_.word == "list" else self.map_word
        if record := self.objects.records_by_name.get(type_.word):
            return self.record_word(record)
        return self.words.get(type_.word, (type_.word,))[0]

    def several(self, type_: ObjectType) -> str:
        """Returns the name of several values of a type: "ints"."""
        return self.words.get(type_.word, ("", f"{type_.word}s"))[1]

    def case(self, name: str) -> str:
        """Returns a name of a record in the case of this language."""
        return name

    def expected(self, type_: ObjectType, has_default: bool) -> str:
        """Returns the name of a type in error texts, with that of the null value."""
        return f"{self.type_word(type_)} or {self.null}" if type_.optional else self.type_word(type_)

    def parameter_name(self, member: Member, name: str) -> str:
        """Returns the name of a parameter."""
        return member.renamed.get(self.language, {}).get(name) or self.case(name)

    def field_name(self, record: Record, part: Parameter) -> str:
        """Returns the name of a field of a record."""
        return record.renamed.get(self.language, {}).get(part.name) or self.case(part.name)

    def own_name(self, member: Member) -> str:
        """Returns the name of a member in the case of records: that of this language, if there is one."""
        name = member.names.get(self.language, member.name.removesuffix("_async"))
        return f"{name}_async" if member.is_async else name

    def public_name(self, member: Member) -> str:
        """Returns the name of a method, a property or a function."""
        return self.case(self.own_name(member))

    def said_name(self, member: Member) -> str:
        """Returns what error texts of a member begin with."""
        if member.is_create:
            return member.owner
        if member.is_context:
            return self.context_name(member)
        return self.case(member.says) if member.says else self.public_name(member)

    def context_name(self, member: Member) -> str:
        """Returns what error texts of what enters or leaves a block begin with."""
        owner = self.objects.classes_by_name[member.owner]
        makers = (each.name for each in self.objects.functions if self.objects.context_of(each) is owner)
        return self.case(owner.use or next(makers, member.name))

    def say(self, text: str) -> str:
        """Returns prose with the names in backquotes as this language writes them."""
        return re.sub(r"`([a-zA-Z][\w.]*)`", lambda match: f"`{self.case(match[1])}`", text)

    def plain(self, text: str) -> str:
        """Returns a part of an error text, which has no backquotes."""
        return self.say(text).replace("`", "")

    def qualified(self, namespace: str, name: str) -> str:
        """Returns the name of a function or a class, as a user writes it: "flow.graph.capture"."""
        return ".".join(filter(None, ("flow", namespace, name)))

    def path(self, member: Member) -> str:
        """Returns what a call of a member begins with: "flow.graph.capture", "graph.run"."""
        if member.is_create:
            return self.qualified(self.objects.classes_by_name[member.owner].namespace, member.owner)
        name = self.public_name(member)
        if member.of_tensors:
            return f"tensor.{name}"
        if member.has_receiver:
            return f"{member.owner.lower()}.{name}"
        return self.qualified(member.namespace, name)


class Table:
    """The C++ text of the tables of a language."""

    def __init__(self, objects: Objects, words: ClassWords, *, has_promises: bool = False) -> None:
        self.objects = objects
        self.has_promises = has_promises
        self.words = words
        self._types: dict[str, str] = {}  # the definitions of types, by variable
        self._methods = [self._method(each) for each in self.members]
        for each in self.objects.records:
            for part in each.fields:
                self._type(part.type)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Returns the rows of the table of methods: constructors, methods and functions."""
        of_classes = [member for each in self.objects.classes for member in each.members]
        plain = (*of_classes, *self.objects.functions, *self.objects.tensor_methods)
        contexts = (member for each in self.objects.classes for member in each.context)
        return (*plain, *filter(None, (each.promised for each in plain if self.has_promises)), *contexts)

    def position(self, member: Member) -> int:
        """Returns the position of a member in the table."""
        return self.members.index(member)

    def at(self, member: Member | None) -> str:
        """Returns a pointer to the row of a member."""
        return f"&kMethods[{self.position(member)}]" if member else "nullptr"

    def variable(self, member: Member) -> str:
        """Returns the prefix of the variables of a member."""
        owner = member.owner if member.owner and not member.constant else pascal(member.namespace)
        return f"{owner}{'Set' * member.is_setter_of_property}{pascal(member.name.strip('_'))}"

    def method(self, member: Member) -> str:
        """Returns the initializer of the of_method of a member."""
        return self._methods[self.position(member)]

    @property
    def text(self) -> str:
        """Returns the definitions of types and parameters."""
        return Templates(Path(__file__).parent).render("table.j2", types=self._types.values(), table=self)

    def parameters(self, member: Member) -> list[str]:
        """Returns the initializers of the parameters of a member."""
        return [self._parameter(member, each) for each in member.parameters]

    @property
    def calls(self) -> str:
        """Returns all members that users call as JSON, for tests of hostile calls."""
        contexts = [member for each in self.objects.classes for member in each.context]
        called = [json.dumps(self._call(each)) for each in self.members if each not in contexts and not each.of_tensors]
        rows = [json.dumps(banner(self.objects.sources)), *called]
        return "[" + ",\n".join(rows) + "]\n"

    def _call(self, member: Member) -> dict[str, object]:
        owner = self.objects.classes_by_name.get(member.owner) if member.has_receiver or member.is_create else None
        return {
            "class": owner.name if owner else "",
            "namespace": owner.namespace if owner else member.namespace,
            "name": "new" if member.is_create else self.words.public_name(member),
            "says": self.words.said_name(member),
            "property": member.is_property,
            "promise": member.is_async,
            "context": bool(self.objects.context_of(member)),
            "parameters": [
                {
                    "name": self.words.parameter_name(member, each.name),
                    "type": str(each.type),
                    "required": not each.has_default,
                    "named": each.is_named,
                    "collects": each.collects,
                    "block": self.words.has_blocks and member.block == each.name,
                }
                for each in member.parameters
                if not (member.is_async and each.name in member.only_here)
            ],
        }

    def _parameter(self, member: Member, parameter: Parameter) -> str:
        collects = {"": "NOTHING", "*": "POSITIONAL", "**": "NAMED", "***": "BOTH"}[parameter.collects]
        type_ = parameter.type
        if parameter.collects in ("*", "**"):
            type_ = ObjectType("list" if parameter.collects == "*" else "map", item=type_)
        name = self.words.parameter_name(member, parameter.name)
        is_missing = member.is_async and parameter.name in member.only_here
        is_block = self.words.has_blocks and member.block == parameter.name
        return ", ".join(
            (
                "nullptr" if is_missing else string("block" if is_block else name),
                f"&{self._type(type_, parameter.has_default)}",
                boolean(not parameter.has_default),
                boolean(parameter.is_named or is_block),
                f"OF_COLLECTS_{collects}",
                "nullptr",
            )
        )

    def _method(self, member: Member) -> str:
        result = member.result
        if result.word == SELF:
            result = ObjectType(member.owner)
        parameters = (
            f"{self.variable(member)}Parameters, {len(member.parameters)}" if member.parameters else "nullptr, 0"
        )
        self.parameters(member)  # defines their types
        return f"{{{string(self.words.said_name(member))}, nullptr, {parameters}, &{self._type(result)}}}"

    def _type(self, type_: ObjectType, has_default: bool = False) -> str:
        """Returns the variable of a type, which is defined on first use."""
        text = str(type_).replace("[]", "_list").replace("{}", "_map").replace("?", "_optional")
        name = f"type{pascal(text)}{'WithDefault' * (has_default and type_.optional)}"
        if name in self._types:
            return name
        record = self.objects.records_by_name.get(type_.word)
        items, names, count, kind, label = "nullptr", "nullptr", 0, PLAIN.get(type_.word), "nullptr"
        before = ""
        if type_.item:
            kind = "OF_TYPE_LIST" if type_.word == "list" else "OF_TYPE_MAP"
            items = f"&{self._type(type_.item)}"
        elif record:
            kind, items, names, count = "OF_TYPE_RECORD", f"{name}Items", f"{name}Names", len(record.fields)
            label = string(record.name)
            fields = ", ".join(string(self.words.field_name(record, each)) for each in record.fields)
            rows = ", ".join(self._row(each.type) for each in record.fields)
            before = f"const char* const {names}[] = {{{fields}}};\nconst of_type {items}[] = {{{rows}}};\n"
        elif kind is None:
            kind, label = "OF_TYPE_OBJECT", string(type_.word)
        word = string(self.words.expected(type_, has_default))
        row = ", ".join((kind, boolean(type_.optional), word, label, str(count), items, names))
        self._types[name] = f"{before}const of_type {name} = {{{row}}};"
        return name

    def _row(self, type_: ObjectType) -> str:
        """Returns the initializer of the type of a field."""
        definition = self._types[self._type(type_)]
        return definition[definition.rindex("= ") + 2 :].removesuffix(";")
