"""The types of the arguments and results of operators, and the signatures that they form."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from codegen import base_types
from codegen.base_types import BaseType


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
