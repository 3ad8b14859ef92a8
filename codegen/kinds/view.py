"""`view: "program"`: a program over the functions of MAPS, in which `input` stands for the map of its indices.

The map gives the sizes of the result, and says where its elements are in the input. A result `Tensor(a)` shares the
memory of the input; unless the strides of the input do not allow it, as for `reshape`. A result `Tensor` is a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from codegen.answers import Fact, Gives, RulePrograms, RuntimeRule, Skeleton
from codegen.as_program import OperatorTable
from codegen.dims import DimensionRule, Link, Relation
from codegen.expression import Invoke
from codegen.kinds.adjoints import SelectionAdjoint
from codegen.kinds.checks import check_input, check_tensors
from codegen.kinds.programs import check_program, scope
from codegen.model import Functions, Kind, Op
from codegen.program import Program
from codegen.program_functions import MAPS, PROGRAM, TENSOR
from codegen.reader import Field, Report
from codegen.resolve import resolve
from codegen.types import Argument, Signature

_FUNCTIONS = {**PROGRAM, **MAPS}

# The dimensions that each map relates, in words.
_LINKS = {
    "swap": Link("input", "every dimension", Relation.SAME, "two are swapped"),
    "permute": Link("input", "every dimension", Relation.SAME, "in another order"),
    "insert": Link("input", "every dimension", Relation.SAME, "next to new ones"),
    "repeat": Link("input", "dimensions of size 1", Relation.BROADCAST),
    "select": Link("input", "the selected dimension", Relation.INDEXED),
    "slice": Link("input", "the sliced dimension", Relation.WINDOWED),
    "diagonal": Link("input", "both dimensions of the diagonal", Relation.WINDOWED, "the last one"),
    "windows": Link("input", "the dimension of the windows", Relation.WINDOWED, "it and the last one"),
    "reshape": Link("input", "dimensions whose sizes change", Relation.REGROUPED),
    "as_pairs": Link("input", "the last dimension", Relation.INDEXED, "the parts of complex numbers"),
    "as_strided": Link("input", "every dimension", Relation.OPAQUE),
}
_OTHERS = Link("input", "all others", Relation.SAME)


@dataclass(frozen=True)
class View(Kind):
    """An affine map from the indices of the result to those of the input."""

    key = "view"
    skeleton = Skeleton('  view: ""\n', arguments="Tensor(a) input", result="Tensor(a)")
    allocates = True
    computes = False
    checks_sizes = True

    program: Program
    copies: bool  # whether the result has memory of its own

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> View:
        copies = signature is not None and all(result.alias is None for result in signature.results)
        return cls(field.program, copies)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        check_input(op, report)
        check_tensors(op, 1, report)
        if len(op.signature.results) != 1:
            report.add(op.signature_location, "a view must have one result")
        else:
            check_program(self.program, scope(op, _FUNCTIONS), [TENSOR], report)

    def resolved(self, op: Op, functions: Functions) -> View:
        return replace(self, program=resolve(self.program, scope(op, _FUNCTIONS), [TENSOR]))

    @property
    def is_long(self) -> bool:  # type: ignore[override]
        """Returns whether elements are copied."""
        return self.copies

    @property
    def own_names(self) -> tuple[str, ...]:
        return self.program.assigned

    @property
    def maps(self) -> frozenset[str]:
        """Returns the names of the functions of MAPS that the program calls."""
        return frozenset(n.function for n in self.program.nodes() if isinstance(n, Invoke)) & MAPS.keys()

    def dimensions(self, op: Op) -> DimensionRule:
        found = [link for name, link in _LINKS.items() if name in self.maps]
        others = [] if any(link.dims == "every dimension" for link in found) else [_OTHERS]
        return DimensionRule("view_dimensions", (*found, *others))

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))
        where = "that of `copy`" if self.copies else "none: the result shares the input's memory"
        yield Fact("kernels", where + ", or is a copy if the strides do not allow it" * self.may_copy)
        yield Fact("cost", "number of bytes of the result" if self.copies else "0")

    @property
    def may_copy(self) -> bool:
        """Returns whether the result is a copy if the strides of the input do not allow a view."""
        return not self.copies and "reshape" in self.maps and "needs_copy" not in self.maps

    def adjoint(self, op: Op, argument: Argument, operators: OperatorTable) -> SelectionAdjoint:
        return SelectionAdjoint(op.full_name, argument.name, op.position(argument.name))

    def definitions(self) -> Iterator[tuple[str | None, str]]:
        for line in self.program.lines:
            yield None, line

    def shape_text(self, op: Op) -> str:
        return "that of the result of the definition"

    def runtime_rule(self, op: Op) -> RuntimeRule:
        run = "run_copied_view" if self.copies else "run_view"
        programs = RulePrograms(Gives.MAP, (self.program,), ("map", "axes"))
        return RuntimeRule(run, ("ops/view.h",), "ViewRule", programs=programs)

    def takes_complex(self, op: Op) -> bool:
        return True
