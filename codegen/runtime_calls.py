"""Finds the operators that the hand-written sources of the runtime call by name.

A source declares them as `OperatorName copy("copy")`. What a source needs follows from what it includes: a header needs
the sources that define what it declares. These are the source of the same name or, for a header without one, the
sources of its folder that include it and have no header of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_OUTSIDE = re.compile("devices|generated|include|onnx|probe|tests")
_INCLUDE = re.compile(r'^#include "([\w./]+)"', re.MULTILINE)
_DECLARATION = re.compile(r"\bOperatorName\s+([^;={]*);")
_NAME = re.compile(r'\(\s*"([^"]+)"\s*\)')


@dataclass(frozen=True)
class RuntimeSources:
    """The sources in the folder `runtime` of a repository."""

    folder: Path

    @cached_property
    def _texts(self) -> dict[str, str]:
        """Returns the text of each source by its path, as in includes. Devices and tests call operators as users do."""
        return {
            path.relative_to(self.folder).as_posix(): path.read_text(encoding="utf-8")
            for folder in sorted(self.folder.iterdir())
            if folder.is_dir() and not _OUTSIDE.fullmatch(folder.name)
            for path in sorted(folder.rglob("*"))
            if path.suffix in (".h", ".cpp")
        }

    @cached_property
    def _needs(self) -> dict[str, set[str]]:
        """Returns the sources that each source needs directly."""
        needs = {path: set(_INCLUDE.findall(text)) & self._texts.keys() for path, text in self._texts.items()}
        for path, included in list(needs.items()):
            for header in self._declared_in(path, included):
                needs[header].add(path)
        return needs

    def _declared_in(self, path: str, included: Iterable[str]) -> Iterator[str]:
        """Yields the headers that declare what a source defines."""
        stem, suffix = path.rsplit(".", 1)
        if suffix == "h":
            return
        if f"{stem}.h" in self._texts:
            yield f"{stem}.h"
            return
        folder = path.rpartition("/")[0]
        if folder == "capi":  # what programs call, not other sources
            return
        for header in included:
            if header.rpartition("/")[0] == folder and f"{header.removesuffix('.h')}.cpp" not in self._texts:
                yield header

    def called(self, paths: Iterable[str]) -> set[str]:
        """Returns the full names of the operators that these sources, and all that they need, call."""
        left, seen = [path for path in paths if path in self._needs], set[str]()
        while left:
            path = left.pop()
            if path not in seen:
                seen.add(path)
                left += self._needs[path]
        declared = (found for path in seen for found in _DECLARATION.findall(self._texts[path]))
        return {name for declaration in declared for name in _NAME.findall(declaration)}
