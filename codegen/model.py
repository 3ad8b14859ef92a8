"""Records: what each says, the interface of its kind, and calls of it in programs.

These three refer to each other. The model does no I/O, and depends on no single kind and on no target: `load` builds
records from YAML, the kinds in `kinds` derive from them, `targets` print them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import ClassVar, TypeVar

from codegen import base_types
from codegen.answers import Fact, RuntimeRule, Skeleton
from codegen.as_program import OperatorTable
from codegen.compute_types import COMPUTE_TYPES, promoted_compute_types
from codegen.derivative import UnknownDerivative
from codegen.dims import DimensionRule, sharding_lines
from codegen.dtypes import DTypeRule, DTypeSet
from codegen.errors import Location
from codegen.examples import Call, ErrorCase, Example
from codegen.expression import Comparison, Node
from codegen.ids import Identified, canonical, hashed
from codegen.intrinsics import Cost
from codegen.kernel_printer import KernelPrinter
from codegen.kernels import Kernel
from codegen.program import Program
from codegen.reader import Field, Report
from codegen.signature import print_signature
from codegen.types import Argument, Literal, Result, Signature


class Complex(Enum):
    """The behaviour of an operator for complex tensors, unless the column is an expression over other operators."""

    SAME = "same"  # as for real tensors: it only moves elements, or the operators in its body support complex tensors
    PARTS = "parts"  # it applies to the real and the imaginary parts separately


class Gradient(Enum):
    """The gradient of an argument, unless the column is a program."""

    NONE = "none"  # the results do not depend on the elements of the argument, or are not differentiable
    SELECTION = "selection"  # the results are elements of the argument


@dataclass(frozen=True)
class StatedGradient:
    """A program for the gradients of some arguments, with a result for each of them.

    A record with branches may have a program for each of them; otherwise the key is None.
    """

    arguments: tuple[str, ...]
    programs: Mapping[str | None, Program]
    is_holomorphic: bool  # whether it multiplies by complex derivatives, so that the runtime conjugates around it


@dataclass(frozen=True)
class Word:
    """A name in a record, with its location for errors."""

    text: str
    location: Location = field(compare=False, repr=False)


@dataclass(frozen=True)
class FormerOperator:
    """An operator of an earlier version whose stored calls are now calls of a record, or of a gradient of it.

    An argument is the present one with the same name unless the columns say otherwise. Defaults of the former signature
    hold for its calls. `codegen.former` has the rules.
    """

    full_name: str
    signature: Signature
    renames: tuple[tuple[Word, Word], ...]  # the former names of arguments, with the present ones
    values: tuple[tuple[Word, Literal], ...]  # of present arguments that it lacked, unless it is their default
    drops: tuple[Word, ...]  # arguments that exist no longer
    location: Location = field(compare=False, repr=False)


@dataclass(frozen=True)
class Op:
    """A record: the definition of one operator, or of one overload of it."""

    name: str  # "add", "comm.local.all_reduce"
    overload: str | None  # "dim" of max.dim
    signature: Signature
    summary: str
    description: str
    kind: Kind
    dtype: DTypeRule
    oracle: str | None
    examples: tuple[Example, ...]
    errors: tuple[ErrorCase, ...]
    cases: tuple[Call, ...]  # further calls, whose results the oracle computes
    offered_as: tuple[str, ...]  # other public names under which this record is an overload
    location: Location = field(compare=False, repr=False)
    signature_location: Location = field(compare=False, repr=False)
    complex: Complex | Program | None = None  # None: the default of the kind
    from_any_device: str | None = None  # a tensor argument that may be on another device
    in_place: bool = False  # whether the result has the shape of the receiver, which an in-place form then overwrites
    formerly: tuple[FormerOperator, ...] = ()
    gradient: Mapping[str, StatedGradient | Gradient] = field(
        default_factory=dict
    )  # by argument, in place of what the kind derives

    @property
    def full_name(self) -> str:
        """Returns the name with that of the overload: "max.dim"."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    def locate(self, part: Argument | Result) -> Location:
        """Returns the location of an argument or a result in the signature."""
        return self.signature_location.shifted(part.at)

    @property
    def identity(self) -> str:
        """Returns the full name and the signature."""
        return f"{self.full_name} {print_signature(self.signature)}"

    @cached_property
    def signature_id(self) -> int:
        """Returns what identifies the name and the signature: see `codegen.ids`."""
        return hashed(self.identity)

    @cached_property
    def kernel_id(self) -> int:
        """Returns what identifies everything that kernels compute: see `codegen.ids`."""
        return hashed(
            canonical((self.identity, self.kind.key, self.kind, self.dtype, self.complex, self.from_any_device))
        )

    @property
    def takes_complex(self) -> bool:
        """Returns whether complex tensors are supported: by the column `complex`, or by the kind itself."""
        return self.complex is not None or self.kind.takes_complex(self)

    @property
    def compute_types(self) -> tuple[str, ...]:
        """Returns the dtypes that a call can compute in, in the order of COMPUTE_TYPES."""
        possible = self.kind.compute_types(self)
        return tuple(name for name in COMPUTE_TYPES if name in possible)

    def accepted(self, argument: Argument) -> DTypeSet:
        """Returns the dtypes that a tensor argument accepts."""
        return self.dtype.accepts.get(argument.name, self.dtype.accepts.get("", DTypeSet.ANY))

    def takes_integers(self, argument: Argument) -> bool:
        """Returns whether integers in a tensor argument mean integers, also where numbers are floating-point."""
        is_integer = self.accepted(argument) in (DTypeSet.INDEX, DTypeSet.INTEGRAL)
        return argument.type.is_tensor and (is_integer or argument.name in self.dtype.integers)

    def position(self, name: str) -> int:
        """Returns the position of an argument in the signature."""
        return [argument.name for argument in self.signature.arguments].index(name)

    @property
    def receiver(self) -> Argument | None:
        """Returns the argument that a method call binds: the tensor named `input`.

        Functions of a namespace are not methods.
        """
        argument = self.signature.argument("input") if "." not in self.name else None
        return argument if argument and argument.type.is_tensor and not argument.type.is_list else None

    @property
    def result_aliases(self) -> list[int | None]:
        """Returns, for each result, the position of the argument whose memory it may share, or None."""
        labels = [argument.alias and argument.alias.label for argument in self.signature.arguments]
        return [labels.index(each.alias.label) if each.alias else None for each in self.signature.results]

    @cached_property
    def has_out(self) -> bool:
        """Returns whether there is an `out` form: the kind computes its results into newly allocated memory.

        A list of tensors, whose length is not known before the call, has none.
        """
        results = self.signature.results
        return self.kind.allocates and not self.signature.gives_list and all(each.alias is None for each in results)

    @cached_property
    def makes_leaves(self) -> bool:
        """Returns whether callers may ask for a result that requires a gradient.

        It is a new tensor, whose dtype and device are options. Front ends set the flag after the call.
        """
        chosen = {argument.type.base for argument in self.signature.arguments if argument.keyword_only}
        return self.has_out and {base_types.DTYPE, base_types.DEVICE} <= chosen

    @property
    def is_detached(self) -> bool:
        """Returns whether the record says that no argument has a gradient, although the operators that it calls do."""
        tensors = self.signature.tensor_arguments
        return bool(tensors) and all(self.gradient.get(each.name) is Gradient.NONE for each in tensors)

    @property
    def returned(self) -> Argument | None:
        """Returns the argument that is written to and returned, as by `index_put_`; None if there is none."""
        first = self.signature.results[0].alias
        return next((a for a in self.signature.arguments if a.alias and a.alias.written and a.alias == first), None)

    @cached_property
    def replaced(self) -> Argument | None:
        """Returns the argument that the in-place form overwrites, or None if there is no such form."""
        return self.receiver if self.in_place else self.kind.replaced(self)

    @property
    def has_in_place(self) -> bool:
        """Returns whether there is an in-place form."""
        return self.replaced is not None

    @property
    def takes_equation(self) -> bool:
        """Returns whether an argument is an equation; front ends then also accept operands with labels instead."""
        return self.kind.equation_argument(self) is not None


