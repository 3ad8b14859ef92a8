"""The functions that programs may call besides operators, with the types of their parameters and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen import base_types
from codegen.types import Type


@dataclass(frozen=True)
class ProgramFunction:
    """A function that programs may call, with the types of its parameters and of its result."""

    parameters: tuple[Type, ...]
    result: Type
    optional: int = 0  # the number of parameters at the end that may be omitted


# The types of values in programs.
TENSOR, TENSORS = Type(base_types.TENSOR), Type(base_types.TENSOR, is_list=True)
INDICES = Type(base_types.TENSOR, is_list=True, optional_members=True)
INTEGER, INTEGERS = Type(base_types.INT), Type(base_types.INT, is_list=True)
BOOL, REAL, TEXT = Type(base_types.BOOL), Type(base_types.FLOAT), Type(base_types.STR)
NUMBER, DTYPE, DEVICE = Type(base_types.NUMBER), Type(base_types.DTYPE), Type(base_types.DEVICE)
GROUP = Type(base_types.STR, optional=True)
DIMS = Type(base_types.DIM, is_list=True, optional=True)  # an integer, a list, or null for all dimensions

# Functions in all programs, defined in runtime/ops/program_functions.h; those of collectives where the patterns are.
PROGRAM: Mapping[str, ProgramFunction] = {
    "given": ProgramFunction((), BOOL),  # whether an optional argument is not null
    "sizes": ProgramFunction((TENSOR,), INTEGERS),
    "size": ProgramFunction((TENSOR, INTEGER), INTEGER),  # of a dimension
    "strides": ProgramFunction((TENSOR,), INTEGERS),
    "offset": ProgramFunction((TENSOR,), INTEGER),  # of the first element in the storage
    "rank": ProgramFunction((TENSOR,), INTEGER),
    "numel": ProgramFunction((TENSOR,), INTEGER),
    "dtype": ProgramFunction((TENSOR,), DTYPE),
    "device": ProgramFunction((TENSOR,), DEVICE),
    "kept_sizes": ProgramFunction((TENSOR, DIMS), INTEGERS, optional=1),  # those of a tensor, 1 where it is folded
    "is_floating": ProgramFunction((TENSOR,), BOOL),
    "is_complex": ProgramFunction((TENSOR,), BOOL),
    "inverse": ProgramFunction((INTEGERS,), INTEGERS),  # the position of each dimension in a permutation
    "infinity": ProgramFunction((), REAL),
    "real": ProgramFunction((NUMBER,), REAL),  # a number as a float
    "pow": ProgramFunction((NUMBER, NUMBER), REAL),
    "sqrt": ProgramFunction((NUMBER,), REAL),
    "floor": ProgramFunction((REAL,), INTEGER),
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
    "epsilon": ProgramFunction((DTYPE,), REAL),  # the distance from 1 to the next larger number
    "largest": ProgramFunction((DTYPE,), REAL),  # the largest finite number
    "lowest": ProgramFunction((DTYPE,), REAL),  # the lowest number, which is negative infinity if the type has it
    "can_repeat": ProgramFunction((INDICES,), BOOL),  # whether indices may select an element twice, as masks do not
    "largest_below": ProgramFunction((REAL, DTYPE), REAL),  # the largest number of a floating-point type below a number
    "fits": ProgramFunction((INTEGER, DTYPE), BOOL),  # whether a dtype has this value
    "group_size": ProgramFunction((GROUP,), INTEGER),  # the number of processes
    # The element of a tensor that has one; they wait for the device.
    "integer": ProgramFunction((TENSOR,), INTEGER),
    "truth": ProgramFunction((TENSOR,), BOOL),
}

# Those that read the shape, the dtype or the device of a tensor, and none of its elements.
METADATA = frozenset(name for name, each in PROGRAM.items() if TENSOR in each.parameters) - {"integer", "truth"}

# Functions in the programs of views, in which the tensor is an index map; defined in runtime/ops/index_map.h.
MAPS: Mapping[str, ProgramFunction] = {
    "swap": ProgramFunction((TENSOR, INTEGER, INTEGER), TENSOR),
    "permute": ProgramFunction((TENSOR, INTEGERS), TENSOR),
    "insert": ProgramFunction((TENSOR, INTEGER), TENSOR),  # a dimension of size 1
    "repeat": ProgramFunction((TENSOR, INTEGER, INTEGER), TENSOR),  # a dimension of size 1
    "select": ProgramFunction((TENSOR, INTEGER, INTEGER), TENSOR),  # an index of a dimension
    "slice": ProgramFunction((TENSOR, INTEGER, INTEGER, INTEGER, INTEGER), TENSOR),  # first index, length, step
    # a dimension, the number of windows, the distance between them, their size, the distance between their elements
    "windows": ProgramFunction((TENSOR, INTEGER, INTEGER, INTEGER, INTEGER, INTEGER), TENSOR),
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
