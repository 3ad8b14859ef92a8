"""The operator definitions as frozen dataclasses.

This module does no I/O, and depends on no kind and on no target: `load` builds these classes from YAML, the kinds in
`kinds` check records and derive from them, `targets` print them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from codegen import base_types
from codegen.base_types import BaseType
from codegen.errors import Location
from codegen.objects.model import Objects

if TYPE_CHECKING:
    from codegen.derive.gradients import Gradients
    from codegen.kinds.kind import Kind
    from codegen.program import Program
    from codegen.rules import Rule


@dataclass(frozen=True)
class Type:
    """A type: `Tensor`, `dim[]`, `Tensor?[]` (a list of optional items), `dim[]?` (an optional list)."""

    base: BaseType
    is_list: bool = False
    optional: bool = False  # whether it may be null
    optional_members: bool = False  # whether the items of the list may be null

    def __str__(self) -> str:
        """Returns the type in the grammar of signatures."""
        members = self.base.word + ("?" if self.optional_members else "")
        return members + ("[]" if self.is_list else "") + ("?" if self.optional else "")

    @property
    def is_tensor(self) -> bool:
        """Returns whether values are tensors, tensors or numbers, or lists of them."""
        return self.base in (base_types.TENSOR, base_types.OPERAND)

    @property
    def takes_number(self) -> bool:
        """Returns whether a value may be a single number of any type."""
        return not self.is_list and self.base in (base_types.OPERAND, base_types.NUMBER)

    @property
    def item(self) -> Type:
        """Returns the type of an item of a list."""
        return Type(self.base, optional=self.optional_members)

    @property
    def converted(self) -> Type:
        """Returns the type that front ends convert: `int[]` for `dim[]`."""
        return replace(self, base=self.base.converted)

    @property
    def passed(self) -> Type:
        """Returns the type that C, C++, programs and kernels see: `int[]` for `dim[]`."""
        return replace(self, base=self.base.passed)

    @property
    def is_integer(self) -> bool:
        """Returns whether values are integers, or lists of integers or of pairs of them."""
        return self.base.passed is base_types.INT

    @property
    def is_nested(self) -> bool:
        """Returns whether values are lists of pairs or lists of integers."""
        return self.base in (base_types.PAIR, base_types.INTS)


@dataclass(frozen=True)
class Alias:
    """The alias of a tensor: `Tensor(a)` shares memory with every other `(a)`; `Tensor(a!)` is also written to."""

    label: str
    written: bool = False

    def __str__(self) -> str:
        """Returns the alias in the grammar of signatures."""
        return f"({self.label}{'!' if self.written else ''})"


Literal = None | bool | int | float | str | tuple["Literal", ...]


@dataclass(frozen=True)
class Argument:
    """An argument of a signature."""

    name: str
    type: Type
    default: Literal = None
    has_default: bool = False
    keyword_only: bool = False
    alias: Alias | None = None
    at: int = field(default=0, compare=False, repr=False)  # its offset in the signature's text
    other_names: tuple[str, ...] = field(default=(), compare=False, repr=False)  # which front ends accept as well

    @property
    def is_written(self) -> bool:
        """Returns whether the operator writes to the tensor."""
        return self.alias is not None and self.alias.written

    @property
    def takes_arrays(self) -> bool:
        """Returns whether front ends make a tensor of nested lists, arrays and numbers for it."""
        return self.type.is_tensor and not self.is_written


@dataclass(frozen=True)
class Result:
    """A result of a signature."""

    type: Type
    name: str | None = None
    alias: Alias | None = None
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True)
class Signature:
    """The signature of a record, such as `gelu(Tensor input, *, str approximate='none') -> Tensor`.

    `codegen.signature` parses and prints it.
    """

    name: str
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]

    def argument(self, name: str) -> Argument | None:
        """Returns the argument of that name, or None."""
        return next((a for a in self.arguments if a.name == name), None)

    @property
    def tensor_arguments(self) -> tuple[Argument, ...]:
        """Returns the arguments that are tensors, may be tensors, or are lists of them."""
        return tuple(a for a in self.arguments if a.type.is_tensor)

    @property
    def generator(self) -> Argument | None:
        """Returns the argument that is the generator of a random operator, or None."""
        return next((a for a in self.arguments if a.type.base is base_types.GENERATOR), None)

    @property
    def result_names(self) -> tuple[str, ...]:
        """Returns the names of the results in programs for gradients: `result` for one without a name."""
        return tuple(result.name or "result" for result in self.results)

    @property
    def gradient_names(self) -> tuple[str, ...]:
        """Returns the names of the gradients of the results: `grad`, or `grad_values` for the result `values`."""
        return tuple(f"grad_{result.name}" if result.name else "grad" for result in self.results)

    @property
    def gives_list(self) -> bool:
        """Returns whether the result is a list of tensors, whose length depends on the call."""
        return self.results[0].type.is_list


# The limits of a call: kMaxArguments and kMaxResults of runtime/dispatch/schema.h.
MAXIMUM_ARGUMENTS = 16
MAXIMUM_RESULTS = 4


# ------------------------------------------------------------------------------------------------ dtype columns

# All dtypes, in the order of of_dtype.
DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip

# The classes of errors, by the names that of_status_name() returns.
ERRORS = (
    "InvalidArgument", "TypeMismatch", "ShapeError", "DTypeError", "IndexOutOfRange", "DeviceError", "OutOfMemory",
    "Unsupported", "CommunicationError", "InternalError", "FileError",
)  # fmt: skip


class DTypeSet(Enum):
    """The dtypes that an argument accepts, apart from complex ones.

    If an operator supports complex tensors, arguments that accept floating-point tensors accept them as well.
    """

    ANY = "any"
    NUMERIC = "numeric"  # all except bool
    FLOATING = "floating"
    INTEGRAL = "integral"  # signed and unsigned integers, and bool
    BOOL = "bool"
    INDEX = "index"  # integers, which kernels get as int64 or int32

    @property
    def may_be_floating(self) -> bool:
        """Returns whether it has floating-point types."""
        return self in (DTypeSet.ANY, DTypeSet.NUMERIC, DTypeSet.FLOATING)


class ResultRule(Enum):
    """The rule for the dtype of a result."""

    PROMOTE = "promote"  # the promoted type of all operands
    SAME = "same"  # the type of the first tensor argument
    LAST = "last"  # the type of the last tensor argument
    FLOATING = "floating"  # the promoted type; integers and bool become the default dtype
    BOOL = "bool"
    INT64 = "int64"
    ACCUMULATE = "accumulate"  # the promoted type; integers and bool become int64
    NUMBERS = "numbers"  # only for `compute`: the type of the result, or float64 for integers if a number is a float


@dataclass(frozen=True)
class DTypeRule:
    """The `dtype` column: the dtypes that the arguments accept, and those of the results.

    `accepts` has the accepted dtypes by argument name, with "" for all others. `results` has one rule per result.
    `override` names a dtype argument that overrides the rule if it is given. `compute` is the rule for the type in
    which expressions are computed (float16 and bfloat16 are always computed in float32). `holds` lists arguments whose
    numbers become elements of the result, whose type must be able to hold them. `integers` lists tensor arguments that
    may have indices, although they accept other dtypes as well: a language whose numbers are all floating-point makes
    int64 tensors of arrays of integers there.
    """

    accepts: Mapping[str, DTypeSet] = field(default_factory=lambda: {"": DTypeSet.ANY})
    results: tuple[ResultRule, ...] = (ResultRule.PROMOTE,)
    override: str | None = None
    compute: ResultRule | None = None  # None: PROMOTE if the result is bool or int64, else the rule of the first result
    holds: tuple[str, ...] = ()
    integers: tuple[str, ...] = field(default=(), compare=False)

    @property
    def converts(self) -> bool:
        """Returns whether `override` must be a floating-point type, to which operands of other types are converted."""
        return self.override is not None and self.accepts.get("") is DTypeSet.FLOATING


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


# ------------------------------------------------------------------------------------------------ examples and tests


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


# ------------------------------------------------------------------------------------------------ records


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

    name: str  # "add", "comm.all_reduce"
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

    @cached_property
    def signature_id(self) -> int:
        """Returns what identifies the name and the signature: see `codegen.ids`."""
        from codegen import ids  # which builds on this module

        return ids.signature_id(self)

    @cached_property
    def kernel_id(self) -> int:
        """Returns what identifies everything that kernels compute: see `codegen.ids`."""
        from codegen import ids

        return ids.kernel_id(self)

    @property
    def takes_complex(self) -> bool:
        """Returns whether complex tensors are supported: by the column `complex`, or by the kind itself."""
        return self.complex is not None or self.kind.takes_complex(self)

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


@dataclass(frozen=True)
class Function:
    """A public name with its overloads, in the order in which a call tries them."""

    name: str
    overloads: tuple[Op, ...]

    @property
    def namespace(self) -> str | None:
        """Returns the part of the name before the last dot, or None."""
        return self.name.rpartition(".")[0] or None

    @property
    def is_method(self) -> bool:
        """Returns whether an overload is also a method of tensors."""
        return bool(self.method_overloads)

    @property
    def method_overloads(self) -> tuple[Op, ...]:
        """Returns the overloads that are also methods of tensors; those of a namespace are methods by another name."""
        return () if self.namespace else tuple(op for op in self.overloads if op.receiver)

    @property
    def in_place_overloads(self) -> tuple[Op, ...]:
        """Returns the overloads with an in-place form, which is a method if the operator has a receiver."""
        return tuple(op for op in self.overloads if op.has_in_place and not (self.namespace and op.receiver))

    @property
    def takes_equation(self) -> bool:
        """Returns whether an overload has an argument that is an equation."""
        return any(op.takes_equation for op in self.overloads)


@dataclass(frozen=True)
class Elsewhere:
    """A name by which users of other libraries know a function or a method that has another name here.

    `here` has that name by language, with "" for all others. A text with spaces says what to do instead.
    """

    name: str
    here: Mapping[str, str]
    is_method: bool


@dataclass(frozen=True)
class Definitions:
    """All records of a run, in the order of files and lines, and what is derived from them."""

    ops: tuple[Op, ...]
    gradients: Mapping[str, Gradients] = field(default_factory=dict)  # by full name
    rules: tuple[Rule, ...] = ()
    words: tuple[str, ...] = ()  # names in texts of the runtime that are not those of records
    elsewhere: tuple[Elsewhere, ...] = ()
    objects: Objects = field(default_factory=Objects)

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Returns all public functions, sorted by name. Records of that name precede those that are offered as it."""
        own: dict[str, list[Op]] = {}
        for op in self.ops:
            own.setdefault(op.name, []).append(op)
        for op in self.ops:
            for name in op.offered_as:
                own.setdefault(name, []).append(op)
        return tuple(Function(name, tuple(ops)) for name, ops in sorted(own.items()))

    @cached_property
    def overloads(self) -> Mapping[str, tuple[Op, ...]]:
        """Returns the overloads by public name, in the order in which a call tries them."""
        return {function.name: function.overloads for function in self.functions}

    @cached_property
    def formers(self) -> Mapping[str, tuple[FormerOperator, ...]]:
        """Returns the former operators by the full name of the present one: of a record, or of a gradient."""
        from codegen import former  # which builds on this module

        return former.by_present_name(self)

    @cached_property
    def by_name(self) -> Mapping[str, Op]:
        """Returns all records by their full names."""
        return {op.full_name: op for op in self.ops}
