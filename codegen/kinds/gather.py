"""`gather: {dims: argument, source: index expression, sizes: size expression}`.

result[..., i, ...] = input[..., source(i), ...] along the dimensions in the argument `dims`. `source` may use `i`, the
`size` of the dimension, `k` (its position in `dims`), the arguments, and `index[i]` or `index[...]` of an index tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from codegen import base_types
from codegen.answers import Fact, Gives, Member, RulePrograms, RuntimeRule, Skeleton
from codegen.as_program import OperatorTable
from codegen.checking import POSITIONS, Scope, setting_sort
from codegen.derivative import UnknownDerivative
from codegen.dims import DimensionRule, Link, Relation
from codegen.expression import Ellipsis, Expression, Subscript, Variable
from codegen.intrinsics import Sort
from codegen.kernel_printer import KernelPrinter
from codegen.kernels import Kernel
from codegen.kinds import kernels
from codegen.kinds.adjoints import SelectionAdjoint
from codegen.kinds.checks import (
    argument_named,
    check_expression,
    check_input,
    check_names,
    check_results,
    check_tensors,
)
from codegen.kinds.programs import check_program
from codegen.kinds.programs import scope as size_scope
from codegen.model import Complex, Functions, Kind, Op
from codegen.program import Program
from codegen.program_functions import INTEGER
from codegen.reader import Field, Report
from codegen.resolve import resolve
from codegen.types import Argument, Signature

_COORDINATES = dict.fromkeys(("i", "size", "k"), Sort.INTEGER)


def scope(op: Op) -> Scope:
    """Returns the names and functions that `source` may use."""
    settings = {a.name: setting_sort(a) for a in op.signature.arguments}
    return Scope({**settings, **_COORDINATES}, {}, number=Sort.INTEGER, refused=POSITIONS)


def _is_dims(argument: Argument) -> bool:
    return argument.type.base is base_types.DIM


@dataclass(frozen=True)
class Gather(Kind):
    """An index map: result[..., i, ...] = input[..., source(i), ...] along the dimensions in the argument `dims`.

    `source` is an expression of the coordinate `i`, the `size` of the dimension, `k` (the position of the dimension in
    `dims`) and the arguments. A tensor argument is read at `i` (`index[i]`) or at the whole coordinate (`index[...]`).
    """

    key = "gather"
    skeleton = Skeleton(
        '  gather:\n    dims: dims\n    source: ""\n',
        arguments="Tensor input, dim[] dims",
        example="[1.0, 2.0], [0]",
        mistake="'a', [0]",
    )
    allocates = True
    computes = False
    complex_forms = frozenset({Complex.PARTS})

    dims: str
    source: Expression
    sizes: Program | None = None  # the size of the result along the dimension; None: that of the input

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Gather:
        fields = field.fields
        dims = argument_named(fields.need("dims"), signature, _is_dims, "a dim or a list of them")
        source = fields.need("source").expression
        sizes = fields.optional("sizes", lambda f: f.program, None)
        fields.finish()
        return cls(dims, source, sizes)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        check_results(op, report)
        check_input(op, report)
        check_tensors(op, 2, report)
        check_names(op, (*_COORDINATES, "row"), report)
        dims = op.signature.argument(self.dims)
        if dims and dims.type.optional:
            report.add(op.locate(dims), f"the dimensions of a gather must not be optional: {self.dims}")
        if check_expression(self.source, scope(op), Sort.INTEGER, report):
            self._check_reads(op, self.source, report)
        if self.sizes:
            check_program(self.sizes, size_scope(op), [INTEGER], report)

    def resolved(self, op: Op, functions: Functions) -> Gather:
        return replace(self, sizes=resolve(self.sizes, size_scope(op), [INTEGER])) if self.sizes else self

    def _check_reads(self, op: Op, source: Expression, report: Report) -> None:
        """Checks that lists are read at `k`, and index tensors at `i` or `...`; other positions may be out of range."""
        for node in source.root.walk():
            if not isinstance(node, Subscript) or not isinstance(node.value, Variable):
                continue
            name, at = node.value.name, node.position
            argument = op.signature.argument(name)
            if argument and argument.type.is_list:
                if at != Variable("k"):
                    report.add(source.locate(node), f"a list has one item per dimension: {name}[k]", len(name))
            elif name == "input" or not (isinstance(at, Ellipsis) or at == Variable("i")):
                report.add(source.locate(node), "an index tensor can be read only at [i] or at [...]", len(name))

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))
        yield Fact("kernels", "the index map, printed for each device, with one kernel per size of elements")
        yield Fact("cost", "number of bytes of the result")

    def dimensions(self, op: Op) -> DimensionRule:
        indices = [a.name for a in op.signature.tensor_arguments[1:]]
        cut = f"cut to the sizes of `{indices[0]}`" if self._follows_index else ""
        links = (
            Link("input", f"`{self.dims}`", Relation.INDEXED),
            Link("input", "all others", Relation.SAME, cut),
            *(Link(name, "every dimension", Relation.SAME) for name in indices),
        )
        return DimensionRule("gather_dimensions", links)

    @property
    def _follows_index(self) -> bool:
        """Returns whether there is an index for each element, so that the result has the shape of the index tensor."""
        nodes = self.source.root.walk()
        return any(isinstance(node, Subscript) and isinstance(node.position, Ellipsis) for node in nodes)

    def adjoint(self, op: Op, argument: Argument, operators: OperatorTable) -> SelectionAdjoint:
        if argument.name != "input":
            raise UnknownDerivative("positions have no gradient")
        return SelectionAdjoint(op.full_name, argument.name, op.position(argument.name))

    def shape_text(self, op: Op) -> str:
        along = f", with size `{self.sizes.text}` along `{self.dims}`" if self.sizes else ""
        return f"that of `input`{along}"

    def runtime_rule(self, op: Op) -> RuntimeRule:
        members: dict[str, Member] = {"dims_argument": op.position(self.dims)}
        for node in self.source.root.walk():
            if not (isinstance(node, Subscript) and isinstance(node.value, Variable)):
                continue
            argument = op.signature.argument(node.value.name)
            if argument is None:
                continue
            if argument.type.is_list:
                members["per_dim_argument"] = op.position(argument.name)
            else:
                members["index_argument"] = op.position(argument.name)
                if self._follows_index:
                    members["index_has_result_shape"] = True
        order = ("dims_argument", "index_argument", "index_has_result_shape", "per_dim_argument")
        ordered = {member: members[member] for member in order if member in members}
        programs = RulePrograms(Gives.SIZE, (self.sizes,), ("size",)) if self.sizes else None
        return RuntimeRule(
            "run_gather",
            ("ops/gather.h",),
            "GatherRule",
            ordered,
            run_by_parts="run_gather_by_parts",
            programs=programs,
        )

    def kernels(self, op: Op, dialect: type[KernelPrinter]) -> Iterator[Kernel]:
        yield kernels.gather(op, dialect, self.dims, self.source)
