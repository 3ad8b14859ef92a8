"""Classes in Ruby: the table of the extension, and RBS signatures."""

from __future__ import annotations

from collections.abc import Callable

from codegen.names import wrap
from codegen.objects.model import SELF, Class, Member, Objects, ObjectType
from codegen.objects.table import ClassWords, Table
from codegen.printer import string

_WORDS = {  # in error texts, of one value and of several, and in RBS
    "bool": ("bool", "bools", "bool"),
    "int": ("Integer", "Integers", "Integer"),
    "word": ("Integer", "Integers", "Integer"),
    "float": ("Float", "Floats", "Float"),
    "str": ("String", "Strings", "String"),
    "dtype": ("dtype", "dtypes", "dtype"),
    "device": ("device", "devices", "device"),
    "Tensor": ("Tensor", "Tensors", "Tensor"),
    "None": ("nil", "nil", "void"),
    SELF: ("", "", "self"),
}
_WIDTH = 120


class RubyWords(ClassWords):
    def type_word(self, type_: ObjectType) -> str:
        if type_.item:
            several = _WORDS.get(type_.item.word, ("", f"{type_.item.word}s"))[1]
            return f"{'Array' if type_.word == 'list' else 'Hash'} of {several}"
        if record := self.objects.records_by_name.get(type_.word):
            names = [each.name for each in record.fields]
            return f"Array of {', '.join(names[:-1])} and {names[-1]}"
        return _WORDS.get(type_.word, (type_.word,))[0]

    def parameter_name(self, name: str) -> str:
        return name

    def member_name(self, member: Member) -> str:
        return member.owner if member.is_create else method_name(member)


def method_name(member: Member) -> str:
    """Returns the name of a method: `state` for `get_state`, and `state=` for `set_state`."""
    name = member.names.get("ruby", member.name)
    if name.startswith("get_") and not member.parameters:
        return name.removeprefix("get_")
    if name.startswith("set_") and len(member.parameters) == 1:
        return f"{name.removeprefix('set_')}="
    return name


class RubyClasses:
    """The classes, constants and functions of the gem."""

    def __init__(self, objects: Objects, say: Callable[[str], str]) -> None:
        self.objects = objects
        self.words = RubyWords(objects)
        self.table = Table(objects, self.words)
        self.say = say  # writes prose with the names of this language

    # -- the extension's table ------------------------------------------------------------------------------------

    def method_row(self, member: Member) -> str:
        """Returns the initializer of a MethodRecord."""
        name = "initialize" if member.is_create else method_name(member)
        entry = f"call_entry<{self.table.position(member)}>"
        return f"{self.table.method(member)}, {string(member.implementation)}, {string(name)}, {entry}"

    def class_row(self, each: Class) -> str:
        """Returns the initializer of a ClassRecord."""
        create = f"&kMethods[{self.table.position(each.create)}]" if each.create else "nullptr"
        methods = f"std::span(kMethods).subspan({self.table.position(each.methods[0])}, {len(each.methods)})"
        state = [f"&kMethods[{self.table.position(member)}]" for member in each.state or ()] or ["nullptr", "nullptr"]
        return f"{string(each.name)}, {create}, {methods}, {', '.join(state)}"

    def constant_position(self, member: Member) -> int:
        """Returns the position of the constant whose method a function calls."""
        return [each.name for each in self.objects.constants].index(member.constant)

    # -- RBS --------------------------------------------------------------------------------------------------------

    def declared(self, type_: ObjectType) -> str:
        """Returns a type in RBS."""
        if type_.item:
            inner = self.declared(type_.item)
            text = f"Array[{inner}]" if type_.word == "list" else f"Hash[String, {inner}]"
        elif record := self.objects.records_by_name.get(type_.word):
            text = f"[{', '.join(self.declared(each.type) for each in record.fields)}]"
        else:
            text = _WORDS.get(type_.word, ("", "", type_.word))[2]
        return f"{text}?" if type_.optional else text

    def definition(self, member: Member) -> str:
        """Returns the declaration of a method or a function."""
        name = "initialize" if member.is_create else method_name(member)
        receiver = "self." if member.constant else ""
        texts = []
        for each in member.parameters:
            optional = "?" * (each.default is None and each.has_default and not each.type.optional)
            type_ = f"{self.declared(each.type)}{optional}"
            mark = "?" * each.has_default
            texts.append(f"{mark}{each.name}: {type_}" if each.is_named else f"{mark}{type_} {each.name}")
        result = "void" if member.is_create else self.declared(member.result)
        if member.constant and member.result.word == SELF:
            result = self.objects.constants[self.constant_position(member)].type
        if name.endswith("="):
            result = self.declared(member.parameters[0].type)
        return f"def {receiver}{name}: ({', '.join(texts)}) -> {result}"

    def comment(self, text: str, indent: int) -> str:
        """Returns a comment."""
        return "\n".join(wrap(self.say(text), _WIDTH, f"{' ' * indent}# ")).lstrip()

    def documentation(self, each: Class) -> str:
        """Returns the text about a class."""
        return "\n\n".join(filter(None, (each.summary, each.description.strip())))
