"""The kinds of operators: one module each, with a class that answers for everything that depends on the kind."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping

from codegen.model import Kind


def _classes() -> Iterator[type[Kind]]:
    """Yields the kind of each module of this folder that has one for records."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        for member in vars(importlib.import_module(module.name)).values():
            is_kind = inspect.isclass(member) and issubclass(member, Kind) and not inspect.isabstract(member)
            if is_kind and member.in_records and member.__module__ == module.name:
                yield member


KINDS: Mapping[str, type[Kind]] = {kind.key: kind for kind in sorted(_classes(), key=lambda kind: kind.key)}
