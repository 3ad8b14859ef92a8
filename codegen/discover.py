"""Finds the targets: every folder under `codegen/languages/` is a package with one `Language` subclass."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

from codegen.errors import TargetError, unknown
from codegen.language import Language
from codegen.model import Definitions

LANGUAGES = Path(__file__).parent / "languages"


def names() -> list[str]:
    return sorted(path.parent.name for path in LANGUAGES.glob("*/__init__.py"))


def language(name: str, definitions: Definitions) -> Language:
    """The target of that name, ready to be asked."""
    if name not in names():
        raise TargetError(unknown("target", name, names()))
    module = importlib.import_module(f"codegen.languages.{name}")
    found = {
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Language) and not inspect.isabstract(member)
    }
    if len(found) != 1:
        raise TargetError(f"codegen/languages/{name}/__init__.py must have one Language, got {len(found)}")
    return found.pop()(name, LANGUAGES / name, definitions)


def speaking(definitions: Definitions) -> list[Language]:
    """All targets that people write, by name."""
    return [found for name in names() if (found := language(name, definitions)).speaks]
