"""Generates the kernels of the CPU backend: C++ sources with the inner loops of all operators defined by expressions.

Each record gets one file, so that a changed expression recompiles one small file. The drivers that call the loops, and
the kernels of `native` records, are hand-written in `runtime/devices/cpu/`.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.compute_types import COMPLEX
from codegen.kernels import SPELLED, Setting, computed
from codegen.model import Definitions
from codegen.names import identifier, source_files
from codegen.target import Output, Target
from codegen.targets.cpu.printing import CpuPrinter

FOLDER = "runtime/devices/cpu/generated"
_SPELLED = {**SPELLED, **dict(zip(COMPLEX, CpuPrinter.complex_types, strict=True))}
_CONSTANTS = {spelled: f"OF_{name.upper()}" for name, spelled in _SPELLED.items()}


class Cpu(Target):
    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        templates = self.templates.add(dtype_constant=dtype_constant, form=form, setting_value=setting_value)
        emitted = []
        for op in definitions.ops:
            if kernels := tuple(computed((op, *definitions.gradients[op.full_name].operators), CpuPrinter)):
                name = identifier(op.full_name)
                emitted.append(name)
                text = templates.render("kernels.cpp.j2", op=op, name=name, entries=kernels, sources=source_files([op]))
                yield Output(f"{FOLDER}/kernels/{name}.cpp", text)
        gradients = (op for found in definitions.gradients.values() for op in found.operators)
        natives = [op for op in (*definitions.ops, *gradients) if op.kind.has_kernel_by_hand or op.kind.has_body]
        text = templates.render("tables.h.j2", emitted=emitted, natives=natives, sources=source_files(definitions.ops))
        yield Output(f"{FOLDER}/tables.h", text)


def dtype_constant(type_: str) -> str:
    """Returns the of_dtype constant of a C++ type."""
    return _CONSTANTS[type_]


def form(type_: str) -> str:
    """Returns the of_dtype of a C++ type, as an expression inside a template over the compute type T."""
    return "dtype_of<T>" if type_ == "T" else _CONSTANTS[type_]


def setting_value(setting: Setting, is_index: bool = False) -> str:
    """Returns the C++ expression that reads a setting from the arguments.

    A number is converted to the setting's type; with `is_index` (in the index maps of gathers) it is read unconverted.
    """
    argument = f"arguments[{setting.position}]"
    if setting.given:
        return f"given({argument})"
    if not is_index:
        return f"number<{setting.type}>({argument})"
    members = {"bool": "boolean", "int64_t": "integer", "int64_t*": "integers"}
    return f"{argument}.as.{members[setting.type]}"
