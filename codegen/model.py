"""The operator definitions as frozen dataclasses.

This module does no I/O and depends on no target: `load` builds these classes from YAML, `kinds` check them and derive
from them, `targets` print them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from codegen.errors import Location
from codegen.expression import Expression


class BaseType(Enum):
    """The types in the grammar of signatures; the value is the word for the type."""

    TENSOR = "Tensor"
    OPERAND = "Tensor|Number"  # a tensor, or a number, which is promoted as a 0-d tensor of weak dtype
    NUMBER = "Number"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STR = "str"
    DIM = "dim"  # an int that names a dimension: negative values count from the end
    SIZE = "size"  # an int that is a size: not negative (-1 only if the record's rule gives it a meaning)
    PAIR = "pair"  # two ints; only in a list, which C and the runtime see as a list of ints with two per pair
    DTYPE = "dtype"
    DEVICE = "device"


@dataclass(frozen=True)
class Type:
    """A type: `Tensor`, `dim[]`, `Tensor?[]` (a list of optional items), `dim[]?` (an optional list)."""

    base: BaseType
    is_list: bool = False
    optional: bool = False  # whether it may be null
    optional_members: bool = False  # whether the items of the list may be null

    def __str__(self) -> str:
        """Returns the type in the grammar of signatures."""
        members = self.base.value + ("?" if self.optional_members else "")
        return members + ("[]" if self.is_list else "") + ("?" if self.optional else "")

    @property
    def is_tensor(self) -> bool:
        """Returns whether values are tensors, tensors or numbers, or lists of them."""
        return self.base in (BaseType.TENSOR, BaseType.OPERAND)

    @property
    def takes_number(self) -> bool:
        """Returns whether a value may be a single number of any type."""
        return not self.is_list and self.base in (BaseType.OPERAND, BaseType.NUMBER)

    @property
    def is_integer(self) -> bool:
        """Returns whether values are integers, or lists of integers or of pairs of them."""
        return self.base in (BaseType.INT, BaseType.DIM, BaseType.SIZE, BaseType.PAIR)

    @property
    def is_pairs(self) -> bool:
        """Returns whether values are lists of pairs."""
        return self.base is BaseType.PAIR


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
    "Unsupported", "CommunicationError", "InternalError",
)  # fmt: skip


class DTypeSet(Enum):
    """The dtypes that an argument accepts, apart from complex ones.

    If an operator supports complex tensors, arguments that accept `any` or `numeric` accept them as well.
    """

    ANY = "any"
    NUMERIC = "numeric"  # all except bool
    FLOATING = "floating"
    INTEGRAL = "integral"  # signed and unsigned integers, and bool
    BOOL = "bool"
    INDEX = "index"  # int64 and int32


class ResultRule(Enum):
    """The rule for the dtype of a result."""

    PROMOTE = "promote"  # the promoted type of all operands
    SAME = "same"  # the type of the first tensor argument
    FLOATING = "floating"  # the promoted type; integers and bool become the default dtype
    BOOL = "bool"
    INT64 = "int64"
    ACCUMULATE = "accumulate"  # the promoted type; integers and bool become int64


@dataclass(frozen=True)
class DTypeRule:
    """The `dtype` column: the dtypes that the arguments accept, and those of the results.

    `accepts` has the accepted dtypes by argument name, with "" for all others. `results` has one rule per result.
    `override` names a dtype argument that overrides the rule if it is given. `compute` is the rule for the type in
    which expressions are computed (float16 and bfloat16 are always computed in float32). `holds` lists arguments whose
    numbers become elements of the result, whose type must be able to hold them.
    """

    accepts: Mapping[str, DTypeSet] = field(default_factory=lambda: {"": DTypeSet.ANY})
    results: tuple[ResultRule, ...] = (ResultRule.PROMOTE,)
    override: str | None = None
    compute: ResultRule | None = None  # None: PROMOTE if the result is bool or int64, else the rule of the first result
    holds: tuple[str, ...] = ()

    @property
    def converts(self) -> bool:
        """Returns whether `override` must be a floating-point type, to which operands of other types are converted."""
        return self.override is not None and self.accepts.get("") is DTypeSet.FLOATING


class Complex(Enum):
    """The behaviour of an operator for complex tensors, unless the column is an expression over other operators."""

    SAME = "same"  # as for real tensors: it only moves elements, or the operators in its body support complex tensors
    PARTS = "parts"  # it applies to the real and the imaginary parts separately


# ------------------------------------------------------------------------------------------------ kinds


@dataclass(frozen=True)
class Elementwise:
    """One scalar expression per value of the attribute that `match` names, or {None: expression} without `match`."""

    expressions: Mapping[str | None, Expression]
    match: str | None = None


@dataclass(frozen=True)
class Generator:
    """An expression of `index` (the linear index), `row`, `column` (of a matrix), and of random numbers.

    `sizes` is the name of the size[] argument that is the shape of the result, the name of a tensor with that shape, or
    an expression for the shape or for the length of a one-dimensional result.
    """

    expressions: Mapping[str | None, Expression]
    sizes: Expression
    match: str | None = None
    random: int = 0  # the number of draws from the Philox sequence per element


@dataclass(frozen=True)
class Contraction:
    """A sum of products of the tensor arguments.

    `equation` is an einsum equation, the name of the argument that holds one, or the name of a rule that writes one.
    `plus` names a tensor argument that is not an operand of the equation, but is added to the result. `search`, `path`
    and `limit` name the arguments that select a search for the order of the products, that give this order, and that
    limit the number of elements of intermediate results.
    """

    equation: str
    plus: str | None = None
    search: str | None = None
    path: str | None = None
    limit: str | None = None


@dataclass(frozen=True)
class Reduction:
    """A fold over `dims`.

    `state` has the identity of each part of the state, `pre` maps an element to a state, `combine` merges the states
    `a` and `b`, and `post` maps the state (and `count`, the number of elements) to each result.
    """

    state: Mapping[str, Expression]
    pre: Mapping[str, Expression]
    combine: Mapping[str, Expression]
    post: tuple[Expression, ...]
    dims: str | None  # the argument with the dimensions; None: all dimensions are folded
    keepdim: str | None
    allows_empty: bool = True


@dataclass(frozen=True)
class Scan:
    """A fold along one dimension, as in Reduction, with a result at each position."""

    state: Mapping[str, Expression]
    pre: Mapping[str, Expression]
    combine: Mapping[str, Expression]
    post: tuple[Expression, ...]
    dim: str


@dataclass(frozen=True)
class Gather:
    """An index map: result[..., i, ...] = input[..., source(i), ...] along the dimensions in the argument `dims`.

    `source` is an expression of the coordinate `i`, the `size` of the dimension, `k` (the position of the dimension in
    `dims`) and the arguments. A tensor argument is read at `i` (`index[i]`) or at the whole coordinate (`index[...]`).
    """

    dims: str
    source: Expression
    sizes: Expression | None = None  # the size of the result along the dimension; None: that of the input


@dataclass(frozen=True)
class View:
    """A stride map: list expressions over `sizes`, `strides`, `base` and the arguments; `let` names subexpressions."""

    sizes: Expression
    strides: Expression
    offset: Expression
    let: Mapping[str, Expression]


@dataclass(frozen=True)
class Composite:
    """An expression over other operators per value of the attribute that `match` names; `let` names subexpressions."""

    bodies: Mapping[str | None, Expression]
    match: str | None = None
    let: Mapping[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True)
class Native:
    """A hand-written kernel on each device; `infer` names the C++ function that determines shapes and dtypes.

    `shape` describes the shape of the result in words. It does not affect the kernels.
    """

    infer: str
    shape: str = field(compare=False, repr=False)
    data_dependent: bool = False  # result sizes depend on data


@dataclass(frozen=True)
class Merge:
    """How the tensors of several ranks are merged into one.

    `by` is the operator that combines two of them. `then`, if given, is applied to the combined tensor and the number
    of ranks. `accepts` restricts the types of the tensors.
    """

    by: str
    then: str | None = None
    accepts: DTypeSet = DTypeSet.ANY


@dataclass(frozen=True)
class Collective:
    """A communication pattern (a name in `codegen.kinds.collective.PATTERNS`) over the tensors of several ranks.

    Patterns that merge tensors have one `Merge` per value of the attribute that `match` names.
    """

    pattern: str
    keeps_shapes: bool = False  # whether result i has the shape of tensor i, so that there is an in-place form
    match: str | None = None
    merges: Mapping[str, Merge] = field(default_factory=dict)


Kind = Elementwise | Generator | Contraction | Reduction | Scan | Gather | View | Composite | Native | Collective


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

# Columns that records may contain, but that nothing reads yet.
RESERVED = ("gradient", "sharding", "cost")


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
    complex: Complex | Expression | None = None  # None: the default of the kind
    from_any_device: str | None = None  # a tensor argument that is copied to the device of the others
    gradient: object = None  # reserved columns
    sharding: object = None
    cost: object = None

    @property
    def full_name(self) -> str:
        """Returns the name with that of the overload: "max.dim"."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def kind_name(self) -> str:
        """Returns the key of the kind: "elementwise"."""
        return type(self.kind).__name__.lower()

    def locate(self, part: Argument | Result) -> Location:
        """Returns the location of an argument or a result in the signature."""
        return self.signature_location.shifted(part.at)

    @cached_property
    def schema_hash(self) -> int:
        """Returns a 64-bit hash of everything that kernels depend on.

        The runtime compares it, so that it never calls a kernel that was generated from another definition.
        """
        meaning = repr((self.full_name, self.signature, self.kind, self.dtype))
        return int.from_bytes(hashlib.blake2b(meaning.encode(), digest_size=8).digest(), "little")

    @property
    def takes_complex(self) -> bool:
        """Returns whether complex tensors are supported: by the column `complex`, or by default.

        Views, contractions that accept any type, and generators that are not random support them by default.
        """
        if self.complex is not None or isinstance(self.kind, View):
            return True
        if isinstance(self.kind, Generator):
            return not self.kind.random
        return isinstance(self.kind, Contraction) and self.dtype.accepts.get("") is DTypeSet.ANY

    @property
    def receiver(self) -> Argument | None:
        """Returns the argument that a method call binds: the tensor named `input`.

        Functions of a namespace are not methods.
        """
        argument = self.signature.argument("input") if "." not in self.name else None
        return argument if argument and argument.type.is_tensor and not argument.type.is_list else None

    @cached_property
    def has_out(self) -> bool:
        """Returns whether there is an `out` form: the kind computes its results into newly allocated memory."""
        return isinstance(self.kind, Elementwise | Generator | Contraction | Reduction | Scan | Gather) and all(
            r.alias is None for r in self.signature.results
        )

    @cached_property
    def replaced(self) -> Argument | None:
        """Returns the argument that the in-place form overwrites, or None if there is no such form.

        It is the input of an elementwise operator or a scan, or the list of tensors of a collective that keeps shapes.
        """
        match self.kind:
            case Elementwise() | Scan():
                return self.receiver
            case Collective(keeps_shapes=True):
                return self.signature.tensor_arguments[0]
        return None

    @property
    def has_in_place(self) -> bool:
        """Returns whether there is an in-place form."""
        return self.replaced is not None

    @property
    def takes_equation(self) -> bool:
        """Returns whether an argument is an equation; front ends then also accept operands with labels instead."""
        return isinstance(self.kind, Contraction) and self.signature.argument(self.kind.equation) is not None


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
        return any(op.receiver for op in self.overloads)

    @property
    def takes_equation(self) -> bool:
        """Returns whether an overload has an argument that is an equation."""
        return any(op.takes_equation for op in self.overloads)


@dataclass(frozen=True)
class Definitions:
    """All records of a run, in the order of files and lines."""

    ops: tuple[Op, ...]

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
    def by_name(self) -> Mapping[str, Op]:
        """Returns all records by their full names."""
        return {op.full_name: op for op in self.ops}
