"""What an operator definition says, as frozen dataclasses.

No I/O and no target language in here: `load` builds these from YAML, `kinds` derive from them, `languages` print them.
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
    """The types of the signature grammar, by the word that spells them."""

    TENSOR = "Tensor"
    OPERAND = "Tensor|Number"  # a tensor, or a number that takes part as a 0-d tensor of weak dtype
    NUMBER = "Number"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STR = "str"
    DIM = "dim"  # an int that names a dimension: negative values count from the end
    SIZE = "size"  # an int that is a size: not negative (-1 only where the record's rule gives it a meaning)
    PAIR = "pair"  # two ints; only as a list, which C and the runtime see as one of ints, two for each pair
    DTYPE = "dtype"
    DEVICE = "device"


@dataclass(frozen=True)
class Type:
    """`Tensor`, `dim[]`, `Tensor?[]` (a list whose members may be absent), `dim[]?` (a list that may be absent)."""

    base: BaseType
    is_list: bool = False
    optional: bool = False
    optional_members: bool = False

    def __str__(self) -> str:
        members = self.base.value + ("?" if self.optional_members else "")
        return members + ("[]" if self.is_list else "") + ("?" if self.optional else "")

    @property
    def is_tensor(self) -> bool:
        return self.base in (BaseType.TENSOR, BaseType.OPERAND)

    @property
    def takes_number(self) -> bool:
        return not self.is_list and self.base in (BaseType.OPERAND, BaseType.NUMBER)

    @property
    def is_integer(self) -> bool:
        return self.base in (BaseType.INT, BaseType.DIM, BaseType.SIZE, BaseType.PAIR)

    @property
    def is_pairs(self) -> bool:
        return self.base is BaseType.PAIR


@dataclass(frozen=True)
class Alias:
    """`Tensor(a)` shares memory with every other `a` of the signature; `Tensor(a!)` is also written to."""

    label: str
    written: bool = False

    def __str__(self) -> str:
        return f"({self.label}{'!' if self.written else ''})"


Literal = None | bool | int | float | str | tuple["Literal", ...]


@dataclass(frozen=True)
class Argument:
    name: str
    type: Type
    default: Literal = None
    has_default: bool = False
    keyword_only: bool = False
    alias: Alias | None = None
    at: int = field(default=0, compare=False, repr=False)  # its offset in the signature's text


@dataclass(frozen=True)
class Result:
    type: Type
    name: str | None = None
    alias: Alias | None = None
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True)
class Signature:
    """`name(Tensor input, *, str approximate='none') -> Tensor`; parsed and printed by `codegen.signature`."""

    name: str
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)

    @property
    def tensor_arguments(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.type.is_tensor)

    @property
    def gives_list(self) -> bool:
        """Whether the one result is a list of tensors, of a length that a call decides."""
        return self.results[0].type.is_list


# What a call has room for: kMaxArguments and kMaxResults of runtime/dispatch/schema.h.
MAXIMUM_ARGUMENTS = 16
MAXIMUM_RESULTS = 4


# ------------------------------------------------------------------------------------------------ dtype columns

# The element types, in the order of of_dtype.
DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip

# The classes of errors, by the names that of_status_name() gives.
ERRORS = (
    "InvalidArgument", "TypeMismatch", "ShapeError", "DTypeError", "IndexOutOfRange", "DeviceError", "OutOfMemory",
    "Unsupported", "CommunicationError", "InternalError",
)  # fmt: skip


class DTypeSet(Enum):
    """What an argument may hold, of real types. Operators that take complex tensors take them where any or numeric ones
    may stand."""

    ANY = "any"
    NUMERIC = "numeric"  # all but bool
    FLOATING = "floating"
    INTEGRAL = "integral"  # signed and unsigned integers, and bool
    BOOL = "bool"
    INDEX = "index"  # int64 and int32


class ResultRule(Enum):
    PROMOTE = "promote"  # of all operands
    SAME = "same"  # of the first tensor argument
    FLOATING = "floating"  # promoted, integers become the default dtype
    BOOL = "bool"
    INT64 = "int64"
    ACCUMULATE = "accumulate"  # integers and bool become int64


@dataclass(frozen=True)
class DTypeRule:
    """`accepts` per argument name, with "" for all others; one result rule per result.

    `override` names a dtype argument which, when given, takes the place of the rule. `compute` is the rule for the
    type that expressions are computed in, "result" meaning that of the first result (float16 and bfloat16 compute in
    float32 everywhere). `holds` lists arguments whose numbers become elements of the result: its type must have them.
    """

    accepts: Mapping[str, DTypeSet] = field(default_factory=lambda: {"": DTypeSet.ANY})
    results: tuple[ResultRule, ...] = (ResultRule.PROMOTE,)
    override: str | None = None
    compute: ResultRule | None = None  # None: ResultRule.PROMOTE for results of bool or int64, else that of the result
    holds: tuple[str, ...] = ()

    @property
    def converts(self) -> bool:
        """Whether `override` is a floating-point type, which operands of other types are converted to."""
        return self.override is not None and self.accepts.get("") is DTypeSet.FLOATING


class Complex(Enum):
    """What an operator does with complex tensors; an expression over other operators may say it, too."""

    SAME = "same"  # what it does with real ones: it moves elements, or its body's operators take them
    PARTS = "parts"  # the same with each part as with a real number


# ------------------------------------------------------------------------------------------------ kinds


@dataclass(frozen=True)
class Elementwise:
    """One scalar expression per value of the attribute that `match` names ({None: expression} without one)."""

    expressions: Mapping[str | None, Expression]
    match: str | None = None


@dataclass(frozen=True)
class Generator:
    """An expression of `index` (the linear index), `row`, `column` (of a matrix), and of random numbers.

    `sizes` names the size[] argument that gives the shape, or the tensor that has it, or gives the length of a 1-d
    result or `pair(n, m)`.
    """

    expressions: Mapping[str | None, Expression]
    sizes: Expression
    match: str | None = None
    random: int = 0  # numbers of the Philox sequence per element


@dataclass(frozen=True)
class Contraction:
    """An einsum equation over the tensor arguments, the name of the argument that holds one, or of a rule.

    `plus` names a tensor argument that no equation speaks of: it is added to the result. `search`, `path` and `limit`
    name arguments that say how to look for an order of the products, which one to take, and how many elements
    intermediates may have.
    """

    equation: str
    plus: str | None = None
    search: str | None = None
    path: str | None = None
    limit: str | None = None


@dataclass(frozen=True)
class Reduction:
    """A fold over `dims`. `state` gives identities, `pre` maps an element to a state, `combine` merges the states
    `a` and `b`, `post` maps the state (and `count`) to each result."""

    state: Mapping[str, Expression]
    pre: Mapping[str, Expression]
    combine: Mapping[str, Expression]
    post: tuple[Expression, ...]
    dims: str | None  # the argument with the dimensions; None: all
    keepdim: str | None
    allows_empty: bool = True


@dataclass(frozen=True)
class Scan:
    """The same along one dimension, with a result at each position."""

    state: Mapping[str, Expression]
    pre: Mapping[str, Expression]
    combine: Mapping[str, Expression]
    post: tuple[Expression, ...]
    dim: str


@dataclass(frozen=True)
class Gather:
    """result[..., i, ...] = input[..., source(i), ...] along the dimensions that `dims` names.

    `source` is an expression of the coordinate `i`, the `size` of the dimension, `k` (which of the named dimensions)
    and the arguments; a tensor argument is read at `i` (`index[i]`) or at the whole coordinate (`index[...]`).
    """

    dims: str
    source: Expression
    sizes: Expression | None = None  # the result's size along the dimension; None: the input's


@dataclass(frozen=True)
class View:
    """A stride map: list expressions over `sizes`, `strides`, `base` and the arguments; `let` names parts."""

    sizes: Expression
    strides: Expression
    offset: Expression
    let: Mapping[str, Expression]


@dataclass(frozen=True)
class Composite:
    """An expression over other operators, per value of the attribute that `match` names; `let` names parts."""

    bodies: Mapping[str | None, Expression]
    match: str | None = None
    let: Mapping[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True)
class Native:
    """A kernel by hand on each device; `infer` names the C++ function that gives shapes and dtypes.

    `shape` says in words what it gives; kernels do not depend on it.
    """

    infer: str
    shape: str = field(compare=False, repr=False)
    data_dependent: bool = False  # result sizes depend on data


@dataclass(frozen=True)
class Merge:
    """How the tensors of several ranks become one: the operator that joins two of them, and the one that ends it,
    which takes the joined tensor and the number of ranks."""

    by: str
    then: str | None = None
    accepts: DTypeSet = DTypeSet.ANY


@dataclass(frozen=True)
class Collective:
    """A communication pattern (a name of `codegen.kinds.collective.PATTERNS`) over the tensors of several ranks.

    Patterns that merge tensors have one `Merge` per value of the attribute that `match` names.
    """

    pattern: str
    keeps_shapes: bool = False  # whether result i has the shape of tensor i, so that it can take its place
    match: str | None = None
    merges: Mapping[str, Merge] = field(default_factory=dict)


Kind = Elementwise | Generator | Contraction | Reduction | Scan | Gather | View | Composite | Native | Collective


# ------------------------------------------------------------------------------------------------ examples and tests


@dataclass(frozen=True)
class TensorLiteral:
    """`[[1.0, 2.0]]`, or `tensor([1, 2], dtype=int32)` where the dtype is not the natural one."""

    values: Literal
    dtype: str | None = None


@dataclass(frozen=True)
class Name:
    """A bare word in a call: a dtype (`float32`) or a device."""

    name: str


@dataclass(frozen=True)
class Call:
    """`op(positional..., name=value...)`, nested where an argument is itself a call.

    `op` is the public name as written, `record` the full name of the record that the arguments reach.
    """

    op: str
    positional: tuple[CallValue, ...]
    keywords: tuple[tuple[str, CallValue], ...]
    record: str = ""


CallValue = None | bool | int | float | str | TensorLiteral | Name | Call | tuple["CallValue", ...]


@dataclass(frozen=True)
class Example:
    call: Call
    gives: Literal  # nested lists for one tensor, a tuple of them for several results and for a list of tensors
    location: Location = field(compare=False, repr=False)
    note: str | None = None


@dataclass(frozen=True)
class ErrorCase:
    call: Call
    raises: str  # a name of the taxonomy
    says: str  # the whole text; `{type word}` stands for what a language calls that type
    location: Location = field(compare=False, repr=False)


# ------------------------------------------------------------------------------------------------ records

# Columns that a record may have already and that nothing reads yet.
RESERVED = ("gradient", "sharding", "cost")


@dataclass(frozen=True)
class Op:
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
    cases: tuple[Call, ...]  # further calls whose results the oracle gives
    offered_as: tuple[str, ...]  # other public names that offer this record as an overload
    location: Location = field(compare=False, repr=False)
    signature_location: Location = field(compare=False, repr=False)
    complex: Complex | Expression | None = None  # None: whatever the kind does
    from_any_device: str | None = None  # a tensor argument that is brought to the device of the others
    gradient: object = None  # reserved columns
    sharding: object = None
    cost: object = None

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def kind_name(self) -> str:
        return type(self.kind).__name__.lower()

    def locate(self, part: Argument | Result) -> Location:
        """The place of a part of the signature."""
        return self.signature_location.shifted(part.at)

    @cached_property
    def schema_hash(self) -> int:
        """64 bits over what kernels are made from: one that was made from another definition is never called."""
        meaning = repr((self.full_name, self.signature, self.kind, self.dtype))
        return int.from_bytes(hashlib.blake2b(meaning.encode(), digest_size=8).digest(), "little")

    @property
    def takes_complex(self) -> bool:
        """Stride maps, products of any equation and numbers made by an expression need no word about it."""
        if self.complex is not None or isinstance(self.kind, View):
            return True
        if isinstance(self.kind, Generator):
            return not self.kind.random
        return isinstance(self.kind, Contraction) and self.dtype.accepts.get("") is DTypeSet.ANY

    @property
    def receiver(self) -> Argument | None:
        """The argument that a method call binds: the tensor named `input`. Functions of a namespace are no methods."""
        argument = self.signature.argument("input") if "." not in self.name else None
        return argument if argument and argument.type.is_tensor and not argument.type.is_list else None

    @cached_property
    def has_out(self) -> bool:
        """Whether results can be written to a given tensor: kinds that fill fresh memory."""
        return isinstance(self.kind, Elementwise | Generator | Contraction | Reduction | Scan | Gather) and all(
            r.alias is None for r in self.signature.results
        )

    @cached_property
    def replaced(self) -> Argument | None:
        """The argument whose place the result takes in the in-place form: the input of elementwise operators and scans,
        which keep its shape, or the list of tensors of a collective that keeps theirs."""
        match self.kind:
            case Elementwise() | Scan():
                return self.receiver
            case Collective(keeps_shapes=True):
                return self.signature.tensor_arguments[0]
        return None

    @property
    def has_in_place(self) -> bool:
        return self.replaced is not None

    @property
    def takes_equation(self) -> bool:
        """Whether the caller gives the equation: front ends then also take operands with their labels instead."""
        return isinstance(self.kind, Contraction) and self.signature.argument(self.kind.equation) is not None


@dataclass(frozen=True)
class Function:
    """One public name with the records that it offers, in the order in which a call tries them."""

    name: str
    overloads: tuple[Op, ...]

    @property
    def namespace(self) -> str | None:
        return self.name.rpartition(".")[0] or None

    @property
    def is_method(self) -> bool:
        return any(op.receiver for op in self.overloads)

    @property
    def takes_equation(self) -> bool:
        return any(op.takes_equation for op in self.overloads)


@dataclass(frozen=True)
class Definitions:
    """All records of a run, in the order of files and lines."""

    ops: tuple[Op, ...]

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """By public name, sorted. Overloads of the name itself first, then those offered under it."""
        own: dict[str, list[Op]] = {}
        for op in self.ops:
            own.setdefault(op.name, []).append(op)
        for op in self.ops:
            for name in op.offered_as:
                own.setdefault(name, []).append(op)
        return tuple(Function(name, tuple(ops)) for name, ops in sorted(own.items()))

    @cached_property
    def overloads(self) -> Mapping[str, tuple[Op, ...]]:
        """By public name, in the order in which a call tries them."""
        return {function.name: function.overloads for function in self.functions}

    @cached_property
    def by_name(self) -> Mapping[str, Op]:
        return {op.full_name: op for op in self.ops}
