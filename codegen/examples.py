"""The calls in records: examples with their results, and calls that fail. `codegen.calls` parses them."""

from __future__ import annotations

from dataclasses import dataclass, field

from codegen.errors import Location
from codegen.types import Literal


@dataclass(frozen=True)
class TensorLiteral:
    """A tensor in a call: `[[1.0, 2.0]]`, or `tensor([1, 2], dtype=int32)` to give it another dtype."""

    values: Literal
    dtype: str | None = None  # None: float32 for floats, int64 for integers, bool for booleans


@dataclass(frozen=True)
class Name:
    """A bare word in a call: a dtype such as `float32`, or a device."""

    name: str


@dataclass(frozen=True)
class Call:
    """A call `op(positional..., name=value...)`; arguments may be calls themselves.

    `op` is the public name as written, `record` the full name of the record that the arguments select.
    """

    op: str
    positional: tuple[CallValue, ...]
    keywords: tuple[tuple[str, CallValue], ...]
    record: str = ""


CallValue = None | bool | int | float | str | TensorLiteral | Name | Call | tuple["CallValue", ...]


@dataclass(frozen=True)
class Example:
    """A call with its result."""

    call: Call
    gives: Literal  # the values of a tensor; for several results or a list of tensors, a tuple of such values
    location: Location = field(compare=False, repr=False)
    note: str | None = None  # what the example shows


@dataclass(frozen=True)
class ErrorCase:
    """A call that fails, with the class and the text of the error."""

    call: Call
    raises: str  # one of ERRORS
    says: str  # the whole text; `{type}` stands for the name of that type in each language
    location: Location = field(compare=False, repr=False)
