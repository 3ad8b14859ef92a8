"""Kernels for devices that are programmed in grids of work-items, in a dialect that several compilers read.

This package is not a target itself. The targets of such devices derive from `GridTarget`: they render the same kernels
from the templates of this folder, into sources for their compiler. `runtime/devices/grid/kernels/dialect.h` hides the
differences between the compilers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path

from codegen.definitions import Definitions
from codegen.grid.printing import GridPrinter
from codegen.kernels import SPELLED, ElementwiseKernel, ElementwiseResult, Operand, Setting
from codegen.kinds.kernels import Computed, computed
from codegen.model import Op
from codegen.names import identifier, source_files
from codegen.target import Output, Target
from codegen.templates import Templates

_CONSTANTS = {spelled: f"OF_{name.upper()}" for name, spelled in {**SPELLED, "uint64": "uint64_t"}.items()}
# The kernels of copies and casts: they convert through the types that can represent the values of all others.
CARRY = ElementwiseKernel(
    "carry_kernel",
    "carry",
    "input",
    ("float", "double", "int32_t", "int64_t", "uint64_t"),
    (),
    operands=(Operand("input", 0, "T"),),
    results=(ElementwiseResult("result_0", "T", "input"),),
)


class GridTarget(Target):
    """The base of the targets of grid devices. A subclass names the template of its sources."""

    @property
    @abstractmethod
    def source_template(self) -> str:
        """Returns the name of the template, in the target's own folder, that puts kernels and tables into a source."""

    @cached_property
    def templates(self) -> Templates:
        templates = Templates(self.folder, Path(__file__).parent)
        return templates.add(constant=_CONSTANTS.__getitem__, parameter=parameter, form=form)

    @property
    def _ending(self) -> str:
        return self.source_template.split(".")[1]

    @property
    def output_folder(self) -> str:
        return f"runtime/devices/{self.name}/generated"

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        emitted = []
        for op in definitions.ops:
            own = tuple(computed([op], GridPrinter))
            # The gradients have a program of their own: they do not compile for integers, and many programs need none.
            gradients = tuple(computed(definitions.gradients[op.full_name].operators, GridPrinter))
            for name, kernels in (
                (identifier(op.full_name), own),
                (f"{identifier(op.full_name)}_gradients", gradients),
            ):
                if kernels:
                    emitted.append(name)
                    yield Output(f"{self.output_folder}/kernels/{name}.{self._ending}", self._source(op, name, kernels))
        carried = self._render(
            "carry", ((None, CARRY),), "Conversions of elements between dtypes.", "carry_table.j2", definitions.ops
        )
        yield Output(f"{self.output_folder}/carry.{self._ending}", carried)
        natives = [op for op in definitions.ops if op.kind.has_kernel_by_hand]
        text = self.templates.render(
            "tables.h.j2", emitted=emitted, natives=natives, sources=source_files(definitions.ops)
        )
        yield Output(f"{self.output_folder}/tables.h", text)

    def _source(self, op: Op, name: str, kernels: tuple[Computed, ...]) -> str:
        return self._render(name, kernels, f"{op.full_name}: {op.summary}", "tables.j2", [op], op=op)

    def _render(
        self, name: str, kernels: Collection[Computed], title: str, tables: str, ops: Collection[Op], **values: object
    ) -> str:
        values |= {"name": name, "entries": kernels, "title": title, "tables": tables, "sources": source_files(ops)}
        return self.templates.render(self.source_template, **values)


def parameter(setting: Setting) -> str:
    """Returns the declaration of the kernel parameter that passes a setting."""
    type_ = "OF_STORED(T)" if setting.type == "T" else "uint8_t" if setting.type == "bool" else setting.type
    return f"const {type_} {setting.name}"


def form(type_: str) -> str:
    """Returns the name of the type of an operand or a result in the tables."""
    return {"T": "Form::kCompute", "bool": "Form::kBool", "int64_t": "Form::kInt64"}[type_]
