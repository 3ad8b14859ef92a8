"""Classes in C++: objects that hold a handle of the C API, with a method for each function of it."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.names import wrap
from codegen.objects.model import SELF, Class, Member, Objects, ObjectType, Parameter
from codegen.printer import string

_TYPES = {  # the types of parameters and of results, and how a parameter is passed to C
    "bool": ("bool", "bool", "{}"),
    "int": ("int64_t", "int64_t", "{}"),
    "word": ("uint64_t", "uint64_t", "{}"),
    "float": ("double", "double", "{}"),
    "str": ("const std::string&", "const char*", "{}.c_str()"),
    "dtype": ("DType", "DType", "{}"),
    "device": ("const Device&", "of_device", "{}.get()"),
    "Tensor": ("const Tensor&", "of_tensor", "{}.get()"),
}


class CppClasses:
    """The classes whose members are functions of the C API; the others are used by their C API."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.classes = [each for each in objects.classes if not each.is_internal]
        self.headers = sorted({each.header for each in self.classes} - {""})

    def type(self, type_: ObjectType, *, is_result: bool = False) -> str:
        """Returns the type of a parameter or a result."""
        if type_.word in self.objects.records_by_name:
            return type_.word if is_result else f"const {type_.word}&"
        if type_.word in self.objects.classes_by_name:
            return type_.word if is_result else f"const {type_.word}&"
        return _TYPES[type_.word][is_result]

    @property
    def records(self) -> Iterator[tuple[str, list[tuple[str, Parameter]]]]:
        """Yields the records that members take or return, with the types of their fields."""
        used = {name for each in self.classes for member in each.members for name in member.result.names}
        for record in self.objects.records:
            if record.name in used:
                yield record.name, [(self.type(each.type, is_result=True), each) for each in record.fields]

    def state(self, owner: Class) -> str:
        """Returns the record of the state of a class; an empty string if it has none."""
        return owner.state[0].result.word if owner.state else ""

    def declaration(self, member: Member) -> str:
        """Returns the declaration of a member."""
        parameters = ", ".join(self._parameter(member, each) for each in member.parameters)
        if member.is_create:
            return f"explicit {member.owner}({parameters});"
        return f"{self._result(member)} {member.name}({parameters}){self._const(member)};"

    def head(self, member: Member) -> str:
        """Returns the head of the definition of a member."""
        parameters = ", ".join(f"{self.type(each.type)} {each.name}" for each in member.parameters)
        if member.is_create:
            return f"inline {member.owner}::{member.owner}({parameters})"
        return f"inline {self._result(member)} {member.owner}::{member.name}({parameters}){self._const(member)}"

    def _result(self, member: Member) -> str:
        if member.result.word == SELF:
            return f"{member.owner}&"
        return "void" if member.result.word == "None" else self.type(member.result, is_result=True)

    @staticmethod
    def _const(member: Member) -> str:
        return "" if member.result.word == SELF else " const"

    def body(self, member: Member) -> Iterator[str]:
        """Yields the lines of the definition of a member."""
        arguments = [text for each in member.parameters for text in self._passed(each.name, each.type)]
        result = member.result
        if member.is_create:
            yield f"check({member.calls}({', '.join([*arguments, '&handle_'])}));"
            return
        targets: list[str] = []
        if record := self.objects.records_by_name.get(result.word):
            targets = [f"&result.{each.name}" for each in record.fields]
        elif result.word not in ("None", SELF):
            targets = ["&result"]
        if targets:
            yield f"{self.type(result, is_result=True)} result{{}};"
        yield f"check({member.calls}({', '.join(['handle_', *arguments, *targets])}));"
        if targets or result.word == SELF:
            yield f"return {'result' if targets else '*this'};"

    def _parameter(self, member: Member, parameter: Parameter) -> str:
        text = f"{self.type(parameter.type)} {parameter.name}"
        default = member.absent.get(parameter.name)
        if default is None and parameter.has_default:
            value = parameter.default
            default = string(value) if isinstance(value, str) else str(value).lower()
        return f"{text} = {default}" if default is not None else text

    def _passed(self, name: str, type_: ObjectType) -> Iterator[str]:
        """Yields what C gets for a parameter."""
        if record := self.objects.records_by_name.get(type_.word):
            for each in record.fields:
                yield from self._passed(f"{name}.{each.name}", each.type)
        elif type_.word in self.objects.classes_by_name:
            yield f"{name}.get()"
        else:
            yield _TYPES[type_.word][2].format(name)

    @staticmethod
    def comment(text: str, indent: int) -> str:
        """Returns a documentation comment."""
        return "\n".join(wrap(text, 120, f"{' ' * indent}/// ")).lstrip()
