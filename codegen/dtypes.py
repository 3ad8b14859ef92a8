"""The dtypes of tensors: sets that arguments accept, and rules for those of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

# All dtypes, in the order of of_dtype.
DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
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
    compute: ResultRule | None = None  # None: see `computes_in`
    holds: tuple[str, ...] = ()
    integers: tuple[str, ...] = field(default=(), compare=False)

    @property
    def computes_in(self) -> ResultRule | None:
        """Returns the rule for the type in which expressions are computed; None: the type of the first result.

        That is the rule of the column, or else the type of the operands if the result is bool or int64.
        """
        is_other = self.results[0] in (ResultRule.BOOL, ResultRule.INT64)
        return self.compute or (ResultRule.PROMOTE if is_other else None)

    @property
    def converts(self) -> bool:
        """Returns whether `override` must be a floating-point type, to which operands of other types are converted."""
        return self.override is not None and self.accepts.get("") is DTypeSet.FLOATING
