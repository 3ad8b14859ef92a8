"""Kernels of the CPU backend: C++ sources with the inner loops of all operators whose records give expressions.

One file per record, so that a changed expression compiles one small file; the drivers around the loops, and the
kernels of `native` records, are hand-written in `runtime/devices/cpu/`.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.language import Language, Output
from codegen.languages.cpu.kernels import dtype_constant, entries, form
from codegen.model import Definitions, Native
from codegen.names import identifier, source_files

FOLDER = "runtime/devices/cpu/generated"


class Cpu(Language):
    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        templates = self.templates.add(dtype_constant=dtype_constant, form=form)
        emitted = []
        for op in definitions.ops:
            if kernels := tuple(entries(op)):
                name = identifier(op.full_name)
                emitted.append(name)
                text = templates.render("kernels.cpp.j2", op=op, name=name, entries=kernels, sources=source_files([op]))
                yield Output(f"{FOLDER}/kernels/{name}.cpp", text)
        natives = [op for op in definitions.ops if isinstance(op.kind, Native)]
        text = templates.render("tables.h.j2", emitted=emitted, natives=natives, sources=source_files(definitions.ops))
        yield Output(f"{FOLDER}/tables.h", text)
