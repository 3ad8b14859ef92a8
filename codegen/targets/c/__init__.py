"""The typed C API: `<oneflow/operators.h>`, inline functions over of_call()."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from codegen import base_types
from codegen import signature as signatures
from codegen.definitions import Definitions
from codegen.errors import Problem
from codegen.model import Op
from codegen.names import fill, identifier, source_files, wrap
from codegen.printer import RESERVED
from codegen.target import Output, PublicTarget
from codegen.types import Argument, Type

WIDTH = 120
HEADERS = Path(__file__).parents[3] / "runtime" / "include" / "oneflow"

# The C type of a parameter and the function that converts it to an of_value; "?" marks an optional argument.
_PARAMETERS = {
    "int": ("int64_t", "of_int_value"),
    "int?": ("const int64_t*", "of_optional_int"),
    "float": ("double", "of_float_value"),
    "float?": ("const double*", "of_optional_float"),
    "bool": ("bool", "of_bool_value"),
    "bool?": ("const bool*", "of_optional_bool"),
    "str": ("const char*", "of_string_value"),
    "str?": ("const char*", "of_string_value"),
    "dtype": ("of_dtype", "of_dtype_value"),
    "dtype?": ("const of_dtype*", "of_optional_dtype"),
    "device": ("of_device", "of_device_value"),
    "device?": ("const of_device*", "of_optional_device"),
    "Generator?": ("of_generator", "of_generator_value"),
    "Tensor": ("of_tensor", "of_tensor_value"),
    "Tensor?": ("of_tensor", "of_tensor_value"),
}
_LISTS = {
    "int": ("const int64_t*", "of_int_list_value"),
    "int?": ("const int64_t*", "of_optional_int_list"),
    "Tensor": ("const of_tensor*", "of_tensor_list_value"),
    "device": ("const of_device*", "of_device_list_value"),
    "device?": ("const of_device*", "of_optional_device_list"),
}


@dataclass(frozen=True)
class Parameter:
    """An argument in C. A list has two parameters: a pointer and a count."""

    declarations: tuple[str, ...]
    names: tuple[str, ...]
    value: str  # the expression for its of_value
    takes_any: bool  # whether it may be a tensor or a number, which OF_VALUE() converts in the macro


@dataclass(frozen=True)
class CFunction:
    """One C function: the operator itself, its out form, or its in-place form."""

    name: str
    parameters: tuple[str, ...]
    names: tuple[str, ...]
    converted: tuple[str, ...]  # the names, with OF_VALUE() around those of tensors or numbers
    values: str  # the definition of the array of arguments
    results: str  # the definition of the array of results; empty if it needs none
    call: str  # the call of a function of values.h

    @property
    def prototype(self) -> str:
        """Returns the head of the definition."""
        return fill(f"static inline of_status {self.name}(", self.parameters, ") {", WIDTH)

    @property
    def macro(self) -> str | None:
        """Returns the macro that converts tensors and numbers, or None if there are no such arguments."""
        if self.names == self.converted:
            return None
        head = f"#define {self.name}({', '.join(self.names)})"
        body = f"{self.name}({', '.join(self.converted)})"
        return f"{head} {body}" if len(head) + len(body) < WIDTH else f"{head} \\\n  {body}"


@dataclass(frozen=True)
class OperatorSection:
    """The part of the header for one record."""

    op: Op
    comment: tuple[str, ...]
    forms: tuple[CFunction, ...]


class C(PublicTarget):
    title = "C"
    reserved = RESERVED | {"args", "found", "result", "results"}  # the last are variables of the functions

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        entries = [self._entry(op) for op in definitions.ops]
        text = self.templates.render("operators.h.j2", entries=entries, sources=source_files(definitions.ops))
        yield Output("runtime/generated/include/oneflow/operators.h", text)

    def problems(self, definitions: Definitions) -> Iterator[Problem]:
        """Yields the reserved words among the names, and functions whose names are in the hand-written headers."""
        yield from super().problems(definitions)
        text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(HEADERS.glob("*.h")))
        taken = set(re.findall(r"\bof_\w+", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)))
        for op in definitions.ops:
            if (name := self._name(op)) in taken:
                yield Problem(op.location, f"'{name}' is already a name of the C API: rename it in names.yaml")

    def _name(self, op: Op) -> str:
        name = self.names.of(op.name)
        return "of_" + identifier(f"{name}.{op.overload}" if op.overload else name)

    def _entry(self, op: Op) -> OperatorSection:
        parameters = [parameter(argument) for argument in op.signature.arguments]
        return OperatorSection(
            op,
            tuple(self._comment(op)),
            tuple(self._forms(op, parameters)),
        )

    def _comment(self, op: Op) -> Iterator[str]:
        yield from wrap(op.summary, WIDTH, " * ")
        yield " *"
        yield f" *     {signatures.print_signature(op.signature)}"

    def _forms(self, op: Op, parameters: list[Parameter]) -> Iterator[CFunction]:
        name = self._name(op)
        results = [result.name or ("result" if position == 0 else f"result{position}")
                   for position, result in enumerate(op.signature.results)]  # fmt: skip
        names = [n for p in parameters for n in p.names]
        converted = [f"OF_VALUE({n})" if p.takes_any else n for p in parameters for n in p.names]

        def form(
            suffix: str, own: list[Parameter], outputs: list[str], array: str, function: str, last: str
        ) -> CFunction:
            given = [d.split()[-1].lstrip("*") for d in outputs]
            return CFunction(
                name + suffix,
                (*(d for p in own for d in p.declarations), *outputs),
                (*names, *given),
                (*converted, *given),
                fill("  const of_value args[] = {", [p.value for p in own] or ["of_absent()"], "};", WIDTH),
                array,
                f'{function}(&found, "{op.full_name}", args, {len(own)}, {last})',
            )

        def tensors(
            suffix: str, own: list[Parameter], outputs: list[str], targets: list[str], function: str
        ) -> CFunction:
            type_ = "of_tensor* const" if function == "of_call_new" else "const of_tensor"
            array = f"  {type_} results[] = {{{', '.join(targets)}}};"
            return form(suffix, own, outputs, array, function, f"results, {len(results)}")

        if op.signature.gives_list:
            yield form("", parameters, [f"of_value* {results[0]}"], "", "of_call_list", results[0])
            if op.replaced:
                yield form("_", parameters, [], "", "of_call_into_list", ", ".join(parameter(op.replaced).names))
            return
        yield tensors("", parameters, [f"of_tensor* {r}" for r in results], results, "of_call_new")
        if op.has_out:
            yield tensors("_out", parameters, [f"of_tensor {r}" for r in results], results, "of_call_into")
        if op.replaced:
            tensor = parameter(replace(op.replaced, type=Type(base_types.TENSOR)))
            own = [tensor if p.names == tensor.names else p for p in parameters]
            converted = ["input" if n == "OF_VALUE(input)" else n for n in converted]
            yield tensors("_", own, [], ["input"], "of_call_into")


def parameter(argument: Argument) -> Parameter:
    """Returns the parameters of an argument."""
    type_ = argument.type
    name = argument.name
    if type_.base in (base_types.OPERAND, base_types.NUMBER) and not type_.is_list:
        return Parameter((f"of_value {name}",), (name,), name, True)
    if type_.is_list:
        c_type, make = _LISTS[type_.base.passed.word + "?" * (type_.optional and not type_.is_tensor)]
        count = f"{name}_count"
        return Parameter((f"{c_type} {name}", f"size_t {count}"), (name, count), f"{make}({name}, {count})", False)
    c_type, make = _PARAMETERS[str(type_.passed)]
    return Parameter((f"{c_type} {name}",), (name,), f"{make}({name})", False)
