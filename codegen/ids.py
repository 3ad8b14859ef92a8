"""Ids of records: 64-bit hashes of texts that depend on nothing but what the record says.

The **signature id** identifies how an operator is called; files and graphs store it. The **kernel id** also identifies
what its kernels compute; the runtime never calls a kernel with another one. The order of keys in a record, its examples
and its documentation change neither, and neither does the version of Python.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum

from codegen.base_types import BaseType
from codegen.expression import Binary, Expression, Invoke, Unary
from codegen.intrinsics import BINARY, FUNCTIONS, UNARY
from codegen.program import Program


class Identified(ABC):
    """What takes part in ids by something else than its fields."""

    @property
    @abstractmethod
    def identity(self) -> object:
        """Returns what takes part in its place."""


def hashed(text: str) -> int:
    """Returns the id of a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def canonical(value: object) -> str:
    """Returns a text that is equal for equal values.

    Fields of dataclasses are sorted, and those that do not take part in comparisons are left out. Functions and
    operators are followed by their version.
    """
    match value:
        case None | bool() | int() | str():
            return json.dumps(value)
        case float():
            return value.hex()
        case Enum():
            return json.dumps(value.value)
        case BaseType(word=word):
            return json.dumps(word)
        case Expression(root=root):
            return canonical(root)
        case Program(statements=statements):
            return canonical(statements)
        case Identified(identity=identity):
            return canonical(identity)
        case Mapping():
            items = sorted((canonical(key), canonical(each)) for key, each in value.items())
            return "{" + ", ".join(f"{key}: {each}" for key, each in items) + "}"
        case Set():
            return "{" + ", ".join(sorted(map(canonical, value))) + "}"
        case tuple() | list():
            return "[" + ", ".join(map(canonical, value)) + "]"
    if is_dataclass(value):
        return f"{type(value).__name__}({', '.join(_fields(value))})"
    raise TypeError(f"no canonical text for {type(value).__name__}")


def _fields(value: object) -> Iterator[str]:
    assert is_dataclass(value)
    for each in sorted(fields(value), key=lambda field: field.name):
        if each.compare:
            yield f"{each.name}={canonical(getattr(value, each.name))}"
    match value:
        case Invoke(function=name) if name in FUNCTIONS:
            yield f"version={FUNCTIONS[name].version}"
        case Unary(operator=name):
            yield f"version={UNARY[name].version}"
        case Binary(operator=name):
            yield f"version={BINARY[name].version}"
