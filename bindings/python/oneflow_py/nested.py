"""Nested data: dictionaries and lists of tensors, which files hold and graphs take and return."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from oneflow_py._native import InvalidArgument, Tensor, TypeMismatch

# The kinds of nodes, as the C API numbers them.
TENSOR, DICTIONARY, LIST = range(3)
MAX_NESTING = 64

# A node: its kind, its number of items, its key and its tensor.
Node = tuple[int, int, bytes | None, Tensor | None]


def encoded_text(function: str, argument: str, text: Any) -> bytes:
    """Returns a string for the C API. Raises TypeMismatch for other objects."""
    if not isinstance(text, str):
        raise TypeMismatch(f"{function}: {argument} must be str, got {type_name(text)}")
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{function}: {argument} must be Unicode, got {text!a}") from None
    if b"\0" in encoded:
        raise InvalidArgument(f"{function}: {argument} must not have a null byte, got {text!a}")
    return encoded


def encoded_path(function: str, path: Any) -> bytes:
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeMismatch(f"{function}: path must be str, bytes or os.PathLike, got {type_name(path)}")
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        raise InvalidArgument(f"{function}: path must be encodable, got {path!a}") from None
    if b"\0" in encoded:
        raise InvalidArgument(f"{function}: path must not have a null byte")
    return encoded


def type_name(value: Any) -> str:
    return "None" if value is None else type(value).__qualname__


def nodes_of(function: str, data: Any, *, what: str = "data") -> list[Node]:
    """Returns the nodes of nested data, each before its items."""
    nodes: list[Node] = []
    _add_nodes(function, what, nodes, data, None, 0)
    return nodes


def _add_nodes(function: str, what: str, nodes: list[Node], value: Any, key: bytes | None, depth: int) -> None:
    if isinstance(value, Tensor):
        nodes.append((TENSOR, 0, key, value))
        return
    if not isinstance(value, Mapping | list | tuple):
        place = what if depth == 0 else f"an item of {what}"
        raise TypeMismatch(f"{function}: {place} must be Tensor, dict, list or tuple, got {type_name(value)}")
    if depth == MAX_NESTING:
        raise InvalidArgument(f"{function}: dictionaries and lists must not be nested more than {MAX_NESTING} deep")
    if isinstance(value, Mapping):
        pairs = [(encoded_text(function, "a key", each), item) for each, item in value.items()]
        nodes.append((DICTIONARY, len(pairs), key, None))
        for name, item in pairs:
            _add_nodes(function, what, nodes, item, name, depth + 1)
    else:
        items = list(value)
        nodes.append((LIST, len(items), key, None))
        for item in items:
            _add_nodes(function, what, nodes, item, None, depth + 1)


def restored(nodes: Iterator[tuple[int, int, str | None, int]], tensors: Iterator[Tensor]) -> Any:
    """Returns the data of nodes, with `tensors` in their order."""
    return _restored(nodes, tensors)[1]


def _restored(nodes: Iterator[tuple[int, int, str | None, int]], tensors: Iterator[Tensor]) -> tuple[str, Any]:
    """Returns the key and the value of the next node."""
    kind, count, key, _ = next(nodes)
    value: Any
    if kind == TENSOR:
        value = next(tensors)
    elif kind == DICTIONARY:
        value = dict(_restored(nodes, tensors) for _ in range(count))
    else:
        value = [_restored(nodes, tensors)[1] for _ in range(count)]
    return key or "", value
