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
    alone: str = ""  # for the value of a selection: what combines two values, whatever their positions


def _selection(first: str, identity: str, alone: str) -> dict[str, StatePart]:
    """Returns the parts of a selection: the value that comes first, with its position."""
    comes_first = f"{first}(a.value, a.at, b.value, b.at)"
    return {
        "value": StatePart(
            identity, "{of}", f"a.value if {comes_first} else b.value", alone=f"{alone}(a.value, b.value)"
        ),
        "at": StatePart("last_index()", "index", f"a.at if {comes_first} else b.at"),
    }


# The variance by Welford and Chan. The sum of squared differences from the mean is squares * scale * scale, so that it
# stays within the range of the type. `scale` is a power of 2, so that scaling does not round: a part of the largest
# difference between two means so far, but at least 2^-60. Its reciprocal then is finite, and no usual product is
# subnormal, which would be slow.
_DISTANCE = "(b.mean - a.mean)"
_WEIGHT = "(b.n / maximum(a.n + b.n, 1))"
_LARGEST, _NEAR = "maximum(a.scale, b.scale)", f"(0.0625 * power_of_2({_DISTANCE}))"
_SCALE = f"maximum({_LARGEST}, {_NEAR})"


def _scaled(factor: str, value: str) -> str:
    """Returns a factor times the square of a value that is divided by the new scale."""
    ratio = f"({value} * (1 / {_SCALE}))"
    return f"{factor} * {ratio} * {ratio}"


_WELFORD = {
    "n": StatePart("0", "1", "a.n + b.n"),
    "mean": StatePart("0", "{of}", f"a.mean + {_DISTANCE} * {_WEIGHT}"),
    "scale": StatePart("8.673617379884035e-19", "8.673617379884035e-19", _SCALE),
    "squares": StatePart(
        "0",
        "0",
        f"{_scaled('a.squares', 'a.scale')} + {_scaled('b.squares', 'b.scale')}"
        f" + {_scaled(f'(a.n * {_WEIGHT})', _DISTANCE)}",
    ),
}

ALGEBRAS: Mapping[str, Mapping[str, StatePart]] = {
    "sum": {"total": StatePart("0", "{of}", "a.total + b.total", scan_identity="-0.0")},  # keeps the sign of -0.
    "product": {"product": StatePart("1", "{of}", "a.product * b.product")},
    "max": {"value": StatePart("lowest()", "{of}", "maximum(a.value, b.value)")},
    "min": {"value": StatePart("highest()", "{of}", "minimum(a.value, b.value)")},
    "and": {"holds": StatePart("True", "{of}", "a.holds and b.holds")},
    "or": {"holds": StatePart("False", "{of}", "a.holds or b.holds")},
    "first_max": _selection("first_of_max", "lowest()", "maximum"),
    "first_min": _selection("first_of_min", "highest()", "minimum"),
    "welford": _WELFORD,
}
