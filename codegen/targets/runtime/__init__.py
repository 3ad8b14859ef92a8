"""The tables of the runtime: one C++ file per definition file with schemas, rules and the programs of composites.

A header has the programs for sizes and index maps. One file has the index maps of views for strides, one the rules of
graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from codegen.definitions import Definitions
from codegen.names import snake
from codegen.printer import RESERVED
from codegen.target import LibraryPart, Output, Target, Unit
from codegen.targets.runtime.families import Family
from codegen.targets.runtime.objects import Implementation
from codegen.targets.runtime.rules import RuleSource, called


class Runtime(Target):
    reserved = RESERVED | {"body", "call", "list"}  # the last are variables of the functions

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        by_file = groupby(sorted(definitions.ops, key=lambda op: op.location), key=lambda op: op.location.file)
        families = [Family(Path(file).stem, file, tuple(ops), definitions) for file, ops in by_file]
        for family in families:
            yield from self._family(family)
        sources = [family.file for family in families]
        width = max(len(family.table) for family in families)
        text = self.templates.render("operators.cpp.j2", families=families, sources=sources, width=width)
        yield Output("runtime/generated/operators.cpp", text)
        yield self._maps(families)
        rules = [RuleSource(rule, definitions) for rule in definitions.rules]
        files = sorted({rule.op.location.file for rule in definitions.rules})
        text = self.templates.render("rules.cpp.j2", rules=rules, files=files, called=called(rules))
        yield Output("runtime/generated/rules.cpp", text)
        objects = definitions.objects
        implementations = [Implementation(each, objects) for each in objects.members]
        text = self.templates.render(
            "objects.cpp.j2",
            objects=objects,
            implementations=implementations,
            headers=sorted({each.header for each in objects.classes} - {""}),
            own_headers=[f"objects/{snake(each.handle)}.h" for each in objects.classes if each.is_internal],
            runs=sorted({each.runs for each in objects.members if each.runs}),
            works=sorted({each.work for each in objects.members} - {"", "always"}),
        )
        yield Output("runtime/generated/objects.cpp", text)

    def library_part(self, space: str, root: Path) -> LibraryPart:
        family = Family(space, "opdefs", self.definitions.ops, self.definitions)
        sources = [*_LIBRARY_SOURCES]
        outputs = [*self._family(family)]
        if family.maps:
            outputs.append(replace(self._maps([family]), path=_LIBRARY_MAPS))
            sources.append(_LIBRARY_MAPS)
        units = [Unit(source, Path(source).stem, _OPTIONS) for source in sources]
        units.append(Unit(f"runtime/generated/{space}.cpp", f"records_{space}", _OPTIONS))
        return LibraryPart(tuple(outputs), tuple(units))

    def _family(self, family: Family) -> Iterator[Output]:
        yield Output(f"runtime/generated/{family.name}.cpp", self.templates.render("family.cpp.j2", family=family))
        if family.has_templates:
            text = self.templates.render("programs.h.j2", family=family)
            yield Output(f"runtime/generated/{family.name}_programs.h", text)

    def _maps(self, families: list[Family]) -> Output:
        text = self.templates.render("maps.cpp.j2", families=[f for f in families if f.maps])
        return Output("runtime/generated/maps.cpp", text)


# The sources of the runtime that are part of each library of operators, and the options for sources without loops.
_LIBRARY_SOURCES = (
    "runtime/library/entry.cpp",
    "runtime/base/dtype.cpp",
    "runtime/base/half.cpp",
    "runtime/base/scalar.cpp",
    "runtime/base/shape.cpp",
)
_LIBRARY_MAPS = "runtime/generated/library/maps.cpp"
_OPTIONS = ("-Os",)
