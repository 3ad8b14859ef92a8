"""Kernels of the CPU backend: C++ sources with the inner loops of all operators whose records give expressions.

One file per record, so that a changed expression compiles one small file; the drivers around the loops, and the
kernels of `native` records, are hand-written in `runtime/devices/cpu/`.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.compute_types import COMPLEX
from codegen.kernels import SPELLED, Setting, entries
from codegen.language import Language, Output
from codegen.languages.cpu.printing import CpuPrinter
from codegen.model import Definitions, Native
from codegen.names import identifier, source_files

FOLDER = "runtime/devices/cpu/generated"
_SPELLED = {**SPELLED, **dict(zip(COMPLEX, CpuPrinter.complex_types, strict=True))}
_CONSTANTS = {spelled: f"OF_{name.upper()}" for name, spelled in _SPELLED.items()}


class Cpu(Language):
    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        templates = self.templates.add(dtype_constant=dtype_constant, form=form, setting_value=setting_value)
        emitted = []
        for op in definitions.ops:
            if kernels := tuple(entries(op, CpuPrinter)):
                name = identifier(op.full_name)
                emitted.append(name)
                text = templates.render("kernels.cpp.j2", op=op, name=name, entries=kernels, sources=source_files([op]))
                yield Output(f"{FOLDER}/kernels/{name}.cpp", text)
        natives = [op for op in definitions.ops if isinstance(op.kind, Native)]
        text = templates.render("tables.h.j2", emitted=emitted, natives=natives, sources=source_files(definitions.ops))
        yield Output(f"{FOLDER}/tables.h", text)


def dtype_constant(type_: str) -> str:
    """The of_dtype of a C++ type."""
    return _CONSTANTS[type_]


def form(type_: str) -> str:
    """The of_dtype of a C++ type in a template over the compute type."""
    return "dtype_of<T>" if type_ == "T" else _CONSTANTS[type_]


def setting_value(setting: Setting, is_index: bool = False) -> str:
    """Where a setting comes from: a number is converted, a position (of a gather) is taken as it is."""
    argument = f"arguments[{setting.position}]"
    if setting.given:
        return f"given({argument})"
    if not is_index:
        return f"number<{setting.type}>({argument})"
    members = {"bool": "boolean", "int64_t": "integer", "int64_t*": "integers"}
    return f"{argument}.as.{members[setting.type]}"
