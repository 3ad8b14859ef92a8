"""The runtime's tables: one C++ file per family with schemas, view maps, size rules and bodies of composites."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from codegen.language import Language, Output
from codegen.languages.runtime.families import Family
from codegen.model import Definitions
from codegen.printer import RESERVED


class Runtime(Language):
    reserved = RESERVED | {"body", "call"}  # and what the functions call their own

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        by_file = groupby(sorted(definitions.ops, key=lambda op: op.location), key=lambda op: op.location.file)
        families = [Family(Path(file).stem, file, tuple(ops), definitions) for file, ops in by_file]
        for family in families:
            text = self.templates.render("family.cpp.j2", family=family)
            yield Output(f"runtime/generated/{family.name}.cpp", text)
        sources = [family.file for family in families]
        width = max(len(family.table) for family in families)
        text = self.templates.render("operators.cpp.j2", families=families, sources=sources, width=width)
        yield Output("runtime/generated/operators.cpp", text)
