"""What the templates of kernels print: names, types, and expressions as text.

`codegen.kinds.kernels` derives it from records.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Operand:
    """A tensor operand that an expression reads."""

    name: str
    position: int  # among the inputs of the kernel
    type: str  # "T" or "bool"


@dataclass(frozen=True)
class Setting:
    """A variable that holds a non-tensor argument, or whether an argument was given."""

    type: str  # "T", "bool", "int64_t", or "int64_t*" for a list
    name: str
    position: int  # of the argument
    given: bool = False  # whether the variable holds whether the argument was given

    @property
    def is_list(self) -> bool:
        """Returns whether the argument is a list."""
        return self.type.endswith("*")


@dataclass(frozen=True)
class Kernel:
    """One struct template with its loops, and its rows in the table of kernels."""

    template: ClassVar[str]  # the kind of kernel, which is the name of its templates

    struct: str  # "gelu_tanh_kernel"
    variant: str  # "gelu:tanh"
    comment: str  # the expression of the record
    types: tuple[str, ...]  # the compute types in C
    settings: tuple[Setting, ...]
    fails: bool = False  # whether an integer division by zero is possible
    approximate: bool = False  # whether it calls a function that is approximate: see Intrinsic

    @property
    def name(self) -> str:
        """Returns the name without the suffix: "gelu_tanh"."""
        return self.struct.removesuffix("_kernel")

    @property
    def parameters(self) -> tuple[Setting, ...]:
        """Returns all settings, for kernels that are not specialised for the choices."""
        return self.settings


@dataclass(frozen=True)
class ElementwiseResult:
    """A result of an elementwise kernel."""

    name: str  # "result_0"
    type: str  # "T", "bool" or "int64_t"
    value: str  # the printed expression


@dataclass(frozen=True)
class ElementwiseKernel(Kernel):
    """A kernel that computes each element of the results from elements of the broadcast operands."""

    template = "elementwise"
    operands: tuple[Operand, ...] = ()
    choices: tuple[Setting, ...] = ()  # whether arguments were given; each combination has its own loop
    results: tuple[ElementwiseResult, ...] = ()

    @property
    def parameters(self) -> tuple[Setting, ...]:
        return self.settings + self.choices

    @property
    def combinations(self) -> list[str]:
        """Returns the template arguments for all combinations of the choices; the first choice varies fastest."""
        values = itertools.product(("false", "true"), repeat=len(self.choices))
        return [", ".join(reversed(each)) for each in values]


@dataclass(frozen=True)
class CopyKernel(Kernel):
    """An elementwise kernel whose result is one of its operands."""

    template = "copy"
    position: int = 0  # of the operand


@dataclass(frozen=True)
class GeneratorKernel(Kernel):
    """A kernel that computes each element of a new tensor from its index."""

    template = "generator"
    value: str = ""  # the printed expression
    random: bool = False  # whether it draws random numbers
    uses_index: bool = False
    uses_rows: bool = False  # whether it uses the row or the column


@dataclass(frozen=True)
class Part:
    """One part of the state of a fold, with its printed expressions."""

    name: str
    type: str
    identity: str
    pre: str
    combine: str


@dataclass(frozen=True)
class FoldKernel(Kernel):
    """A kernel that folds elements into a state."""

    parts: tuple[Part, ...] = ()
    loop_settings: tuple[Setting, ...] = ()  # those that the expressions of the parts read
    post: tuple[str, ...] = ()
    result_types: tuple[str, ...] = ()
    alone: str | None = None  # of a selection: what combines two values, whatever their positions
    uses_input: bool = False
    uses_index: bool = False
    uses_count: bool = False


@dataclass(frozen=True)
class FoldLoops:
    """What the loops of a reduction depend on: reductions for which it is equal can share their loops."""

    parts: tuple[Part, ...]
    settings: tuple[Setting, ...]
    alone: str | None
    uses_input: bool
    uses_index: bool
    fails: ClassVar[bool] = False  # no part of a state divides integers

    @property
    def rows_at_once(self) -> int:
        """Returns the number of rows that are folded between two stores of the state.

        Several rows per store let sums run at the speed of the memory. For a state of several parts or of booleans,
        GCC compiles several rows to branches, which it does not vectorise; such a state is stored after each row.
        """
        return 4 if [part.type for part in self.parts] == ["T"] else 1


class ReductionKernel(FoldKernel):
    """A fold over dimensions of the input."""

    template = "reduction"

    @property
    def loops(self) -> FoldLoops:
        return FoldLoops(self.parts, self.loop_settings, self.alone, self.uses_input, self.uses_index)


class ScanKernel(FoldKernel):
    """A fold along one dimension with a result at each position."""

    template = "scan"


@dataclass(frozen=True)
class GatherKernel(Kernel):
    """A kernel that copies elements from positions that an index map gives."""

    template = "gather"
    dims_argument: int = 0
    index_input: int = -1  # the position of the index tensor among the inputs; -1: there is none
    index_everywhere: bool = False  # whether the index tensor is read at the whole coordinate
    source: str = ""  # the printed index map
    uses_place: bool = False  # whether it uses the coordinate `i`
    uses_size: bool = False
    uses_ordinal: bool = False  # whether it uses `k`


# The compute types in the dialects of C.
SPELLED = {"float32": "float", "float64": "double", "int32": "int32_t", "int64": "int64_t", "bool": "bool"}
