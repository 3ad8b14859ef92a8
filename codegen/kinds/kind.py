"""The interface of a kind of operator.

A kind is a frozen dataclass that holds what a record says under the key of the kind. Everything that depends on the
kind is one of its methods or class attributes; no other part of the generator lists the kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeVar

from codegen.compute_types import promoted_compute_types
from codegen.derivative import UnknownDerivative
from codegen.dims import Link, sharding_lines
from codegen.expression import Comparison, Node
from codegen.intrinsics import Cost
from codegen.model import Argument, Complex, Op, Signature
from codegen.program import Program
from codegen.reader import Field, Report

if TYPE_CHECKING:
    from codegen.as_program import OperatorTable
    from codegen.kernel_printer import KernelPrinter
    from codegen.kernels import Kernel

K = TypeVar("K", bound="Kind")

Functions = Mapping[str, Sequence[Op]]  # public name to overloads


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
    declare the type and the functions. `dimensions` is the function that gives dimension maps.
    """

    run: str
    dimensions: str
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


class Kind(ABC):
    """What a record computes."""

    key: ClassVar[str]  # the key in records
    skeleton: ClassVar[Skeleton]
    in_records: ClassVar[bool] = True  # whether records can have the kind
    has_body: ClassVar[bool] = False  # whether it only calls other operators, so that its gradient is that of the calls
    allocates: ClassVar[bool] = False  # whether results are computed into new memory, so that there are `out` forms
    has_kernel_by_hand: ClassVar[bool] = False  # whether each device has a hand-written kernel
    is_fused: ClassVar[bool] = False  # whether devices may have a kernel for all calls of its body
    has_device_function: ClassVar[bool] = False  # whether a function of the device's table replaces kernels
    computes: ClassVar[bool] = True  # whether results are computed from elements, rather than moved or selected
    may_give_list: ClassVar[bool] = False
    may_write: ClassVar[bool] = False  # whether an argument may be written to
    is_long: ClassVar[bool] = True  # whether a call may take so long that a language releases its lock
    checks_sizes: ClassVar[bool] = False  # whether the kind itself checks sizes, of which -1 may have a meaning
    follows_device: ClassVar[bool] = False  # whether an omitted device is that of the first tensor
    complex_forms: ClassVar[frozenset[Complex]] = frozenset()  # the forms of the column `complex` that it supports

    @classmethod
    @abstractmethod
    def read(cls: type[K], field: Field, signature: Signature | None) -> K:
        """Reads the key of the kind; `signature` is None if it could not be parsed. Raises Bad."""

    @abstractmethod
    def check(self, op: Op, functions: Functions, report: Report) -> None:
        """Reports every problem of the expressions, and of a signature that does not suit the kind.

        It is called once all records have been read.
        """

    def resolved(self: K, op: Op, functions: Functions) -> K:
        """Returns the kind with programs whose calls name their records. Raises TextError."""
        return self

    @property
    def called(self) -> tuple[Op, ...]:
        """Returns the records that the programs of a resolved kind call."""
        return ()

    @property
    def called_by_name(self) -> tuple[str, ...]:
        """Returns the full names of the operators that the runtime calls because the record names them."""
        return ()

    @abstractmethod
    def facts(self, op: Op) -> Iterator[Fact]:
        """Yields what is derived from the record in this kind alone, for `explain`."""

    @abstractmethod
    def links(self, op: Op) -> tuple[Link, ...]:
        """Returns which dimensions of the results follow which dimensions of the operands; none if they follow none."""

    def sharding(self, op: Op) -> Iterator[str]:
        """Yields what follows for tensors that are split along a dimension."""
        links = self.links(op)
        yield from sharding_lines(links) if links else ["every dimension can be split"]

    @abstractmethod
    def shape_text(self, op: Op) -> str:
        """Returns the shape of the results in words."""

    @abstractmethod
    def runtime_rule(self, op: Op) -> RuntimeRule:
        """Returns the rule by which the runtime runs calls."""

    @property
    def element_costs(self) -> Mapping[str | None, Mapping[Cost, int]]:
        """Returns the operations for one element, by value of the matched attribute; nothing without expressions."""
        return {}

    def kernels(self, op: Op, dialect: type[KernelPrinter]) -> Iterator[Kernel]:
        """Yields the kernels to print, one per value of the attribute that the record matches on."""
        yield from ()

    def compute_types(self, op: Op) -> frozenset[str]:
        """Returns the dtypes that a call can compute in."""
        return promoted_compute_types(op)

    def takes_complex(self, op: Op) -> bool:
        """Returns whether complex tensors are supported without a column `complex`."""
        return False

    def holds_for_complex(self, op: Op) -> bool:
        """Returns whether the expressions are also valid for complex numbers, so that devices may have such kernels."""
        return False

    @property
    def element(self) -> tuple[Node, ...]:
        """Returns the scalar expression of an element of the result, if the record has just one; else nothing."""
        return ()

    def adjoint(self, op: Op, argument: Argument, operators: OperatorTable) -> Mapping[str | None, str] | Kind:
        """Returns what computes the gradient of an argument: programs by value of the matched attribute, or a kind.

        Programs read the gradients of the results, the arguments and the results, by the names of `codegen.derive`.
        Raises UnknownDerivative.
        """
        raise UnknownDerivative(f"it does not follow from the kind {self.key}")

    def comparison(self, op: Op) -> Comparison | None:
        """Returns what the results depend on if their elements are found by comparing operands only, or else None."""
        return None

    def only_selects(self, name: str) -> bool:
        """Returns whether a number argument is not computed with, but at most selected as an element."""
        return False

    def commutes(self, op: Op) -> bool:
        """Returns whether the first two operands can be exchanged, bit for bit."""
        return False

    def replaced(self, op: Op) -> Argument | None:
        """Returns the argument that the in-place form overwrites, or None if there is no such form."""
        return None

    def equation_argument(self, op: Op) -> Argument | None:
        """Returns the argument that is an einsum equation, or None."""
        return None

    @property
    def draws_fractions(self) -> bool:
        """Returns whether elements are random fractions, which only floating-point types hold."""
        return False

    @property
    def is_random(self) -> bool:
        """Returns whether the operator draws random numbers itself."""
        return False

    @property
    def matched(self) -> str | None:
        """Returns the name of the attribute whose value selects one of several definitions, or None."""
        return None

    @property
    def matched_values(self) -> tuple[str, ...]:
        """Returns the values of that attribute."""
        return ()

    @property
    def own_names(self) -> tuple[str, ...]:
        """Returns the names that the record gives to parts, which become variables in generated code."""
        return ()

    @property
    def folded(self) -> str | None:
        """Returns the name of the argument with the dimensions that elements are folded along, or None."""
        return None

    def definitions(self) -> Iterator[tuple[str | None, str]]:
        """Yields the formulas that define the results, each with the matched value that it applies to, if any."""
        yield from ()

    def meanings(self, op: Op, argument: Argument) -> Iterator[str]:
        """Yields what the kind says about the values of an argument, for the manual."""
        yield from ()
