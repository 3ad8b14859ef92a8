"""The implementations of methods: C++ functions that call the C API with arguments of the shared binder."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.objects.model import Member, Objects, ObjectType, Parameter

# How an argument of each type is read from data, and the C type and the maker of a result.
_READ = {
    "bool": "{}.as.boolean",
    "int": "{}.as.integer",
    "word": "word({})",
    "float": "{}.as.real",
    "str": "{}.as.text",
    "dtype": "{}.as.dtype",
    "device": "{}.as.device",
    "Tensor": "{}.as.tensor",
}
_RESULT = {
    "bool": ("bool", "boolean"),
    "int": ("int64_t", "integer"),
    "word": ("uint64_t", "natural"),
    "float": ("double", "real"),
    "dtype": ("of_dtype", "dtype"),
    "device": ("of_device", "device"),
    "Tensor": ("of_tensor", "tensor"),
}
_NULLS = {"str": "nullptr", "Tensor": "nullptr", "dtype": "OF_DTYPE_NONE"}


class Implementation:
    """The C++ function of a member."""

    def __init__(self, member: Member, objects: Objects) -> None:
        self.member = member
        self.name = member.implementation
        self.function = member.runs or self.name.replace(".", "_").lower()
        self._handles = {each.name: each.handle for each in objects.classes if not each.is_internal}
        self._records = objects.records_by_name

    @property
    def work(self) -> str:
        """Returns the function that says how long the work may take."""
        return {"": "nullptr", "always": "always_long"}.get(self.member.work, self.member.work)

    @property
    def _is_method(self) -> bool:
        return bool(self.member.owner) and not self.member.is_create

    @property
    def variables(self) -> list[str]:
        """Returns the definitions of the variables for results."""
        return [f"{type_} {name}{{}};" for type_, name, _ in self._results()]

    @property
    def call(self) -> str:
        """Returns the call of the C API."""
        receiver = [f"static_cast<{self._handles[self.member.owner]}>(self)"] if self._is_method else []
        arguments = [text for i, each in enumerate(self.member.parameters) for text in self._read(each, f"given[{i}]")]
        return f"{self.member.calls}({', '.join([*receiver, *arguments, *(f'&{n}' for _, n, _ in self._results())])})"

    @property
    def uses(self) -> tuple[bool, bool, bool]:
        """Returns whether the function uses its receiver, its arguments and the results."""
        return self._is_method, bool(self.member.parameters), bool(self._results())

    @property
    def result(self) -> str:
        """Returns the data that is the result, or an empty string."""
        made = [text for _, _, text in self._results()]
        if self.member.result.word in self._records:
            return f"results.list({{{', '.join(made)}}})"
        return made[0] if made else ""

    def _read(self, parameter: Parameter, data: str) -> Iterator[str]:
        type_ = parameter.type
        if type_.word in self._records:
            for position, field in enumerate(self._records[type_.word].fields):
                yield from self._read(field, f"{data}.as.items[{position}]")
            return
        if type_.word in self._handles:
            read = f"static_cast<{self._handles[type_.word]}>({data}.as.object)"
        else:
            read = _READ[type_.word].format(data)
        otherwise = self.member.absent.get(parameter.name) or self._default(parameter)
        yield f"is_given({data}) ? {read} : {otherwise}" if otherwise else read

    def _default(self, parameter: Parameter) -> str:
        """Returns what stands for an argument that is absent or None; an empty string if there always is one."""
        if parameter.default is None:
            return (
                _NULLS.get(parameter.type.word, "nullptr") if parameter.has_default or parameter.type.optional else ""
            )
        default = parameter.default
        return (
            str(default).lower()
            if isinstance(default, bool)
            else f'"{default}"'
            if isinstance(default, str)
            else str(default)
        )

    def _results(self) -> list[tuple[str, str, str]]:
        """Returns the C type, the variable and the data of each result."""
        result = self.member.result
        if self.member.is_create:
            return [self._result(ObjectType(self.member.owner), "result")]
        if result.word in self._records:
            return [self._result(field.type, field.name) for field in self._records[result.word].fields]
        return [self._result(result, "result")] if result.word not in ("None", "self") else []

    def _result(self, type_: ObjectType, name: str) -> tuple[str, str, str]:
        if type_.word in self._handles:
            return self._handles[type_.word], name, f'results.object("{type_.word}", {name})'
        c_type, maker = _RESULT[type_.word]
        return c_type, name, f"results.{maker}({name})"
