"""Classes in Node.js: the table of the addon, the classes, and their declarations."""

from __future__ import annotations

from collections.abc import Callable

from codegen.names import camel, wrap
from codegen.objects.model import SELF, Class, Member, Objects, ObjectType
from codegen.objects.table import ClassWords, Table
from codegen.printer import string

_WORDS = {  # in error texts, of one value and of several, and in declarations of parameters and results
    "bool": ("boolean", "booleans", "boolean", "boolean"),
    "int": ("integer", "integers", "Integer", "number"),
    "word": ("integer", "integers", "Integer", "bigint"),
    "float": ("number", "numbers", "number", "number"),
    "str": ("string", "strings", "string", "string"),
    "dtype": ("dtype", "dtypes", "DType", "DType"),
    "device": ("device", "devices", "DeviceLike", "string"),
    "Tensor": ("Tensor", "Tensors", "Tensor", "Tensor"),
    "None": ("undefined", "undefined", "void", "void"),
    SELF: ("", "", "this", "this"),
}
_WIDTH = 120


class JsWords(ClassWords):
    def type_word(self, type_: ObjectType) -> str:
        if type_.item:
            several = _WORDS.get(type_.item.word, ("", f"{type_.item.word}s"))[1]
            return f"{'array' if type_.word == 'list' else 'object'} of {several}"
        if type_.word in self.objects.records_by_name:
            return "object"
        return _WORDS.get(type_.word, (type_.word,))[0]

    def expected(self, type_: ObjectType) -> str:
        word = self.type_word(type_)
        return f"{word} or null" if type_.optional else word

    def parameter_name(self, name: str) -> str:
        return camel(name)

    def member_name(self, member: Member) -> str:
        return member.owner if member.is_create else camel(member.names.get("js", member.name))


class JsClasses:
    """The classes, constants and functions of the package."""

    def __init__(self, objects: Objects, say: Callable[[str], str]) -> None:
        self.objects = objects
        self.words = JsWords(objects)
        self.table = Table(objects, self.words)
        self.say = say  # writes prose with the names of this language

    def method_row(self, member: Member) -> str:
        """Returns the initializer of a MethodRecord."""
        return f"{self.table.method(member)}, {string(member.implementation)}"

    def name(self, member: Member) -> str:
        """Returns the name of a method or a function."""
        return self.words.member_name(member)

    def class_of(self, member: Member) -> str:
        """Returns the name of the constant's class for a function that calls its method."""
        return next(each.type for each in self.objects.constants if each.name == member.constant)

    # -- declarations -----------------------------------------------------------------------------------------------

    def declared(self, type_: ObjectType, *, is_result: bool = False) -> str:
        """Returns the type of a parameter or a result."""
        if type_.item:
            inner = self.declared(type_.item, is_result=is_result)
            text = f"{inner}[]" if type_.word == "list" else f"Record<string, {inner}>"
        elif (record := self.objects.records_by_name.get(type_.word)) and is_result:
            fields = [f"{camel(each.name)}: {self.declared(each.type, is_result=True)}" for each in record.fields]
            text = f"{{{'; '.join(fields)}}}"
        else:
            text = _WORDS.get(type_.word, ("", "", type_.word, type_.word))[3 if is_result else 2]
        return f"{text} | null" if type_.optional else text

    def parameters(self, member: Member) -> str:
        """Returns the parameters of a declaration; those that are passed by name only are options."""
        positional = [
            f"{camel(each.name)}{'?' * each.has_default}: {self.declared(each.type)}"
            for each in member.parameters
            if not each.is_named
        ]
        named = [
            f"{camel(each.name)}{'?' * each.has_default}: {self.declared(each.type)}"
            for each in member.parameters
            if each.is_named
        ]
        return ", ".join([*positional, *([f"options?: {{{'; '.join(named)}}}"] if named else [])])

    def result(self, member: Member) -> str:
        """Returns the type of the result in a declaration."""
        if member.constant and member.result.word == SELF:
            return self.class_of(member)
        return self.declared(member.result, is_result=True)

    def comment(self, text: str, indent: int) -> str:
        """Returns a documentation comment whose next lines are indented by `indent` columns."""
        text = self.say(text)
        margin = " " * indent
        if len(text) + indent + 7 <= _WIDTH and "\n" not in text:
            return f"/** {text} */"
        return "\n".join(["/**", *wrap(text, _WIDTH, f"{margin} * "), f"{margin} */"])

    def documentation(self, each: Class) -> str:
        """Returns the text about a class."""
        return "\n\n".join(filter(None, (each.summary, each.description.strip())))
