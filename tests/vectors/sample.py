"""Selects the cases that every front end replays in `make test`.

The program over the C API replays all cases. A front end only adds its own converter, so that each needs one case per
operator, dtype and form of call; random equations are divided among the front ends. Devices other than the host get a
quarter of these cases, because some compile a kernel for each.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from tests.vectors import equations

SHARE = 4


def mark(op: str, cases: list[dict[str, Any]]) -> None:
    """Sets `sample` of each case: true, "host" (other devices omit it), false, or the number of a random equation."""
    seen: set[tuple[object, ...]] = set()
    for case in cases:
        number = equations.number_of(case["name"])
        new = set(_features(case)) - seen if number is None else set()
        seen |= new
        case["sample"] = bool(new) if number is None else number
    sample = [case for case in cases if case["sample"] is True]
    # Operators begin with different cases, so that every dtype has its turn.
    first = zlib.crc32(op.encode()) % max(1, min(SHARE, len(sample)))
    for position, case in enumerate(sample):
        if position % SHARE != first:
            case["sample"] = "host"


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
