"""Finds the targets: every folder under `codegen/targets/` is a package with one `Target` subclass."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

from codegen.definitions import Definitions
from codegen.errors import Problem, TargetError, unknown
from codegen.language import Language
from codegen.target import Target

TARGETS = Path(__file__).parent / "targets"


def names() -> list[str]:
    """Returns the names of all targets, sorted."""
    return sorted(path.parent.name for path in TARGETS.glob("*/__init__.py"))


def target(name: str, definitions: Definitions) -> Target:
    """Returns the target called `name` for these definitions. Raises TargetError if there is none."""
    if name not in names():
        raise TargetError(unknown("target", name, names()))
    module = importlib.import_module(f"codegen.targets.{name}")
    found = {
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Target) and not inspect.isabstract(member)
    }
    if len(found) != 1:
        raise TargetError(f"codegen/targets/{name}/__init__.py must have one Target, got {len(found)}")
    return found.pop()(name, TARGETS / name, definitions)


def unknown_languages(definitions: Definitions) -> Iterator[Problem]:
    """Yields the languages that records name, and that there are not."""
    known = [each.name for each in languages(definitions)]
    for each in definitions.objects.classes:
        for name in each.omitted:
            if name not in known:
                yield Problem(each.location, unknown("language", name, known))


def languages(definitions: Definitions) -> list[Language]:
    """Returns the targets that are languages, in the order of their names."""
    return [found for name in names() if isinstance(found := target(name, definitions), Language)]
