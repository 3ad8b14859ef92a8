"""The types of arguments, one `BaseType` each; `docs/guides/add-a-type.md` tells what else a new type needs.

Three questions about a type have different answers. What does a *record* say: `dim`. What does the *front end* of a
language convert: an int. What does the *runtime* see: an int, which it checks and normalises as a dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class BaseType:
    """A type in the grammar of signatures, without what `Type` adds: lists and null."""

    word: str  # in signatures
    noun: str  # in the manual, of one value
    plural: str
    enumerator: str  # of the runtime's ArgumentType
    kind: str  # of the type that front ends bind: an of_type_kind of oneflow/objects.h, without its prefix
    literals: tuple[type, ...] = ()  # the Python types of values in records
    passed_as: BaseType | None = None  # the type that C, C++, programs and kernels see; None: this one
    takes: tuple[BaseType, ...] | None = None  # what front ends take, by a converter of their own; None: `passed_as`
    in_lists: bool = False
    is_bare: bool = False  # whether values are written without quotes
    only: bool | None = None  # the only value; None: any
    meaning: str = ""  # what the manual says about the values

    @property
    def passed(self) -> BaseType:
        """Returns the type that C, C++, programs and kernels see."""
        return self.passed_as or self

    @property
    def converted(self) -> BaseType:
        """Returns the type that front ends convert: `dim` is converted as `int`."""
        return self.passed if self.takes is None else self

    @property
    def holds_numbers(self) -> bool:
        """Returns whether scalar expressions can compute with the values."""
        return any(self.holds(each) for each in (True, 1, 1.0))

    def holds(self, literal: object) -> bool:
        """Returns whether a literal is a value of this type; `True` is no number unless the type says so."""
        if isinstance(literal, bool):
            return bool in self.literals and self.only in (None, literal)
        return isinstance(literal, self.literals)


TENSOR = BaseType("Tensor", "tensor", "tensors", "kTensor", "TENSOR", in_lists=True)
NUMBER = BaseType("Number", "number", "numbers", "kNumber", "NUMBER", (bool, int, float))
# A tensor, or a number, which is promoted as a 0-d tensor of weak dtype.
OPERAND = BaseType(
    "Tensor|Number",
    "tensor or number",
    "tensors or numbers",
    "kOperand",
    "OPERAND",
    NUMBER.literals,
    takes=(TENSOR, NUMBER),
)
INT = BaseType("int", "integer", "integers", "kInt", "INT", (int,), in_lists=True)
DIM = BaseType(
    "dim",
    "dimension",
    "dimensions",
    "kDim",
    "INT",
    (int,),
    INT,
    in_lists=True,
    meaning="negative numbers count from the end",
)
# Not negative, except for -1 where the record's rule gives it a meaning.
SIZE = BaseType("size", "size", "sizes", "kSize", "INT", (int,), INT, in_lists=True)
# Only in a list, which C and the runtime see as a list of ints with two per pair.
PAIR = BaseType("pair", "pair of integers", "pairs of integers", "kInt", "PAIR", (), INT, takes=(), in_lists=True)
# Only in a list: an integer or a list of integers, which C and the runtime see after their number in one list of ints.
INTS = BaseType("ints", "list of integers", "lists of integers", "kInts", "INTS", (), INT, takes=(), in_lists=True)
FLOAT = BaseType("float", "number", "numbers", "kFloat", "FLOAT", (int, float))
BOOL = BaseType("bool", "boolean", "booleans", "kBool", "BOOL", (bool,))
# Flags that change the type of a result tell overloads apart: `nonzero(x, as_tuple=True)`.
TRUE = BaseType("true", "true", "true", "kTrue", "TRUE", (bool,), BOOL, takes=(BOOL,), only=True)
FALSE = BaseType("false", "false", "false", "kFalse", "FALSE", (bool,), BOOL, takes=(BOOL,), only=False)
STR = BaseType("str", "string", "strings", "kString", "STRING", (str,))
DTYPE = BaseType("dtype", "dtype", "dtypes", "kDType", "DTYPE", (str,), is_bare=True)
DEVICE = BaseType("device", "device", "devices", "kDevice", "DEVICE", (str,), in_lists=True, is_bare=True)
# What random operators draw from.
GENERATOR = BaseType(
    "Generator", "generator", "generators", "kGenerator", "OBJECT", meaning="the default generator if omitted"
)
# Which processes take part. C and the runtime see its text.
GROUP = BaseType(
    "Group", "group", "groups", "kGroup", "GROUP", (str,), STR, takes=(), meaning="all ranks of the job if omitted"
)

# All types, by their words in signatures.
BASE_TYPES: Mapping[str, BaseType] = {
    base.word: base
    for base in (
        INT, FLOAT, BOOL, TRUE, FALSE, STR, DIM, SIZE, PAIR, INTS, DTYPE, DEVICE, GENERATOR, GROUP, NUMBER, OPERAND,
        TENSOR,
    )
}  # fmt: skip
