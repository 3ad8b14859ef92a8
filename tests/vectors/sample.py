"""Selects the cases that every front end replays in `make test`.

The program over the C API replays all cases. A front end only adds its own converter, so that each needs one case per
operator, dtype and form of call; random equations are divided among the front ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.vectors import equations


def mark(cases: list[dict[str, Any]]) -> None:
    """Sets `sample` of each case: true, false, or for a random equation its number."""
    seen: set[tuple[object, ...]] = set()
    for case in cases:
        number = equations.number_of(case["name"])
        new = set(_features(case)) - seen if number is None else set()
        seen |= new
        case["sample"] = bool(new) if number is None else number


def _features(case: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yields what a converter can get wrong: the form, the given arguments, and the type of each value and result."""
    yield "form", case["form"]
    yield "layout", case["name"].rpartition("/")[2]
    yield "arguments", *sorted(case["arguments"])
    for name, value in case["arguments"].items():
        yield "argument", name, *_type(value)
    yield "results", *(result["dtype"] for result in case["results"])
    yield "result ranks", *(len(result["sizes"]) for result in case["results"])


def _type(value: Any) -> tuple[object, ...]:
    match value:
        case {"tensor": {"dtype": dtype}}:
            return "tensor", dtype
        case {"tensors": tensors}:
            return "tensors", *{each and each["dtype"] for each in tensors}
        case {"dtype": name}:
            return "dtype", name
        case dict():
            return tuple(value)
        case list():
            return "list", len(value)
        case str():
            return "string", value
    return (type(value).__name__,)
