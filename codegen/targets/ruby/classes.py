"""Classes in Ruby: the table of the extension, and RBS signatures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from codegen.names import in_lines, snake, wrap
from codegen.objects.examples import Examples
from codegen.objects.model import SELF, Class, Member, Objects, ObjectType, Record
from codegen.objects.table import ClassWords, Table
from codegen.printer import boolean, string
from codegen.targets.ruby.words import RUBY

_WORDS = {  # in error texts, of one value and of several, and in RBS
    "bool": ("bool", "bools", "bool"),
    "int": ("Integer", "Integers", "Integer"),
    "word": ("Integer", "Integers", "Integer"),
    "positive": ("a positive Integer", "Integers", "Integer"),
    "float": ("Float", "Floats", "Float"),
    "str": ("String", "Strings", "String"),
    "dtype": ("dtype", "dtypes", "name"),
    "device": ("device", "devices", "name"),
    "Tensor": ("Tensor", "Tensors", "Tensor"),
    "None": ("nil", "nil", "nil"),
    "path": ("String or Pathname", "paths", "path"),
    "nested": ("Tensor, Hash or Array", "nested data", "tree"),
    "range": ("range", "ranges", "Graph::sizes"),
    "function": ("Proc", "Procs", "Proc"),
    "size": ("a positive Integer, a Range or the name of a size", "sizes", "Integer | Graph::sizes | Graph::size"),
    "array": ("Tensor", "Tensors", "nested"),
    "any": ("any", "any", "untyped"),
    SELF: ("", "", "self"),
}
_WIDTH = 120
_SHOWN = 100  # of signatures in the manual


class RubyWords(ClassWords):
    language = "ruby"
    has_blocks = True

    words = _WORDS
    null, list_word, map_word = "nil", "Array", "Hash"

    def record_word(self, record: Record) -> str:
        names = [each.name for each in record.fields]
        return f"Array of {', '.join(names[:-1])} and {names[-1]}"

    def public_name(self, member: Member) -> str:
        return method_name(member)

    def said_name(self, member: Member) -> str:
        return member.name if member.is_property else super().said_name(member)

    def say(self, text: str) -> str:
        return re.sub(r"`([A-Z]\w*)\.(\w+)`", r"`\1#\2`", text)

    def qualified(self, namespace: str, name: str) -> str:
        space = "::".join(filter(None, ("OneFlow", namespace.capitalize())))
        return f"{space}::{name}.new" if name[0].isupper() else f"{space}.{name}"


def method_name(member: Member) -> str:
    """Returns the name of a method: `state` for `get_state`, and `state=` for `set_state`."""
    name = member.names.get("ruby", member.name)
    if member.is_setter_of_property:
        return f"{name}="
    if name.startswith("get_") and not member.parameters:
        return name.removeprefix("get_")
    if name.startswith("set_") and len(member.parameters) == 1:
        return f"{name.removeprefix('set_')}="
    return name


class RubyExamples(Examples):
    def assignment(self, name: str, value: str) -> str:
        return f"{name} = {value}"

    def lambda_(self, parameters: Sequence[str], body: str) -> str:
        return f"->({', '.join(parameters)}) {{ {body} }}"

    def block(self, function: str) -> str:
        return re.sub(r"->\((.*?)\) \{", r" { |\1|", function, count=1)

    def arguments(self, positional: Sequence[str], named: Mapping[str, str]) -> str:
        texts = [*positional, *RUBY.named(named)]
        return f"({', '.join(texts)})" if texts else ""

    def method(self, receiver: str, name: str, arguments: str) -> str:
        if name.endswith("="):
            return f"{receiver}.{name.removesuffix('=')} = {arguments[1:-1]}"
        return super().method(receiver, name, arguments)

    def map_(self, items: Mapping[str, str]) -> str:
        return f"{{ {', '.join(f'{self.words.string(key)} => {text}' for key, text in items.items())} }}"


class RubyClasses:
    """The classes, constants and functions of the gem."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.words = RubyWords(objects)
        self.table = Table(objects, self.words)
        self.say = self.words.say

    # -- the extension's table ------------------------------------------------------------------------------------

    def method_row(self, member: Member) -> str:
        """Returns the initializer of a MethodRecord."""
        name = "initialize" if member.is_create else method_name(member)
        entry = f"call_entry<{self.table.position(member)}>"
        texts = (string(member.implementation), string(name), entry, boolean(member.is_overridable))
        return f"{self.table.method(member)}, {', '.join(texts)}"

    def class_row(self, each: Class) -> str:
        """Returns the initializer of a ClassRecord."""
        at = self.table.at
        names = (string(each.namespace), string(each.name), at(each.create), f"k{each.name}Methods", at(each.text))
        pairs = map(at, (*(each.state or (None, None)), *(each.context or (None, None))))
        use = string(each.use) if each.use else "nullptr"
        items = map(at, (each.items.keys, each.items.get) if each.items else (None, None))
        return ", ".join(
            (*names, boolean(each.is_shared), *pairs, boolean(each.needs_block), *items, at(each.equality), use)
        )

    def constant_position(self, member: Member) -> int:
        """Returns the position of the constant whose method a function calls."""
        return [each.name for each in self.objects.constants].index(member.constant) if member.constant else -1

    # -- RBS --------------------------------------------------------------------------------------------------------

    def declared(self, type_: ObjectType) -> str:
        """Returns a type in RBS."""
        if type_.item:
            inner = self.declared(type_.item)
            text = f"Array[{inner}]" if type_.word == "list" else f"Hash[String | Symbol, {inner}]"
        elif record := self.objects.records_by_name.get(type_.word):
            plain = f"[{', '.join(self.declared(each.type) for each in record.fields)}]"
            text = plain if record.is_plain else self.qualified(record.namespace, record.name)
        elif owner := next((each for each in self.objects.classes if each.name == type_.word), None):
            text = self.qualified(owner.namespace, owner.name)
        else:
            text = _WORDS[type_.word][2]
        text = f"({text})" if type_.optional and " " in text else text
        return f"{text}?" if type_.optional and text != "untyped" else text

    @staticmethod
    def qualified(namespace: str, name: str) -> str:
        """Returns the name of a class with its module, which may be the class itself."""
        module = namespace.capitalize()
        return f"{module}::{name}" if module not in ("", name) else name

    def definition(self, member: Member, indent: int) -> str:
        """Returns the declaration of a method or a function."""
        name = "initialize" if member.is_create else method_name(member)
        receiver = "" if member.has_receiver or member.is_create else "self."
        parameters, tail = self._parts(member)
        return in_lines(f"def {receiver}{name}: (", parameters, tail, indent, _WIDTH)

    def signature(self, member: Member) -> str:
        """Returns the signature of a member as the manual shows it."""
        path = self.words.path(member)
        parameters, tail = self._parts(member)
        if not parameters and "{" not in tail:
            return f"{path}{tail[1:]}"
        if path.endswith("="):
            return f"{path.removesuffix('=')} = {parameters[0]}"
        tail = tail.replace("-> void", f"-> {member.owner}")
        return in_lines(f"{path}(", parameters, tail, 0, _SHOWN)

    def _parts(self, member: Member) -> tuple[list[str], str]:
        """Returns the parameters of a declaration, and what follows them."""
        texts: list[str] = []
        last: list[str] = []
        block = ""
        made = self.objects.classes_by_name.get(member.result.word)
        is_context = bool(made and made.context and not member.owner and not member.block)
        if made and is_context:
            block = f" {{ ({made.name} {snake(made.name)}) -> {'void' if made.needs_block else 'untyped'} }}"
        for each in member.parameters:
            type_ = self.declared(each.type)
            null = "?" * (each.has_default and each.default is None and not type_.endswith("?") and type_ != "untyped")
            type_ = f"({type_}){null}" if null and " " in type_ else f"{type_}{null}"
            mark = "?" * each.has_default
            own = self.words.parameter_name(member, each.name)
            if each.name == member.block:
                block = f" {{ (*untyped) -> {'untyped' if member.by_hand else 'tree'} }}"
            elif each.collects:
                plain = self.declared(each.type)
                texts += [f"*{plain} {each.name}"] * (each.collects != "**")
                last = [f"**{plain} {'named' if each.collects == '***' else each.name}"] * (each.collects != "*")
            elif member.is_property:
                texts.append(type_)
            else:
                texts.append(f"{mark}{own}: {type_}" if each.is_named else f"{mark}{type_} {own}")
        result = "void" if member.is_create else self.declared(member.result)
        if made and is_context and not made.needs_block:
            block, result = "", f"{result}\n{' ' * 6}| ({', '.join([*texts, *last])}){block} -> untyped"
        if member.constant and member.result.word == SELF:
            result = member.owner
        if method_name(member).endswith("="):
            result = self.declared(member.parameters[0].type)
        return [*texts, *last], f"){block} -> {result}"

    def about(self, member: Member) -> str:
        """Returns the text about a member: the summary, what its arguments are, and more."""
        if member.is_setter_of_property:
            return f"Sets `{member.name}`."
        named = [(self.words.parameter_name(member, each.name), each.summary) for each in member.parameters]
        arguments = [f"`{name}`: {text}." for name, text in named if text]
        return "\n\n".join(filter(None, (member.summary, " ".join(arguments), member.description.strip())))

    def in_home(self, namespace: str) -> tuple[list[Record], list[Class], list[Member]]:
        """Returns the Structs, the classes and the functions of a module, or of the class that is it."""
        found = self.objects
        return (
            [each for each in found.records if each.namespace == namespace and not each.is_plain],
            [each for each in found.classes if each.namespace == namespace and each.name != namespace.capitalize()],
            [each for each in found.declared if each.namespace == namespace],
        )

    def home_class(self, namespace: str) -> Class | None:
        """Returns the class that is a namespace, too."""
        found = (each for each in self.objects.classes if each.namespace == namespace)
        return next((each for each in found if each.name == namespace.capitalize()), None)

    def comment(self, text: str, indent: int) -> str:
        """Returns a comment."""
        return "\n".join(wrap(self.say(text), _WIDTH, f"{' ' * indent}# ")).lstrip()
