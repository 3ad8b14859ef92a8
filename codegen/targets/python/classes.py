"""Classes in Python: the rows of the extension's table of classes, and stubs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from codegen.names import in_lines, wrap
from codegen.objects.examples import Examples
from codegen.objects.model import SELF, Class, Member, Objects, ObjectType, Parameter, Record
from codegen.objects.table import ClassWords, Table
from codegen.printer import boolean, string

_WORDS = {  # in error texts, of one value and of several, and in annotations
    "bool": ("bool", "bools", "_bool"),
    "int": ("int", "ints", "int"),
    "word": ("int", "ints", "int"),
    "positive": ("a positive int", "ints", "int"),
    "float": ("float", "floats", "float"),
    "str": ("str", "strs", "str"),
    "dtype": ("dtype", "dtypes", "DTypeLike"),
    "device": ("device", "devices", "DeviceLike"),
    "Tensor": ("Tensor", "Tensors", "Tensor"),
    "None": ("None", "None", "None"),
    "path": ("str, bytes or os.PathLike", "paths", "str | bytes | os.PathLike[Any]"),
    "nested": ("Tensor, dict, list or tuple", "nested data", "Any"),
    "range": ("range", "ranges", "range"),
    "function": ("callable", "functions", "Callable[..., Any]"),
    "size": ("a positive int, a range that is not empty, or the name of a size", "sizes", "int | range | str"),
    "array": ("Tensor", "arrays", "Any"),
    "any": ("any", "any", "Any"),
}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_WIDTH = 120
_SHOWN = 100  # of signatures in the manual


class PythonWords(ClassWords):
    language = "python"

    words = _WORDS
    null, list_word, map_word = "None", "list", "dict"

    def record_word(self, record: Record) -> str:
        names = [f"the {each.name}" for each in record.fields]
        kinds = [f"{_NUMBERS[len(list(each))]} {self.several(t)}" for t, each in groupby(f.type for f in record.fields)]
        return f"tuple of {' and '.join(kinds)}, {', '.join(names[:-1])} and {names[-1]}"

    def context_name(self, member: Member) -> str:
        return {"enter": "__enter__", "leave": "__exit__"}[member.method]


class PythonExamples(Examples):
    def assignment(self, name: str, value: str) -> str:
        return f"{name} = {value}"

    def lambda_(self, parameters: Sequence[str], body: str) -> str:
        return f"lambda {', '.join(parameters)}: {body}"

    def arguments(self, positional: Sequence[str], named: Mapping[str, str]) -> str:
        return f"({', '.join([*positional, *(f'{name}={text}' for name, text in named.items())])})"

    def method(self, receiver: str, name: str, arguments: str) -> str:
        return f"{receiver}{arguments}" if name == "__call__" else super().method(receiver, name, arguments)

    def map_(self, items: Mapping[str, str]) -> str:
        return f"{{{', '.join(string(key) + ': ' + text for key, text in items.items())}}}"


class PythonClasses:
    """The classes, records, constants and functions of the package."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.words = PythonWords(objects)
        self.table = Table(objects, self.words)
        self.say = self.words.say

    # -- the extension's table ------------------------------------------------------------------------------------

    def method_row(self, member: Member) -> str:
        """Returns the initializer of a MethodRecord."""
        name = self.name(member)
        receiver = ["$self"] if member.has_receiver or member.is_create or member.of_tensors else []
        parameters = [*receiver, *self._plain(member)]
        text = f"{name}({', '.join(parameters)})\n--\n\n{self.about(member)}"
        if member.is_property:
            text = self.say(member.summary)
        entry = f"call_entry<{self.table.position(member)}>"
        texts = (string(member.implementation), string(member.namespace), string(name), string(text))
        return f"{self.table.method(member)}, {', '.join(texts)}, {entry}, {boolean(member.is_overridable)}"

    def name(self, member: Member) -> str:
        """Returns the name of an attribute or a function."""
        return "__init__" if member.is_create else self.words.public_name(member)

    def class_row(self, each: Class) -> str:
        """Returns the initializer of a ClassRecord."""
        state = ", ".join(self.table.at(member) for member in each.state or (None, None))
        parameters = ", ".join(self._plain(each.create)) if each.create else ""
        head = f"{each.name}({parameters})\n--\n\n" if each.create else ""
        context = ", ".join(self.table.at(member) for member in each.context or (None, None))
        made_by = string(self.words.plain(each.reason)) if each.reason else "nullptr"
        lists = f"k{each.name}Methods, k{each.name}Properties"
        names = (string(each.namespace), string(each.name), string(f"{head}{self.say(each.documentation)}"))
        made = (self.table.at(each.create), made_by, lists, self.table.at(each.text))
        items = ", ".join(map(self.table.at, (each.items.keys, each.items.get) if each.items else (None, None)))
        equality = self.table.at(each.equality)
        return ", ".join((*names, *made, f"{{{state}}}", f"{{{context}}}", f"{{{items}}}", equality))

    def field_names(self, record: Record) -> list[str]:
        """Returns the names of the fields of a record."""
        return [self.words.field_name(record, each) for each in record.fields]

    def about(self, member: Member) -> str:
        """Returns the docstring of a member: the summary, what its arguments are, and more."""
        arguments = "\n".join(f"{each.name}: {self.say(each.summary)}" for each in member.parameters if each.summary)
        return "\n\n".join(filter(None, (self.say(member.summary), arguments, self.say(member.description).strip())))

    def _plain(self, member: Member) -> list[str]:
        """Returns the parameters as `inspect.signature` reads them."""

        def show(parameter: Parameter) -> str:
            return f"{parameter.name}={parameter.default!r}" if parameter.has_default else parameter.name

        return self._listed(member, show, lambda _: "")

    def _typed(self, member: Member) -> list[str]:
        """Returns the parameters with their annotations and defaults."""

        def show(parameter: Parameter) -> str:
            text = f"{parameter.name}: {self.annotation(parameter.type)}"
            null = " | None" if parameter.default is None and not parameter.type.optional else ""
            return f"{text}{null} = {parameter.default!r}" if parameter.has_default else text

        return self._listed(member, show, lambda each: f": {self.annotation(each.type)}")

    @staticmethod
    def _listed(member: Member, show: Callable[[Parameter], str], typed: Callable[[Parameter], str]) -> list[str]:
        """Returns the parameters as Python writes them."""
        texts: list[str] = []
        last: list[str] = []
        for each in member.parameters:
            if each.collects in ("*", "***"):
                texts.append(f"*{each.name}{typed(each)}")
            elif each.is_named and not any(text.startswith("*") for text in texts):
                texts.append("*")
            if each.collects in ("**", "***"):
                last = [f"**{'named' if each.collects == '***' else each.name}{typed(each)}"]
            if not each.collects:
                texts.append(show(each))
        return [*texts, *last]

    # -- stubs ----------------------------------------------------------------------------------------------------

    def annotation(self, type_: ObjectType, *, is_result: bool = False) -> str:
        """Returns the annotation of a parameter or a result."""
        if type_.item:
            inner = self.annotation(type_.item, is_result=is_result)
            lists = ("list", "dict") if is_result else ("Sequence", "Mapping")
            text = f"{lists[0]}[{inner}]" if type_.word == "list" else f"{lists[1]}[str, {inner}]"
        elif (record := self.objects.records_by_name.get(type_.word)) and not is_result:
            kinds = dict.fromkeys(self.annotation(each.type) for each in record.fields)
            text = f"Sequence[{' | '.join(kinds)}]"
        elif is_result and type_.word in ("dtype", "device"):
            text = type_.word
        else:
            text = {SELF: "Self"}.get(type_.word) or _WORDS.get(type_.word, ("", "", type_.word))[2]
        return f"{text} | None" if type_.optional else text

    def field_annotation(self, type_: ObjectType) -> str:
        """Returns the annotation of a field of a record, whose lists are tuples."""
        if type_.item and type_.word == "list":
            return f"tuple[{self.field_annotation(type_.item)}, ...]"
        return self.annotation(type_, is_result=True)

    def definition(self, member: Member, indent: int) -> str:
        """Returns the declaration of a method, a property or a function with its docstring."""
        own = ["self"] if member.has_receiver or member.is_create else []
        margin = " " * indent
        before = f"@property\n{margin}" if member.is_property else ""
        if member.is_setter_of_property:
            before = f"@{member.name}.setter\n{margin}"
            value = self.annotation(member.parameters[0].type)
            return f"{before}def {member.name}(self, value: {value}) -> None: ..."
        items = [*own, *self._typed(member)]
        head = in_lines(f"def {self.name(member)}(", items, f") -> {self._result(member)}:", indent, _WIDTH)
        return f"{before}{head}\n{margin}    {self.docstring(self.about(member), indent + 4)}"

    def _result(self, member: Member) -> str:
        if member.is_create:
            return "None"
        return (
            member.owner if member.constant and member.returns_self else self.annotation(member.result, is_result=True)
        )

    def signature(self, member: Member) -> str:
        """Returns the signature of a member as the manual shows it."""
        path = self.words.path(member).removesuffix(".__call__")
        if member.is_property:
            return f"{path}: {self._result(member)}"
        return in_lines(
            f"{path}(", self._typed(member), ")" if member.is_create else f") -> {self._result(member)}", 0, _SHOWN
        )

    def docstring(self, text: str, indent: int) -> str:
        """Returns a docstring whose next lines are indented by `indent` columns."""
        first, *others = text.split("\n\n")
        summary, dot, rest = first.partition(". ")
        if len(first) > _WIDTH - indent - 6 and dot and len(summary) < _WIDTH - indent - 6:
            first, others = f"{summary}.", [rest, *others]
        if not others and len(first) <= _WIDTH - indent - 6:
            return f'"""{first}"""'
        margin = " " * indent
        lines = wrap(first, _WIDTH - indent - 3)
        for part in others:
            lines.append("")
            for line in part.split("\n") if re.match(r"\w+: ", part) else [part]:
                lines += wrap(line, _WIDTH - indent)
        return "\n".join([f'"""{lines[0]}', *(f"{margin}{line}".rstrip() for line in lines[1:]), f'{margin}"""'])

    def imports(self, namespace: str) -> list[str]:
        """Returns the imports of the classes of other namespaces that the functions of a namespace name."""
        homes = {each.name: each.namespace for each in self.objects.classes}
        homes |= {each.name: each.namespace for each in self.objects.records}
        own = self.in_namespace(namespace)
        members = [member for each in own.classes for member in each.members] + list(own.declared)
        names = {name for each in members for name in each.result.names}
        names |= {name for each in members for part in each.parameters for name in part.type.names}
        return [f"from oneflow_py.{homes[n]} import {n}" for n in sorted(names) if homes[n] not in ("", namespace)]

    def in_namespace(self, namespace: str) -> Objects:
        """Returns the records, classes and functions of a namespace, and of the package for an empty one."""
        found = self.objects
        return Objects(
            tuple(each for each in found.classes if each.namespace == namespace),
            tuple(each for each in found.records if each.namespace == namespace),
            found.constants if not namespace else (),
            tuple(each for each in found.functions if each.namespace == namespace),
            by_hand=tuple(each for each in found.by_hand if each.namespace == namespace),
        )
