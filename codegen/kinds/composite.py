"""`composite: "program"`, or a mapping with `match: attribute` and one program per value of the attribute.

A program calls other operators: see `codegen.program`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from codegen import base_types
from codegen.answers import Fact, Gives, Member, RulePrograms, RuntimeRule, Skeleton
from codegen.dims import DimensionRule, opaque
from codegen.dtypes import ResultRule
from codegen.errors import TextError
from codegen.expression import Variable
from codegen.kinds import branches
from codegen.kinds.programs import check_program, scope
from codegen.model import Complex, Functions, Op, OperatorCall, called_in, calls_in, writes
from codegen.program import Program
from codegen.reader import Field, Report
from codegen.resolve import Scope, resolve
from codegen.types import Signature, Type


@dataclass(frozen=True)
class Composite(branches.Branching[Program]):
    """Programs over other operators."""

    key = "composite"
    skeleton = Skeleton('  composite: ""\n')
    allocates = True
    has_body = True
    may_give_list = True
    may_write = True
    complex_forms = frozenset({Complex.SAME})

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Composite:
        if not field.is_mapping:
            return cls({None: field.program}, None)
        fields = field.fields
        found, match = branches.read(fields, signature, lambda each: each.program)
        fields.finish()
        return cls(found, match)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        check_programs(op, self, functions, report)
        if cycle := _cycle(op, op, functions, (op.full_name,)):
            report.add(op.location, f"a composite must not call itself: {' -> '.join(cycle)}")

    def resolved(self, op: Op, functions: Functions) -> Composite:
        return replace(
            self,
            branches={
                value: resolve(program, branch_scope(op, self.match, value, functions), _types(op))
                for value, program in self.branches.items()
            },
        )

    @property
    def called(self) -> tuple[Op, ...]:
        return tuple(op for program in self.branches.values() for op in called_in(program))

    @property
    def own_names(self) -> tuple[str, ...]:
        return tuple(name for program in self.branches.values() for name in program.assigned)

    def facts(self, op: Op) -> Iterator[Fact]:
        yield Fact("calls", ", ".join(sorted({each.name for each in self.called})))
        yield Fact("shape", self.shape_text(op))
        yield Fact("kernels", "those of the operators that it calls")
        yield Fact("cost", "the sum of the costs of these operators")

    def dimensions(self, op: Op) -> DimensionRule:
        if self.writes:
            return opaque(argument.name for argument in op.signature.tensor_arguments)
        links = (
            replace(link, operand=f"{called.name}({link.operand})")
            for called in self.called
            for link in called.kind.dimensions(called).links
        )
        return DimensionRule("composite_dimensions", tuple(links))

    def sharding(self, op: Op) -> Iterator[str]:
        yield "follows from that of the calls"

    def shape_text(self, op: Op) -> str:
        return "that of the result of the definition"

    def definitions(self) -> Iterator[tuple[str | None, str]]:
        for value, program in self.branches.items():
            for line in program.lines:
                yield value, line

    def runtime_rule(self, op: Op) -> RuntimeRule:
        members: dict[str, Member] = {"rounds": True} if self._rounds(op) else {}
        programs = RulePrograms(Gives.RESULTS, tuple(self.branches.values()), ("body",))
        headers = ("ops/composite.h", "ops/program_functions.h")
        return RuntimeRule("run_composite", headers, "CompositeRule", members, programs=programs)

    @property
    def writes(self) -> bool:
        """Returns whether a resolved program changes a tensor, so that its results do not tell what they depend on."""
        return any(writes(program) for program in self.branches.values())

    def _rounds(self, op: Op) -> bool:
        """Returns whether float16 and bfloat16 are computed in float32, so that they are rounded once.

        This holds for composites of several calls that compute numbers, that write to no argument, and whose results
        may be floating-point tensors of their own memory. Random numbers are drawn in the type of the result.
        """
        aliases = [each.alias for each in op.signature.arguments] + [each.alias for each in op.signature.results]
        is_fresh = not any(aliases)
        may_be_floating = op.dtype.results[0] not in (ResultRule.BOOL, ResultRule.INT64)
        return self.computing_calls > 1 and is_fresh and may_be_floating and not self._draws

    @property
    def _draws(self) -> bool:
        """Returns whether the results of a resolved program are random numbers as they are drawn."""
        values = [value for program in self.branches.values() for each in program.results for value in each]
        return all(isinstance(value, OperatorCall) and value.op.kind.is_random for value in values)

    @property
    def computing_calls(self) -> int:
        """Returns how many calls of a resolved program compute numbers."""
        return sum(call.op.kind.computes for program in self.branches.values() for call in calls_in(program))

    @property
    def computes(self) -> bool:  # type: ignore[override]
        return any(each.kind.computes for each in self.called)


def branch_scope(op: Op, match: str | None, value: str | None, functions: Functions) -> Scope:
    """Returns what a program may use: the arguments, of which the matched one is not null in the branch `given`."""
    found = scope(op, operators=functions)
    return found.without_null(match) if match and value == "given" else found


def check_programs(op: Op, kind: Composite, functions: Functions, report: Report) -> None:
    """Reports the first error in each program."""
    for value, program in kind.branches.items():
        if check_program(program, branch_scope(op, kind.match, value, functions), _types(op), report):
            _check_results(op, program, report)


def _types(op: Op) -> list[Type]:
    return [result.type for result in op.signature.results]


def _check_results(op: Op, program: Program, report: Report) -> None:
    """Reports results that are an argument itself, although the signature does not say that they share memory."""
    for values in program.results:
        for value, result in zip(values, op.signature.results, strict=False):
            if isinstance(value, Variable) and op.signature.argument(value.name) and result.alias is None:
                text = f"the result is the argument {value.name}: call an operator, or write Tensor(a) in the signature"
                report.add(program.locate(value.at), text, len(value.name))


def for_complex(op: Op, program: Program) -> tuple[Op, Composite]:
    """Returns the composite that computes an operator for complex operands, which are all tensors."""
    arguments = tuple(
        replace(a, type=replace(a.type, base=base_types.TENSOR)) if a.type.base is base_types.OPERAND else a
        for a in op.signature.arguments
    )
    kind = Composite({None: program}, None)
    return replace(op, signature=replace(op.signature, arguments=arguments), kind=kind), kind


def _cycle(start: Op, op: Op, functions: Functions, path: tuple[str, ...]) -> tuple[str, ...] | None:
    """Returns the records on a cycle of calls from `start` through `op`, or None; `path` leads from `start` to `op`."""
    for each in _called(op, functions):
        if each.full_name == start.full_name:
            return *path, each.full_name
        if each.full_name not in path and (found := _cycle(start, each, functions, (*path, each.full_name))):
            return found
    return None


def _called(op: Op, functions: Functions) -> list[Op]:
    try:
        return list(op.kind.resolved(op, functions).called)
    except TextError:  # check_programs() reports it
        return []
