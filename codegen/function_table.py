"""The tables of types, parameters and overloads (oneflow/objects.h) that front ends bind calls of operators with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from codegen import base_types
from codegen.model import Op
from codegen.names import identifier, pascal
from codegen.printer import boolean, string
from codegen.types import Argument, Type
from codegen.words import Words


def _plain(name: str) -> str:
    return name


class FunctionTable:
    """The C++ text of the tables of a language. `case` gives arguments and results their names there."""

    def __init__(self, ops: Sequence[Op], words: Words, case: Callable[[str], str] = _plain) -> None:
        self.words = words
        self.case = case
        self._types: dict[str, str] = {}  # the definitions, by variable
        self._parameters = {op.full_name: self._rows(op) for op in ops}

    @property
    def text(self) -> str:
        """Returns the definitions of all types and parameters."""
        lists = (
            f"const of_parameter {self._variable(name)}[] = {{\n{rows}}};"
            for name, each in self._parameters.items()
            if (rows := "".join(f"    {{{row}}},\n" for row in each))
        )
        return "\n".join((*self._types.values(), *lists))

    def overload(self, op: Op) -> str:
        """Returns the initializer of an of_overload."""
        signature = op.signature
        alias = signature.results[0].alias
        arguments = signature.arguments
        names = " ".join(self.case(each.name or "_") for each in signature.results)
        return ", ".join(
            (
                string(op.full_name),
                self._variable(op.full_name) if arguments else "nullptr",
                str(len(arguments)),
                str(sum(not argument.keyword_only for argument in arguments)),
                str(len(signature.results)),
                string(names if any(each.name for each in signature.results) else None),
                _position(argument == op.receiver for argument in arguments),
                _position(argument == op.replaced for argument in arguments),
                _position(argument == op.returned for argument in arguments),
                _position(alias is not None and a.alias == alias and not alias.written for a in arguments),
                *map(boolean, (signature.gives_list, op.has_out, op.makes_leaves)),
            )
        )

    @staticmethod
    def _variable(full_name: str) -> str:
        return f"{identifier(full_name)}_parameters"

    def _rows(self, op: Op) -> list[str]:
        return [
            ", ".join(
                (
                    string(self.case(each.name)),
                    f"&{self._type(each, op)}",
                    boolean(not each.has_default),
                    boolean(each.keyword_only),
                    "OF_COLLECTS_NOTHING",
                    string(" ".join(map(self.case, each.other_names)) or None),
                )
            )
            for each in op.signature.arguments
        ]

    def _type(self, argument: Argument, op: Op) -> str:
        """Returns the variable of the type of an argument, which is defined on first use."""
        kind = argument.type.base.converted.kind
        if argument.type.base is base_types.TENSOR:
            kind = "WRITTEN" if argument.is_written else "INTEGERS" if op.takes_integers(argument) else kind
            if op.kind.lists_in and not argument.type.is_list:
                return self._define(
                    argument.type, "SINGLE", self.words.type_word(argument.type), label=op.kind.lists_in
                )
        if argument.type.base is base_types.OPERAND and op.takes_integers(argument):
            tensor = Type(base_types.TENSOR)
            integers = self._define(tensor, "INTEGERS", self.words.type_word(tensor))
            return self._define(argument.type, kind, self.words.type_word(argument.type), integers)
        if not argument.type.is_list:
            return self._define(argument.type, kind, self.words.type_word(argument.type))
        item = self._define(argument.type.item, kind, self.words.item_word(argument.type))
        list_kind = "LIST" if argument.type.is_nested else "ITEMS"
        return self._define(argument.type, list_kind, self.words.type_word(argument.type), item)

    def _define(self, type_: Type, kind: str, word: str, item: str | None = None, label: str | None = None) -> str:
        base = pascal(type_.base.converted.word).replace("|", "Or")
        name = f"type_{base}_{kind.lower()}"
        if item:
            items = item.removeprefix("type_")
            name = f"type_{items}_list" if type_.is_list else f"{name}_with_{items}"
        name += "_optional" * type_.optional
        if name not in self._types:
            if type_.is_nested and not item:
                item = self._define(Type(base_types.INT), "INT", self.words.item_word(Type(base_types.INT)))
            label = label or (type_.base.word if kind in ("OBJECT", "GROUP") else None)
            row = (
                f"OF_TYPE_{kind}",
                boolean(type_.optional),
                string(word),
                string(label),
                "0",
                f"&{item}" if item else "nullptr",
            )
            self._types[name] = f"const of_type {name} = {{{', '.join(row)}, nullptr}};"
        return name


def _position(holds: Iterable[bool]) -> str:
    """Returns the position of the first value that is true; -1 if none is."""
    return str(next((index for index, held in enumerate(holds) if held), -1))
