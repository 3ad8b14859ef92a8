"""All records of a run, with what is derived from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from codegen.model import FormerOperator, Op
from codegen.objects.model import Objects
from codegen.types import Literal


@dataclass(frozen=True)
class Function:
    """A public name with its overloads, in the order in which a call tries them."""

    name: str
    overloads: tuple[Op, ...]
    starts: bool = False  # whether calls only begin, and return a handle

    @property
    def started(self) -> Function | None:
        """Returns the function whose calls only begin; None if there is none."""
        can_start = all(op.kind.can_start for op in self.overloads)
        return Function(f"{self.name}_async", self.overloads, starts=True) if can_start else None

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
        if self.starts:
            return ()
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
class Gradients:
    """The operators for the gradients of a record, by argument, and why other arguments have none."""

    ops: Mapping[str, Op]
    missing: Mapping[str, str]

    @property
    def operators(self) -> list[Op]:
        """Returns each operator once: one may compute the gradients of several arguments."""
        return list({op.full_name: op for op in self.ops.values()}.values())

    @property
    def fused(self) -> list[Op]:
        """Returns those that one kernel can compute."""
        return [op for op in self.operators if op.kind.is_fused]


@dataclass(frozen=True)
class Bound:
    """An argument on the left side: a variable, the result of an earlier call, a list of such, or a literal."""

    variable: int | None = None
    call: int | None = None
    items: tuple[Bound, ...] = ()
    literal: Literal = None

    def variables(self) -> Iterator[int]:
        """Yields the variables that it contains."""
        if self.variable is not None:
            yield self.variable
        for item in self.items:
            yield from item.variables()


@dataclass(frozen=True)
class PatternCall:
    """A call on the left side, with one item per argument of the signature."""

    op: Op
    arguments: tuple[Bound, ...]


@dataclass(frozen=True)
class Rule:
    """A rule. Its variables are the arguments of `op`, whose program is the right side, after the condition."""

    op: Op
    family: str  # the name in the file, with * for what is replaced
    calls: tuple[PatternCall, ...]  # the left side, in an order in which operands come first; the result is the last
    constants: tuple[str, ...]  # the variables that must be constants
    left: str
    right: str
    condition: str  # empty: none
    error: float | None  # the largest relative error; None: the results are equal
    trials: Mapping[str, tuple[Literal, ...]]  # the shapes or values of each variable
    positive: tuple[str, ...]  # the tensors that are tried with positive elements only
    finite: tuple[str, ...]  # those that are tried with finite elements only

    @property
    def name(self) -> str:
        return self.op.name


@dataclass(frozen=True)
class Definitions:
    """All records of a run, in the order of files and lines, and what is derived from them."""

    ops: tuple[Op, ...]
    gradients: Mapping[str, Gradients] = field(default_factory=dict)  # by full name
    rules: tuple[Rule, ...] = ()
    words: tuple[str, ...] = ()  # names in texts of the runtime that are not those of records
    elsewhere: tuple[Elsewhere, ...] = ()
    objects: Objects = field(default_factory=Objects)
    space: str = ""  # the namespace of the library of operators whose records are among these

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
        found: dict[str, tuple[FormerOperator, ...]] = {}
        for op in self.ops:
            for former in op.formerly:
                if present := self.present(former, op):
                    found[present.full_name] = (*found.get(present.full_name, ()), former)
        return found

    def present(self, former: FormerOperator, op: Op) -> Op | None:
        """Returns the operator that a former one of a record now is; None if it was a gradient that is gone."""
        last = _gradient_part(former.full_name)
        if not last:
            return op
        gradients = self.gradients[op.full_name].operators
        return next((each for each in gradients if _gradient_part(each.full_name) == last), None)

    @cached_property
    def by_name(self) -> Mapping[str, Op]:
        """Returns all records by their full names."""
        return {op.full_name: op for op in self.ops}


def _gradient_part(full_name: str) -> str:
    """Returns "gradient_input" for the names of gradients such as "sum.gradient_input" and "sum.dim_gradient_input"."""
    _, mark, rest = full_name.rpartition(".")[2].partition("gradient_")
    return mark + rest
