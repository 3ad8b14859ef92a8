"""Definitions -> Definitions: only the operators that given ones need, for a library that runs nothing else.

An operator needs those that it calls: in its program, by names that its record gives, and in the sources of its kind in
the runtime. Gradients are left out, unless they are needed themselves, and so are the rules that rewrite graphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from codegen.definitions import Definitions, Gradients
from codegen.errors import TargetError, unknown
from codegen.model import Op
from codegen.runtime_calls import RuntimeSources
from codegen.targets.runtime.families import OperatorSource

# What every program that runs a graph calls: sessions, tensors, operators by name.
SESSIONS = ("capi/graphs.cpp", "capi/operators.cpp", "capi/tensors.cpp")


def restrict(definitions: Definitions, names: Iterable[str], root: Path) -> Definitions:
    """Returns the definitions of the operators with these full names, and of what they need.

    `root` is the repository with the sources of the runtime. Raises TargetError for a name without an operator.
    """
    gradients = {op.full_name: op for each in definitions.gradients.values() for op in each.operators}
    known = {**definitions.by_name, **gradients}
    # A graph of an earlier version may call operators by former names.
    former = {each.full_name: known[name] for name, formers in definitions.formers.items() for each in formers}
    known = {**former, **known}
    sources = RuntimeSources(Path(f"{root}/runtime"))
    needed: dict[str, Op] = {}
    left = sorted({*names, *sources.called(SESSIONS)})
    while left:
        name = left.pop()
        if name not in known:
            raise TargetError(unknown("operator", name, known))
        op = known[name]
        if op.full_name not in needed:
            needed[op.full_name] = op
            left += _needs(op, definitions, sources)
    kept = {name: _kept(each, needed) for name, each in definitions.gradients.items()}
    ops = tuple(op for op in definitions.ops if op.full_name in needed or kept[op.full_name].ops)
    return replace(definitions, ops=ops, gradients={op.full_name: kept[op.full_name] for op in ops}, rules=())


def _needs(op: Op, definitions: Definitions, sources: RuntimeSources) -> Iterator[str]:
    """Yields the full names of the operators that an operator calls."""
    yield from (each.full_name for each in OperatorSource(op, definitions).called)
    yield from op.kind.called_by_name
    yield from sources.called(op.kind.runtime_rule(op).headers)


def _kept(gradients: Gradients, needed: Iterable[str]) -> Gradients:
    """Returns those gradients of a record that are needed."""
    return Gradients({argument: op for argument, op in gradients.ops.items() if op.full_name in needed}, {})
