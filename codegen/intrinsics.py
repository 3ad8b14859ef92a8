"""The functions that expressions may call, with the sorts of their parameters and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from codegen.model import BaseType, Type


class Sort(Enum):
    """The static type of a part of an expression."""

    VALUE = "a number"  # of the compute type
    TRUTH = "a boolean"
    INTEGER = "an integer"  # int64: positions, sizes, strides
    LIST = "a list of integers"
    TENSOR = "a tensor"
    TEXT = "a string"
    OPTIONAL = "an optional argument"  # that may be null
    NAME = "the name of an argument"

    @property
    def is_scalar(self) -> bool:
        """Returns whether it is a number or a boolean, which convert to each other."""
        return self in (Sort.VALUE, Sort.TRUTH, Sort.INTEGER)


@dataclass(frozen=True)
class Intrinsic:
    """The signature of a function of the expression language."""

    parameters: tuple[Sort, ...]
    result: Sort
    last: Sort | None = None  # a further, optional parameter

    def takes(self, count: int) -> bool:
        """Returns whether it can be called with `count` arguments."""
        return 0 <= count - len(self.parameters) <= (self.last is not None)

    def parameter(self, position: int) -> Sort:
        """Returns the sort of the parameter at a position."""
        return (*self.parameters, self.last)[position] or Sort.VALUE

    @property
    def arity(self) -> str:
        """Returns the number of arguments in words: "2 arguments", "2 or 3 arguments"."""
        count = len(self.parameters)
        return f"{count} or {count + 1} arguments" if self.last else f"{count} argument{'s' * (count != 1)}"


_V, _T, _I, _L, _O = Sort.VALUE, Sort.TRUTH, Sort.INTEGER, Sort.LIST, Sort.OPTIONAL


def _each(names: str, parameters: tuple[Sort, ...], result: Sort) -> dict[str, Intrinsic]:
    return {name: Intrinsic(parameters, result) for name in names.split()}


# Functions in scalar expressions of every kind.
SCALAR: Mapping[str, Intrinsic] = {
    **_each(
        "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
        "erf erfc lgamma floor ceil trunc round abs sign",
        (_V,),
        _V,
    ),
    **_each("atan2 pow fmod remainder floordiv truncdiv copysign minimum maximum", (_V, _V), _V),
    **_each("isnan isinf isfinite bool_type float_type", (_V,), _T),
    **_each("lowest highest", (), _V),
    "given": Intrinsic((Sort.NAME,), _T),
}

# Functions in generators: they return the k-th random number of an element.
RANDOM: Mapping[str, Intrinsic] = {**_each("uniform normal", (_I,), _V), "below": Intrinsic((_I, _V), _V)}

FRACTIONS = frozenset({"uniform", "normal"})  # those whose numbers are fractions

# Functions in reductions and scans.
FOLD: Mapping[str, Intrinsic] = {
    **_each("first_of_max first_of_min", (_V, _I, _V, _I), _T),
    "last_index": Intrinsic((), _I),
}

# Functions in the index map of a gather.
GATHER: Mapping[str, Intrinsic] = {"numel": Intrinsic((Sort.TENSOR,), _I)}

# Functions that give the sizes of a generator's result, defined in runtime/ops/size_functions.h.
SIZES: Mapping[str, Intrinsic] = {
    "range_length": Intrinsic((_V, _V, _V), _I),
    "pair": Intrinsic((_I, _O), _L),
    "sizes_for_range": Intrinsic((_L, _I, _I, _O), _L),
}

# The rules that write equations, defined in runtime/einsum/rules.cpp, with the shape of the result.
CONTRACTIONS = {
    "matmul": "the broadcast batch dimensions, the rows of `input`, and the columns of `other`",
    "linear": "that of `input`, with the number of rows of `weight` as the last size",
    "inner": "the sizes of `input` without the last one, followed by those of `other` without the last one",
    "tensordot": "the sizes of `input` without the contracted dimensions, followed by those of `other` without them",
}

# Functions in stride maps, defined in runtime/ops/view_functions.h.
VIEW: Mapping[str, Intrinsic] = {
    "swap": Intrinsic((_L, _I, _I), _L),
    "transposed": Intrinsic((_L,), _L),
    "insert": Intrinsic((_L, _I, _I), _L),
    "remove": Intrinsic((_L, _I), _L, last=_I),
    "replace": Intrinsic((_L, _I, _I), _L),
    "append": Intrinsic((_L, _I), _L),
    "permute": Intrinsic((_L, _L), _L),
    "same_length": Intrinsic((_L, _L), _L),
    "without_ones": Intrinsic((_L, _L), _L),
    "without_ones_at": Intrinsic((_L, _L, _L), _L),
    "expand_sizes": Intrinsic((_L, _L), _L),
    "expand_strides": Intrinsic((_L, _L, _L), _L),
    "insertion_point": Intrinsic((_I, _I), _I),
    "element": Intrinsic((_I, _I, _I), _I),
    "slice_begin": Intrinsic((_O, _I, _I), _I),
    "slice_length": Intrinsic((_O, _O, _I, _I), _I),
    "slice_stride": Intrinsic((_I, _I, _I), _I),
    "narrow_begin": Intrinsic((_I, _I, _I, _I), _I),
    "diagonal_length": Intrinsic((_L, _I, _I, _I), _I),
    "diagonal_begin": Intrinsic((_L, _L, _I, _I, _I), _I),
}


@dataclass(frozen=True)
class ProgramFunction:
    """A function of programs over operators, defined in runtime/ops/program_functions.h."""

    parameters: tuple[Type, ...]
    result: Type
    optional: int = 0  # the number of parameters at the end that may be omitted


# The types of values in programs.
TENSOR, TENSORS = Type(BaseType.TENSOR), Type(BaseType.TENSOR, is_list=True)
INTEGER, INTEGERS = Type(BaseType.INT), Type(BaseType.INT, is_list=True)
BOOL, REAL, TEXT = Type(BaseType.BOOL), Type(BaseType.FLOAT), Type(BaseType.STR)

PROGRAM: Mapping[str, ProgramFunction] = {
    "given": ProgramFunction((), BOOL),  # whether an optional argument is not null
    "sizes": ProgramFunction((TENSOR,), INTEGERS),
    "size": ProgramFunction((TENSOR, INTEGER), INTEGER),  # of a dimension
    "rank": ProgramFunction((TENSOR,), INTEGER),
    "numel": ProgramFunction((TENSOR,), INTEGER),
    "dtype": ProgramFunction((TENSOR,), Type(BaseType.DTYPE)),
    "is_floating": ProgramFunction((TENSOR,), BOOL),
    "is_complex": ProgramFunction((TENSOR,), BOOL),
    "min": ProgramFunction((INTEGER, INTEGER), INTEGER),
    "max": ProgramFunction((INTEGER, INTEGER), INTEGER),
    "ceil_div": ProgramFunction((INTEGER, INTEGER), INTEGER),  # the quotient, rounded up
    "len": ProgramFunction((INTEGERS,), INTEGER),  # also of tensors
    "total": ProgramFunction((INTEGERS,), INTEGER),  # the sum of the items
    "starts": ProgramFunction((INTEGERS,), INTEGERS),  # for each item, the sum of those before it
    "broadcast": ProgramFunction((INTEGERS, INTEGERS), INTEGERS),  # the shape that two shapes broadcast to
    "range": ProgramFunction((INTEGER, INTEGER, INTEGER), INTEGERS, optional=2),  # as in Python
}
