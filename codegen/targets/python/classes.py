"""Classes in Python: the rows of the extension's table of classes, and stubs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from codegen.names import wrap
from codegen.objects.model import SELF, Class, Member, Objects, ObjectType, Parameter, Record
from codegen.objects.table import ClassWords, Table
from codegen.printer import string

_WORDS = {  # in error texts, of one value and of several, and in annotations
    "bool": ("bool", "bools", "bool"),
    "int": ("int", "ints", "int"),
    "word": ("int", "ints", "int"),
    "float": ("float", "floats", "float"),
    "str": ("str", "strs", "str"),
    "dtype": ("dtype", "dtypes", "DTypeLike"),
    "device": ("device", "devices", "DeviceLike"),
    "Tensor": ("Tensor", "Tensors", "Tensor"),
    "None": ("None", "None", "None"),
}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_WIDTH = 120


class PythonWords(ClassWords):
    def type_word(self, type_: ObjectType) -> str:
        if type_.item:
            return f"{'list' if type_.word == 'list' else 'dict'} of {_several(type_.item)}"
        if record := self.objects.records_by_name.get(type_.word):
            return _tuple_word(record)
        return _WORDS.get(type_.word, (type_.word,))[0]

    def parameter_name(self, name: str) -> str:
        return name

    def member_name(self, member: Member) -> str:
        return member.owner if member.is_create else member.name


def _several(type_: ObjectType) -> str:
    return _WORDS.get(type_.word, (type_.word, f"{type_.word}s"))[1]


def _tuple_word(record: Record) -> str:
    """Returns "tuple of two ints, the seed and the offset"."""
    names = [f"the {each.name}" for each in record.fields]
    kinds = [f"{_NUMBERS[len(list(each))]} {_several(type_)}" for type_, each in groupby(f.type for f in record.fields)]
    return f"tuple of {' and '.join(kinds)}, {', '.join(names[:-1])} and {names[-1]}"


class PythonClasses:
    """The classes, records, constants and functions of the package."""

    def __init__(self, objects: Objects, say: Callable[[str], str]) -> None:
        self.objects = objects
        self.words = PythonWords(objects)
        self.table = Table(objects, self.words)
        self.say = say  # writes prose with the names of this language

    # -- the extension's table ------------------------------------------------------------------------------------

    def method_row(self, member: Member) -> str:
        """Returns the initializer of a MethodRecord."""
        is_create = member.is_create
        name = "__init__" if is_create else member.name
        receiver = [] if member.constant else ["$self"]
        documentation = f"{name}({', '.join([*receiver, *self._plain(member)])})\n--\n\n{self.say(member.summary)}"
        entry = f"call_entry<{self.table.position(member)}>"
        texts = (string(member.implementation), string(name), string(documentation))
        return f"{self.table.method(member)}, {', '.join(texts)}, {entry}"

    def class_row(self, each: Class) -> str:
        """Returns the initializer of a ClassRecord."""
        create = f"&kMethods[{self.table.position(each.create)}]" if each.create else "nullptr"
        first = self.table.position(each.methods[0])
        state = [f"&kMethods[{self.table.position(member)}]" for member in each.state or ()]
        parameters = ", ".join(self._plain(each.create)) if each.create else ""
        documentation = f"{each.name}({parameters})\n--\n\n{self.documentation(each)}"
        methods = f"std::span(kMethods).subspan({first}, {len(each.methods)})"
        return f"{string(each.name)}, {string(documentation)}, {create}, {methods}, {{{', '.join(state)}}}"

    def documentation(self, each: Class) -> str:
        """Returns the docstring of a class."""
        return "\n\n".join(filter(None, (self.say(each.summary), self.say(each.description).strip())))

    def _plain(self, member: Member) -> list[str]:
        """Returns the parameters as `inspect.signature` reads them."""
        texts = [f"{each.name}={each.default!r}" if each.has_default else each.name for each in member.parameters]
        return _starred(member, texts)

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

    def definition(self, member: Member, indent: int) -> str:
        """Returns the declaration of a method or a function with its docstring."""
        is_create = member.is_create
        name = "__init__" if is_create else member.name
        own = [] if member.constant else ["self"]
        result = "None" if is_create else self.annotation(member.result, is_result=True)
        if member.constant and member.result.word == SELF:
            result = member.owner
        texts = [f"{each.name}: {self._declared(each)}" for each in member.parameters]
        head = f"def {name}({', '.join([*own, *_starred(member, texts)])}) -> {result}:"
        margin = " " * (indent + 4)
        return f"{head}\n{margin}{self.docstring(self.say(member.summary), indent + 4)}"

    def _declared(self, parameter: Parameter) -> str:
        """Returns the annotation of a parameter with its default."""
        text = self.annotation(parameter.type)
        if not parameter.has_default:
            return text
        null = " | None" if parameter.default is None and not parameter.type.optional else ""
        return f"{text}{null} = {parameter.default!r}"

    def docstring(self, text: str, indent: int) -> str:
        """Returns a docstring whose next lines are indented by `indent` columns."""
        lines = wrap(text, _WIDTH - indent - 3)
        if len(lines) == 1:
            return f'"""{lines[0]}"""'
        first, rest = text.split(". ", 1) if ". " in lines[0] + " " else (text, "")
        if rest and len(first) < _WIDTH - indent - 4:
            lines = [f"{first}.", "", *wrap(rest, _WIDTH - indent)]
        return "\n".join(
            f"{' ' * indent}{line}".rstrip() if i else f'"""{line}' for i, line in enumerate([*lines, '"""'])
        )


def _starred(member: Member, texts: list[str]) -> list[str]:
    """Returns parameters with a `*` before the first one that is passed by name only."""
    named = next((i for i, each in enumerate(member.parameters) if each.is_named), len(texts))
    return [*texts[:named], *(["*"] if named < len(texts) else []), *texts[named:]]
