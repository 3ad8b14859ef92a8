"""`contraction: "ij,jk->ik"`, or the name of the argument that holds the equation, or of a rule of the runtime.

The mapping `{equation:, plus:}` also names an argument that is added to the result. `{equation:, search:, path:,
limit:}` names the arguments that determine the order in which several operands are multiplied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from codegen import base_types
from codegen.answers import Fact, Member, RuntimeRule, Skeleton
from codegen.as_program import OperatorTable
from codegen.dims import BROADCAST, DimensionRule, Link, Relation, broadcast
from codegen.dtypes import DTypeSet
from codegen.errors import counted, unknown
from codegen.kinds.adjoints import ContractionAdjoint
from codegen.kinds.checks import argument_named, check_results
from codegen.kinds.programs import derived
from codegen.model import Functions, Kind, Op
from codegen.program import Program
from codegen.reader import Field, Report
from codegen.types import Argument, Signature, Type

_EQUATION = re.compile(r"[A-Za-z]*(,[A-Za-z]*)*->[A-Za-z]*")


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
    "chain": ContractionRule(
        "the rows of the first operand, and the columns of the last one",
        {"tensors": "those between two operands"},
    ),
}


# The keys next to `equation`, with the types of the argument that each of them can name.
_PARTS = {
    "plus": (Type(base_types.TENSOR, optional=True),),
    "search": (Type(base_types.STR, optional=True), Type(base_types.BOOL)),
    "path": (Type(base_types.PAIR, is_list=True),),
    "limit": (Type(base_types.INT, optional=True),),
}


def _argument_of(signature: Signature | None, types: tuple[Type, ...], field: Field) -> str:
    required = [replace(type_, optional=False) for type_ in types]
    names = " or ".join(f"a {type_}" for type_ in required)
    return argument_named(field, signature, lambda a: a.type in (*types, *required), names)


@dataclass(frozen=True)
class Contraction(Kind):
    """A sum of products of the tensor arguments.

    `equation` is an einsum equation, the name of the argument that holds one, or the name of a rule that writes one.
    `plus` names a tensor argument that is not an operand of the equation, but is added to the result. `search`, `path`
    and `limit` name the arguments that select a search for the order of the products, that give this order, and that
    limit the number of elements of intermediate results.
    """

    key = "contraction"
    skeleton = Skeleton(
        '  contraction: "ij,jk->ik"\n',
        arguments="Tensor input, Tensor other",
        dtype="{accepts: any, result: promote}",
        example="[[1.0, 2.0]], [[1.0], [2.0]]",
        mistake="'a', [[1.0]]",
    )
    allocates = True
    has_device_function = True

    equation: str
    plus: str | None = None
    search: str | None = None
    path: str | None = None
    limit: str | None = None

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Contraction:
        if field.is_scalar:
            return cls(_equation(field, signature, None))
        fields = field.fields
        parts = {
            name: fields.optional(name, partial(_argument_of, signature, types), None) for name, types in _PARTS.items()
        }
        equation = _equation(fields.need("equation"), signature, parts["plus"])
        fields.finish()
        return cls(equation, **parts)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        """Reports a signature that does not suit a contraction; `read` has checked the equation."""
        check_results(op, report)
        operands = [argument for argument in op.signature.tensor_arguments if argument.name != self.plus]
        if not operands:
            report.add(op.signature_location, "a contraction must have tensor arguments")
        for argument in operands:
            if argument.type.base is base_types.OPERAND or argument.type.optional or argument.type.optional_members:
                text = f"an operand of a contraction must be Tensor or Tensor[], not {argument.type}"
                report.add(op.locate(argument), text)

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("shape", self.shape_text(op))
        if self.search:
            chosen = " and ".join(filter(None, (self.search, self.limit)))
            yield Fact("order", f"of products of more than two operands: exact or greedy search, according to {chosen}")
        if self.path:
            yield Fact("order", f"of products of more than two operands: {self.path}")
        if self.plus:
            yield Fact("adds", f"{self.plus}, before the result is rounded")
        yield Fact("kernels", "the device's `contract` function, called for one product of two operands at a time")
        yield Fact("cost", "2 x the product of the sizes of all labels")

    def dimensions(self, op: Op) -> DimensionRule:
        return DimensionRule("contraction_dimensions", self._links(op))

    def _links(self, op: Op) -> tuple[Link, ...]:
        operands = [argument for argument in op.signature.tensor_arguments if argument.name != self.plus]
        added = broadcast([self.plus]).links if self.plus else ()
        if self.equation in CONTRACTIONS:
            return (*(link for a in operands for link in CONTRACTIONS[self.equation].links(a.name)), *added)
        terms, arrow, output = self.equation.partition("->")
        if not arrow:
            kept = Link("", "labels of the result", Relation.SAME, BROADCAST)
            return (kept, Link("", "all other labels", Relation.CONTRACTED), *added)
        return (
            *(link for a, term in zip(operands, terms.split(","), strict=True) for link in _links(a, term, output)),
            *added,
        )

    def shape_text(self, op: Op) -> str:
        rule = CONTRACTIONS.get(self.equation)
        return rule.shape if rule else _label_sizes(self.equation)

    def runtime_rule(self, op: Op) -> RuntimeRule:
        members: dict[str, Member] = {"equation": self.equation}
        named = {"addend": self.plus, "search": self.search, "path": self.path, "limit": self.limit}
        members |= {member: op.position(name) for member, name in named.items() if name}
        return RuntimeRule(
            "run_contraction",
            ("einsum/contraction.h",),
            "ContractionRule",
            members,
            operations="count_operations",
        )

    def takes_complex(self, op: Op) -> bool:
        return op.dtype.accepts.get("") is DTypeSet.ANY

    def adjoint(
        self, op: Op, argument: Argument, operators: OperatorTable
    ) -> Mapping[str | None, Program] | ContractionAdjoint:
        if argument.name == self.plus:
            return {None: derived(op.signature.gradient_names[0], op)}
        position = op.position(argument.name)
        return ContractionAdjoint(op.full_name, argument.name, position, argument.type.is_list)

    def equation_argument(self, op: Op) -> Argument | None:
        return op.signature.argument(self.equation)

    def definitions(self) -> Iterator[tuple[str | None, str]]:
        if "->" in self.equation:
            yield None, self.equation


def _equation(field: Field, signature: Signature | None, plus: str | None) -> str:
    text = field.words
    if "->" in text or "," in text:
        _check_equation(field, text, signature, plus)
    elif signature and (argument := signature.argument(text)):
        if argument.type.base is not base_types.STR:
            raise field.bad(f"argument '{text}' must be a str, it is {argument.type}")
    elif not re.fullmatch(r"[a-z][a-z0-9_]*", text):
        raise field.bad(f"'{text}' is not an equation, an argument or a rule")
    elif text not in CONTRACTIONS:
        raise field.bad(unknown("rule", text, CONTRACTIONS))
    return text


def _check_equation(field: Field, text: str, signature: Signature | None, plus: str | None) -> None:
    if not _EQUATION.fullmatch(text):
        raise field.bad(f"'{text}' is not an equation like 'ij,jk->ik'")
    inputs, _, output = text.partition("->")
    if extra := sorted(set(output) - set(inputs)):
        raise field.bad(f"label '{extra[0]}' of the result does not appear in any operand")
    if len(set(output)) != len(output):
        raise field.bad("a label appears twice in the result")
    terms = len(inputs.split(","))
    operands = len([a for a in signature.tensor_arguments if a.name != plus]) if signature else terms
    if terms != operands:
        raise field.bad(f"the equation has {counted(terms, 'operand')}, the signature has {operands}")


def _links(argument: Argument, term: str, output: str) -> Iterator[Link]:
    for label in dict.fromkeys(term):
        yield Link(argument.name, f"`{label}`", Relation.SAME if label in output else Relation.CONTRACTED)


def _label_sizes(equation: str) -> str:
    """Returns the shape of the result of an equation, or of the equation in the argument `equation`, in words."""
    _, arrow, output = equation.partition("->")
    if not arrow:
        return f"the sizes of the labels of the result in `{equation}`"
    return f"the sizes of the labels `{output}` in `{equation}`" if output else "`[]`, a 0-d tensor"
