"""Generates the kernels of the CPU backend: C++ sources with the inner loops of all operators defined by expressions.

Each record gets one file, so that a changed expression recompiles one small file. The loops of reductions, which are
most of their code, get files of their own: operators that fold in the same way share them, such as `max` and `amax`, or
`var` and `std`. The drivers that call the loops, and the kernels of `native` records, are hand-written in
`runtime/devices/cpu/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codegen.compute_types import COMPLEX
from codegen.definitions import Definitions
from codegen.kernels import SPELLED, FoldLoops, Kernel, ReductionKernel, Setting
from codegen.kinds.kernels import computed
from codegen.model import Op
from codegen.names import identifier, source_files
from codegen.target import LibraryPart, Output, Target
from codegen.targets.cpu.library import library_units
from codegen.targets.cpu.printing import CpuPrinter

FOLDER = "runtime/devices/cpu/generated"
_SPELLED = {**SPELLED, **dict(zip(COMPLEX, CpuPrinter.complex_types, strict=True))}
_NAMES = {spelled: name for name, spelled in _SPELLED.items()}


@dataclass
class SharedLoops:
    """The loops of the reductions that fold in the same way."""

    name: str  # "max_fold"
    comment: str
    types: dict[str, None] = field(default_factory=dict)  # the compute types of all users, as an ordered set
    users: dict[str, Op] = field(default_factory=dict)

    def variable(self, type_: str) -> str:
        """Returns the name of the variable with the loops of a compute type: "max_fold_float32"."""
        return f"{self.name}_{_NAMES[type_]}"


class Cpu(Target):
    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        kernels = [
            (op, found)
            for op in definitions.ops
            if (found := tuple(computed((op, *definitions.gradients[op.full_name].operators), CpuPrinter)))
        ]
        shared = shared_loops((op, kernel) for op, found in kernels for _, kernel in found)

        def arguments(kernel: Kernel, type_: str) -> str:
            """Returns the arguments of the template of a kernel."""
            if not isinstance(kernel, ReductionKernel):
                return type_
            return f"{type_}, {shared[kernel.loops].variable(type_)}"

        templates = self.templates.add(
            arguments=arguments, dtype_constant=dtype_constant, form=form, setting_value=setting_value
        )
        for loops, each in shared.items():
            text = templates.render("fold.cpp.j2", entry=loops, shared=each, sources=source_files(each.users.values()))
            yield Output(f"{FOLDER}/folds/{each.name}.cpp", text)
        for op, found in kernels:
            reductions = [kernel for _, kernel in found if isinstance(kernel, ReductionKernel)]
            text = templates.render(
                "kernels.cpp.j2",
                op=op,
                name=identifier(op.full_name),
                entries=found,
                loops=[shared[each.loops].variable(type_) for each in reductions for type_ in each.types],
                sources=source_files([op]),
            )
            yield Output(f"{FOLDER}/kernels/{identifier(op.full_name)}.cpp", text)
        emitted = [identifier(op.full_name) for op, _ in kernels]
        gradients = (op for found in definitions.gradients.values() for op in found.operators)
        natives = [op for op in (*definitions.ops, *gradients) if op.kind.has_kernel_by_hand or op.kind.has_body]
        text = templates.render("tables.h.j2", emitted=emitted, natives=natives, sources=source_files(definitions.ops))
        yield Output(f"{FOLDER}/tables.h", text)

    def library_part(self, space: str, root: Path) -> LibraryPart | None:
        outputs = list(self.outputs(self.definitions))
        files = [output.path for output in outputs if output.path.endswith(".cpp")]
        if not files:
            return None
        text = self.templates.render("library.cpp.j2", files=files, sources=source_files(self.definitions.ops))
        return LibraryPart((*outputs, Output(f"{FOLDER}/library.cpp", text)), *library_units(root))


def shared_loops(kernels: Iterable[tuple[Op, Kernel]]) -> dict[FoldLoops, SharedLoops]:
    """Returns the loops of all reductions, named after the first operator that uses them."""
    found: dict[FoldLoops, SharedLoops] = {}
    for op, kernel in kernels:
        if isinstance(kernel, ReductionKernel):
            shared = found.setdefault(kernel.loops, SharedLoops(f"{kernel.name}_fold", kernel.comment))
            shared.types.update(dict.fromkeys(kernel.types))
            shared.users[op.full_name] = op
    return found


def dtype_constant(type_: str) -> str:
    """Returns the of_dtype constant of a C++ type."""
    return f"OF_{_NAMES[type_].upper()}"


def form(type_: str) -> str:
    """Returns the of_dtype of a C++ type, as an expression inside a template over the compute type T."""
    return "dtype_of<T>" if type_ == "T" else dtype_constant(type_)


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