K = TypeVar("K", bound="Kind")

Functions = Mapping[str, Sequence[Op]]  # public name to overloads


class Kind(ABC):
    """What a record computes.

    A kind is a frozen dataclass that holds what a record says under the key of the kind. Everything that depends on the
    kind is one of its methods or class attributes; no other part of the generator lists the kinds.
    """

    key: ClassVar[str]  # the key in records
    skeleton: ClassVar[Skeleton]
    in_records: ClassVar[bool] = True  # whether records can have the kind
    in_libraries: ClassVar[bool] = True  # whether those of libraries of users can: nothing of it is written by hand
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
    def dimensions(self, op: Op) -> DimensionRule:
        """Returns which dimensions of the results follow which dimensions of the operands."""

    def sharding(self, op: Op) -> Iterator[str]:
        """Yields what follows for tensors that are split along a dimension."""
        links = self.dimensions(op).links
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
        return promoted_compute_types(op.dtype, [op.accepted(argument) for argument in op.signature.tensor_arguments])

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

    def adjoint(self, op: Op, argument: Argument, operators: OperatorTable) -> Mapping[str | None, Program] | Kind:
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

    @property
    def can_start(self) -> bool:
        """Returns whether a call can only begin, and go on meanwhile."""
        return False

    @property
    def lists_in(self) -> str | None:
        """Returns the namespace whose functions take several tensors where one of this kind takes one, or None."""
        return None

    @property
    def needs_others(self) -> bool:
        """Returns whether a call waits for another process, so that no example shows one."""
        return False

    def meanings(self, op: Op, argument: Argument) -> Iterator[str]:
        """Yields what the kind says about the values of an argument, for the manual."""
        yield from ()


@dataclass(frozen=True)
class OperatorCall(Node, Identified):
    """A resolved call: the record, and the value of each argument of its signature; None stands for the default."""

    op: Op = field(repr=False)
    values: tuple[Node | None, ...]
    in_place: bool = False  # whether the result is written to the argument that the in-place form overwrites
    out: tuple[Node, ...] = ()  # the tensors that the results are written to

    @property
    def writes(self) -> bool:
        """Returns whether the call changes a tensor."""
        return (
            self.in_place
            or bool(self.out)
            or any(each.alias and each.alias.written for each in self.op.signature.arguments)
        )

    @property
    def identity(self) -> tuple[object, ...]:
        return ("write" if self.in_place or self.out else "call", self.op.identity, (*self.values, *self.out))


def calls_in(program: Program) -> Iterator[OperatorCall]:
    """Yields the calls of operators in a resolved program."""
    return (node for node in program.nodes() if isinstance(node, OperatorCall))


def called_in(program: Program) -> tuple[Op, ...]:
    """Returns the records that a resolved program calls, sorted by name."""
    found = {call.op.full_name: call.op for call in calls_in(program)}
    return tuple(op for _, op in sorted(found.items()))


def writes(program: Program) -> bool:
    """Returns whether a resolved program changes a tensor."""
    return any(call.writes for call in calls_in(program))
