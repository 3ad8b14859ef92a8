"""The functions that expressions may call, with the sorts of their parameters and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from codegen.dims import Link, Relation
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


_V, _T, _I = Sort.VALUE, Sort.TRUTH, Sort.INTEGER


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


@dataclass(frozen=True)
class ContractionRule:
    """A rule that writes an equation, defined in runtime/einsum/rules.cpp.

    `shape` describes the shape of the result, `contracted` the dimensions of each operand that are summed over.
    """

    shape: str
    contracted: Mapping[str, str]

    def links(self, operand: str) -> tuple[Link, ...]:
        """Returns which dimensions of the result follow those of an operand."""
        summed = Link(operand, self.contracted[operand], Relation.CONTRACTED)
        return (summed, Link(operand, "all others", Relation.SAME))


CONTRACTIONS = {
    "matmul": ContractionRule(
        "the broadcast batch dimensions, the rows of `input`, and the columns of `other`",
        {"input": "the last dimension", "other": "the rows"},
    ),
    "linear": ContractionRule(
        "that of `input`, with the number of rows of `weight` as the last size",
        {"input": "the last dimension", "weight": "the last dimension"},
    ),
    "inner": ContractionRule(
        "the sizes of `input` without the last one, followed by those of `other` without the last one",
        {"input": "the last dimension", "other": "the last dimension"},
    ),
    "tensordot": ContractionRule(
        "the sizes of `input` without the contracted dimensions, followed by those of `other` without them",
        {"input": "`dims`", "other": "`dims`"},
    ),
}


@dataclass(frozen=True)
class ProgramFunction:
    """A function that programs may call, with the types of its parameters and of its result."""

    parameters: tuple[Type, ...]
    result: Type
    optional: int = 0  # the number of parameters at the end that may be omitted


# The types of values in programs.
TENSOR, TENSORS = Type(BaseType.TENSOR), Type(BaseType.TENSOR, is_list=True)
INTEGER, INTEGERS = Type(BaseType.INT), Type(BaseType.INT, is_list=True)
BOOL, REAL, TEXT = Type(BaseType.BOOL), Type(BaseType.FLOAT), Type(BaseType.STR)
NUMBER, DTYPE = Type(BaseType.NUMBER), Type(BaseType.DTYPE)

# Functions in all programs, defined in runtime/ops/program_functions.h.
PROGRAM: Mapping[str, ProgramFunction] = {
    "given": ProgramFunction((), BOOL),  # whether an optional argument is not null
    "sizes": ProgramFunction((TENSOR,), INTEGERS),
    "size": ProgramFunction((TENSOR, INTEGER), INTEGER),  # of a dimension
    "rank": ProgramFunction((TENSOR,), INTEGER),
    "numel": ProgramFunction((TENSOR,), INTEGER),
    "dtype": ProgramFunction((TENSOR,), DTYPE),
    "is_floating": ProgramFunction((TENSOR,), BOOL),
    "is_complex": ProgramFunction((TENSOR,), BOOL),
    "min": ProgramFunction((INTEGER, INTEGER), INTEGER),
    "max": ProgramFunction((INTEGER, INTEGER), INTEGER),
    "clamp": ProgramFunction((INTEGER, INTEGER, INTEGER), INTEGER),  # between a lowest and a highest value
    "ceil_div": ProgramFunction((INTEGER, INTEGER), INTEGER),  # the quotient, rounded up
    "len": ProgramFunction((INTEGERS,), INTEGER),  # also of tensors
    "total": ProgramFunction((INTEGERS,), INTEGER),  # the sum of the items
    "product": ProgramFunction((INTEGERS,), INTEGER),
    "contains": ProgramFunction((INTEGERS, INTEGER), BOOL),
    "starts": ProgramFunction((INTEGERS,), INTEGERS),  # for each item, the sum of those before it
    "broadcast": ProgramFunction((INTEGERS, INTEGERS), INTEGERS),  # the shape that two shapes broadcast to
    "range": ProgramFunction((INTEGER, INTEGER, INTEGER), INTEGERS, optional=2),  # as in Python
    "completed": ProgramFunction((INTEGERS, INTEGER), INTEGERS),  # sizes in which -1 becomes what the count requires
    "range_length": ProgramFunction((NUMBER, NUMBER, NUMBER), INTEGER),  # from a start to an end, exclusive, by a step
    "fits": ProgramFunction((INTEGER, DTYPE), BOOL),  # whether a dtype has this value
}

# Functions in the programs of views, in which the tensor is an index map; defined in runtime/ops/index_map.h.
MAPS: Mapping[str, ProgramFunction] = {
    "swap": ProgramFunction((TENSOR, INTEGER, INTEGER), TENSOR),
    "permute": ProgramFunction((TENSOR, INTEGERS), TENSOR),
    "insert": ProgramFunction((TENSOR, INTEGER), TENSOR),  # a dimension of size 1
    "repeat": ProgramFunction((TENSOR, INTEGER, INTEGER), TENSOR),  # a dimension of size 1
    "select": ProgramFunction((TENSOR, INTEGER, INTEGER), TENSOR),  # an index of a dimension
    "slice": ProgramFunction((TENSOR, INTEGER, INTEGER, INTEGER, INTEGER), TENSOR),  # first index, length, step
    "diagonal": ProgramFunction((TENSOR, INTEGER, INTEGER), TENSOR),  # of two dimensions of the same size
    "reshape": ProgramFunction((TENSOR, INTEGERS), TENSOR),
    "as_strided": ProgramFunction((TENSOR, INTEGERS, INTEGERS, INTEGER), TENSOR),
    "as_parts": ProgramFunction((TENSOR,), TENSOR),  # a complex number as its real and its imaginary part
    "as_pairs": ProgramFunction((TENSOR,), TENSOR),  # two real numbers as a complex one
    "has_pairs": ProgramFunction((TENSOR,), BOOL),  # whether its dtype is that of the parts of complex numbers
    "needs_copy": ProgramFunction((TENSOR,), BOOL),  # whether the strides of the input do not allow the map
    "strides_text": ProgramFunction((TENSOR,), TEXT),
    "offset_text": ProgramFunction((TENSOR,), TEXT),
}
