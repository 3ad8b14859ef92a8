"""Kernels for devices that are programmed in grids of work-items: one text that several compilers read.

Not a target: the targets of such devices are `GridTarget`s, which print the same kernels from the templates of this
folder and put them where their compiler finds them. What the compilers spell differently is in
`runtime/devices/grid/kernels/dialect.h`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path

from codegen.grid.printing import GridPrinter
from codegen.kernels import SPELLED, ElementwiseEntry, Entry, Operand, Setting, entries
from codegen.language import Language, Output
from codegen.model import Definitions, Native, Op
from codegen.names import identifier, source_files
from codegen.templates import Templates

_CONSTANTS = {spelled: f"OF_{name.upper()}" for name, spelled in {**SPELLED, "uint64": "uint64_t"}.items()}
# What a copy is made of: elements as they are, in the types that hold all others.
CARRY = ElementwiseEntry(
    "carry_kernel",
    "carry",
    "input",
    ("float", "double", "int32_t", "int64_t", "uint64_t"),
    (),
    operands=(Operand("input", 0, "T"),),
    value="input",
)


class GridTarget(Language):
    """A subclass says what its sources look like; `names.yaml` lists what the device leaves out."""

    @property
    @abstractmethod
    def source_template(self) -> str:
        """The template of the target's own folder that wraps kernels and tables into a source: `program.cpp.j2`."""

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
            if kernels := tuple(self.entries(op)):
                name = identifier(op.full_name)
                emitted.append(name)
                yield Output(f"{self.output_folder}/kernels/{name}.{self._ending}", self._source(op, name, kernels))
        carried = self._render(
            "carry", (CARRY,), "Elements from one dtype to another.", "carry_table.j2", definitions.ops
        )
        yield Output(f"{self.output_folder}/carry.{self._ending}", carried)
        natives = [op for op in definitions.ops if isinstance(op.kind, Native)]
        text = self.templates.render(
            "tables.h.j2", emitted=emitted, natives=natives, sources=source_files(definitions.ops)
        )
        yield Output(f"{self.output_folder}/tables.h", text)

    def entries(self, op: Op) -> Iterator[Entry]:
        """What is printed for a record: nothing where the device leaves the operator out."""
        yield from entries(op, GridPrinter)

    def _source(self, op: Op, name: str, kernels: tuple[Entry, ...]) -> str:
        return self._render(name, kernels, f"{op.full_name}: {op.summary}", "tables.j2", [op], op=op)

    def _render(
        self, name: str, kernels: tuple[Entry, ...], title: str, tables: str, ops: Collection[Op], **values: object
    ) -> str:
        values |= {"name": name, "entries": kernels, "title": title, "tables": tables, "sources": source_files(ops)}
        return self.templates.render(self.source_template, **values)


def parameter(setting: Setting) -> str:
    """The parameter of a kernel that hands over a setting."""
    type_ = "OF_STORED(T)" if setting.type == "T" else "uint8_t" if setting.type == "bool" else setting.type
    return f"const {type_} {setting.name}"


def form(type_: str) -> str:
    """What the tables call the type of an operand or a result."""
    return {"T": "Form::kCompute", "bool": "Form::kBool", "int64_t": "Form::kInt64"}[type_]
