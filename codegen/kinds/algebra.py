"""The algebras of folds: what combines two states, by name.

A fold that is one of these has a gradient, a sharding rule and partial results that are known. `{of}` stands for the
element that is folded. Every other fold writes its expressions itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class StatePart:
    """One part of a state: its identity, its value for one element, and the expression that combines two states."""

    identity: str
    pre: str
    combine: str
    scan_identity: str = ""  # in scans, if it differs: these have no results without elements


def _selection(first: str, identity: str) -> dict[str, StatePart]:
    """Returns the parts of a selection: the value that comes first, with its position."""
    comes_first = f"{first}(a.value, a.at, b.value, b.at)"
    return {
        "value": StatePart(identity, "{of}", f"a.value if {comes_first} else b.value"),
        "at": StatePart("last_index()", "index", f"a.at if {comes_first} else b.at"),
    }


# The variance by Welford and Chan. The sum of squared differences from the mean is squares * scale * scale, so that it
# stays within the range of the type. `scale` is a part of the largest difference between two means so far, but at least
# 1e-18: its reciprocal is finite, and no usual product is subnormal, which would be slow. It at least doubles when it
# grows, and the squares are scaled only then: each time rounds them.
_DISTANCE = "(b.mean - a.mean)"
_WEIGHT = "(b.n / maximum(a.n + b.n, 1))"
_LARGEST, _NEAR = "maximum(a.scale, b.scale)", f"(0.0625 * abs({_DISTANCE}))"
_SCALE = f"({_LARGEST} if {_NEAR} <= {_LARGEST} else 2 * {_NEAR})"


def _rescaled(squares: str, scale: str) -> str:
    """Returns squares with the new scale."""
    ratio = f"(1 if {scale} == {_SCALE} else {scale} * (1 / {_SCALE}))"
    return f"{squares} * {ratio} * {ratio}"


_RATIO = f"({_DISTANCE} * (1 / {_SCALE}))"
_WELFORD = {
    "n": StatePart("0", "1", "a.n + b.n"),
    "mean": StatePart("0", "{of}", f"a.mean + {_DISTANCE} * {_WEIGHT}"),
    "scale": StatePart("1e-18", "1e-18", _SCALE),
    "squares": StatePart(
        "0",
        "0",
        f"{_rescaled('a.squares', 'a.scale')} + {_rescaled('b.squares', 'b.scale')}"
        f" + a.n * {_WEIGHT} * {_RATIO} * {_RATIO}",
    ),
}

ALGEBRAS: Mapping[str, Mapping[str, StatePart]] = {
    "sum": {"total": StatePart("0", "{of}", "a.total + b.total", scan_identity="-0.0")},  # keeps the sign of -0.
    "product": {"product": StatePart("1", "{of}", "a.product * b.product")},
    "max": {"value": StatePart("lowest()", "{of}", "maximum(a.value, b.value)")},
    "min": {"value": StatePart("highest()", "{of}", "minimum(a.value, b.value)")},
    "and": {"holds": StatePart("True", "{of}", "a.holds and b.holds")},
    "or": {"holds": StatePart("False", "{of}", "a.holds or b.holds")},
    "first_max": _selection("first_of_max", "lowest()"),
    "first_min": _selection("first_of_min", "highest()"),
    "welford": _WELFORD,
}
