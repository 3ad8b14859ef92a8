"""The tables of types, parameters and methods (oneflow/objects.h) that the extensions of all languages have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path

from codegen.names import pascal
from codegen.objects.model import PLAIN, SELF, Member, Objects, ObjectType
from codegen.printer import boolean, string
from codegen.templates import Templates


class ClassWords(ABC):
    """What classes are called in a language."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects

    @abstractmethod
    def type_word(self, type_: ObjectType) -> str:
        """Returns the name of a type in error texts, without that of the null value: "int", "list of ints"."""

    @abstractmethod
    def parameter_name(self, name: str) -> str:
        """Returns the name of a parameter or a field."""

    @abstractmethod
    def member_name(self, member: Member) -> str:
        """Returns the name of a method or a function, which its error texts begin with."""

    def expected(self, type_: ObjectType) -> str:
        """Returns the name of a type in error texts, where null is allowed if the type says so."""
        return self.type_word(type_)


class Table:
    """The C++ text of the tables of a language."""

    def __init__(self, objects: Objects, words: ClassWords) -> None:
        self.objects = objects
        self.words = words
        self._types: dict[str, str] = {}  # the definitions of types, by variable
        self._methods = [self._method(each) for each in self.members]

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Returns the rows of the table of methods: constructors, methods and functions."""
        of_classes = [member for each in self.objects.classes for member in each.members]
        return (*of_classes, *self.objects.functions)

    def position(self, member: Member) -> int:
        """Returns the position of a member in the table."""
        return next(position for position, each in enumerate(self.members) if each is member)

    def variable(self, member: Member) -> str:
        """Returns the prefix of the variables of a member."""
        return f"{member.owner if not member.constant else ''}{pascal(member.name)}"

    def method(self, member: Member) -> str:
        """Returns the initializer of the of_method of a member."""
        return self._methods[self.position(member)]

    @property
    def text(self) -> str:
        """Returns the definitions of types and parameters."""
        return Templates(Path(__file__).parent).render("table.j2", types=self._types.values(), table=self)

    def parameters(self, member: Member) -> list[str]:
        """Returns the initializers of the parameters of a member."""
        return [
            f"{string(self.words.parameter_name(each.name))}, &{self._type(each.type)}, "
            f"{boolean(not each.has_default)}, {boolean(each.is_named)}"
            for each in member.parameters
        ]

    def _method(self, member: Member) -> str:
        result = member.result
        if result.word == SELF:
            result = ObjectType(member.owner)
        parameters = (
            f"{self.variable(member)}Parameters, {len(member.parameters)}" if member.parameters else "nullptr, 0"
        )
        self.parameters(member)  # defines their types
        return f"{{{string(self.words.member_name(member))}, nullptr, {parameters}, &{self._type(result)}}}"

    def _type(self, type_: ObjectType) -> str:
        """Returns the variable of a type, which is defined on first use."""
        text = str(type_).replace("[]", "_list").replace("{}", "_map").replace("?", "_optional")
        name = f"type{pascal(text)}"
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
            fields = ", ".join(string(self.words.parameter_name(each.name)) for each in record.fields)
            rows = ", ".join(self._row(each.type) for each in record.fields)
            before = f"const char* const {names}[] = {{{fields}}};\nconst of_type {items}[] = {{{rows}}};\n"
        elif kind is None:
            kind, label = "OF_TYPE_OBJECT", string(type_.word)
        word = string(self.words.expected(type_))
        row = ", ".join((kind, boolean(type_.optional), word, label, str(count), items, names))
        self._types[name] = f"{before}const of_type {name} = {{{row}}};"
        return name

    def _row(self, type_: ObjectType) -> str:
        """Returns the initializer of the type of a field."""
        definition = self._types[self._type(type_)]
        return definition[definition.rindex("= ") + 2 :].removesuffix(";")
