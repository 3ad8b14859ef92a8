"""What a kind answers about a record: facts and texts for people, and the rule by which the runtime runs calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from codegen.expression import Comparison
from codegen.program import Program


@dataclass(frozen=True)
class Fact:
    """One line of `explain`: a property that is derived from the record."""

    what: str  # the name of the property: "shape"
    text: str


@dataclass(frozen=True)
class Skeleton:
    """The parts of the record that `new` prints for a kind; the author completes its empty strings."""

    key: str  # the key of the kind with its value, indented by two spaces
    arguments: str = "Tensor input"
    result: str = "Tensor"
    dtype: str = "{accepts: any, result: same}"
    example: str = "[1.0, 2.0]"  # the arguments of the example
    mistake: str = "'a'"  # the arguments of the error case
    says: str = "input must be {Tensor}, got {str}"


@dataclass(frozen=True)
class Enumerator:
    """An enumerator of C++."""

    text: str  # "DTypeSet::kAny"


@dataclass(frozen=True)
class Rows:
    """An array of structs of C++."""

    struct: str
    rows: tuple[tuple[str | Enumerator | None, ...], ...]


Member = int | bool | str | Rows  # an int may be the position of an argument


class Gives(Enum):
    """What the C++ function of a program returns."""

    RESULTS = "results"  # of the operators that it calls
    MAP = "map"  # from the indices of a view to those of the input
    SIZES = "sizes"  # of the result
    LENGTH = "length"  # of a one-dimensional result
    SIZE = "size"  # along one dimension of the result


@dataclass(frozen=True)
class RulePrograms:
    """The programs of a record, one per value of the matched attribute, as a C++ function.

    `members` are the members of the kind's rule that point to it.
    """

    gives: Gives
    programs: tuple[Program, ...]
    members: tuple[str, ...]


@dataclass(frozen=True)
class RuntimeRule:
    """How the runtime runs an operator: the function of the kind, and what this function must know of the record.

    `struct` is the type of the kind's rule, with its members, of which the function of `programs` comes last. `headers`
    declare the type and the functions.
    """

    run: str
    headers: tuple[str, ...]
    struct: str = ""  # empty: the kind has no rule
    members: Mapping[str, Member] = field(default_factory=dict)
    run_complex: str = ""  # the function for complex operands; empty: `run`
    run_by_parts: str = "run_by_parts"  # the function for records with `complex: parts`
    operations: str = ""  # the function that counts the operations of a call; empty: there are none to count
    schema: Mapping[str, bool] = field(default_factory=dict)  # members of the schema that dispatch reads
    programs: RulePrograms | None = None


def comparing(rule: RuntimeRule, found: Comparison | None) -> RuntimeRule:
    """Returns a rule that also compares integers above the range of int64, which kernels do not."""
    if found is None:
        return rule
    run = f"run_comparison<{rule.run}, Comparison::k{found.value.capitalize()}>"
    return replace(rule, run=run, headers=(*rule.headers, "ops/unsigned_order.h"))
