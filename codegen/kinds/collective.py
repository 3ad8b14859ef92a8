"""`collective: {pattern: name, match: attribute, merges: {value: {by: operator, then: operator, accepts: dtype set}}}`.

The operator moves tensors between the devices of several ranks, one tensor per rank. `pattern` names the communication
pattern. A pattern that merges tensors requires `match` and `merges`: for each value of the attribute, `by` combines two
tensors, in the order of the ranks, and `then` is applied to the combined tensor and the number of ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from codegen import base_types
from codegen.answers import Enumerator, Fact, Rows, RuntimeRule, Skeleton
from codegen.dims import DimensionRule, kept
from codegen.dtypes import DTypeSet
from codegen.errors import unknown
from codegen.kinds.checks import argument_named, check_fresh
from codegen.model import Functions, Kind, Op
from codegen.reader import Bad, Field, Report
from codegen.signature import NAME
from codegen.types import Argument, Signature, Type

_ONE, _LIST = Type(base_types.TENSOR), Type(base_types.TENSOR, is_list=True)


@dataclass(frozen=True)
class Pattern:
    """A function of the runtime: its argument, its result and the cost."""

    function: str
    takes: Type
    gives: Type
    shape: str  # of the result
    bytes: str  # transferred between devices or processes, for n ranks with tensors of `size` bytes
    merges: bool = False
    keeps_shapes: bool = False  # whether result i has the shape of tensor i
    is_transfer: bool = False  # whether it is one side of a transfer between two ranks

    @property
    def between_processes(self) -> bool:
        """Returns whether each rank is a process, which passes one tensor, rather than a device of this process."""
        return self.takes == self.gives == _ONE

    @property
    def header(self) -> str:
        """Returns the header that declares the function."""
        return f"parallel/{'processes' if self.between_processes else 'local'}/patterns.h"


PATTERNS: Mapping[str, Pattern] = {
    "local.broadcast": Pattern(
        "collective::broadcast", _ONE, _LIST, "that of `input`, for each device", "size x (n - 1)"
    ),
    "local.scatter": Pattern(
        "collective::scatter", _ONE, _LIST, "that of `input`, with the size of `dim` divided among the devices", "size"
    ),
    "local.gather": Pattern(
        "collective::gather",
        _LIST,
        _ONE,
        "that of the tensors, with the sum of their sizes along `dim`",
        "size x (n - 1)",
    ),
    "local.all_gather": Pattern(
        "collective::all_gather",
        _LIST,
        _LIST,
        "that of the tensors, with the sum of their sizes along `dim`, for each rank",
        "size x n x (n - 1)",
    ),
    "local.reduce": Pattern(
        "collective::reduce", _LIST, _ONE, "the common shape of the tensors", "size x (n - 1)", True
    ),
    "local.all_reduce": Pattern(
        "collective::all_reduce",
        _LIST,
        _LIST,
        "the common shape of the tensors, for each rank",
        "2 x size x (n - 1)",
        True,
        True,
    ),
    "local.reduce_scatter": Pattern(
        "collective::reduce_scatter",
        _LIST,
        _LIST,
        "that of the tensors, with the size of `dim` divided among the ranks",
        "size x (n - 1)",
        True,
    ),
    "local.all_to_all": Pattern(
        "collective::all_to_all",
        _LIST,
        _LIST,
        "that of the tensors, split along `split_dim` and concatenated along `concat_dim`",
        "size x (n - 1)",
    ),
    "all_reduce": Pattern(
        "processes::all_reduce", _ONE, _ONE, "that of `input`", "2 x size x (n - 1) / n for each rank", True
    ),
    "all_gather": Pattern(
        "processes::all_gather",
        _ONE,
        _ONE,
        "that of `input`, with the sum of the sizes of all ranks along `dim`",
        "size x (n - 1) for each rank",
    ),
    "reduce_scatter": Pattern(
        "processes::reduce_scatter",
        _ONE,
        _ONE,
        "that of `input`, with the size of `dim` divided among the ranks",
        "size x (n - 1) / n for each rank",
        True,
    ),
    "all_to_all": Pattern(
        "processes::all_to_all",
        _ONE,
        _ONE,
        "that of `input`, split along `split_dim` and concatenated along `concat_dim`",
        "size x (n - 1) / n for each rank",
    ),
    "broadcast": Pattern("processes::broadcast", _ONE, _ONE, "that of `input`", "size x (n - 1)"),
    "reduce": Pattern("processes::reduce", _ONE, _ONE, "that of `input`", "size x (n - 1)", True),
    "gather": Pattern(
        "processes::gather",
        _ONE,
        _ONE,
        "that of `input`, with the sum of the sizes of all ranks along `dim` on `root`, with 0 on the others",
        "size x (n - 1)",
    ),
    "scatter": Pattern(
        "processes::scatter",
        _ONE,
        _ONE,
        "that of `input` on `root`, with the size of `dim` divided among the ranks",
        "size x (n - 1) / n",
    ),
    "send": Pattern("processes::send", _ONE, _ONE, "that of `input`", "size", is_transfer=True),
    "recv": Pattern("processes::receive", _ONE, _ONE, "that of `like`", "size", is_transfer=True),
}


@dataclass(frozen=True)
class Merge:
    """How the tensors of several ranks are merged into one.

    `by` is the operator that combines two of them. `then`, if given, is applied to the combined tensor and the number
    of ranks. `accepts` restricts the types of the tensors.
    """

    by: str
    then: str | None = None
    accepts: DTypeSet = DTypeSet.ANY


@dataclass(frozen=True)
class Collective(Kind):
    """A communication pattern (a name in PATTERNS) over the tensors of several ranks.

    Patterns that merge tensors have one `Merge` per value of the attribute that `match` names.
    """

    key = "collective"
    skeleton = Skeleton(
        '  collective: {pattern: ""}\n',
        arguments="Tensor[] tensors",
        result="Tensor[]",
        example="[tensor([1.0]), tensor([2.0])]",
        says="tensors must be {Tensor[]}, got {str}",
    )
    in_libraries = False
    may_give_list = True
    follows_device = True

    pattern: str
    keeps_shapes: bool = False  # whether result i has the shape of tensor i, so that there is an in-place form
    match: str | None = None
    merges: Mapping[str, Merge] = field(default_factory=dict)

    @classmethod
    def read(cls, field: Field, signature: Signature | None) -> Collective:
        fields = field.fields
        name = fields.need("pattern")
        pattern = PATTERNS.get(name.words)
        if pattern is None:
            raise name.bad(unknown("pattern", name.words, PATTERNS))
        match: str | None = None
        merges: dict[str, Merge] = {}
        if pattern.merges:
            match = argument_named(fields.need("match"), signature, _is_text, "a str")
            merges = _merges(fields.need("merges"))
            argument = signature.argument(match) if signature else None
            if argument and isinstance(argument.default, str) and argument.default not in merges:
                raise Bad(field.location, f"no merge for '{argument.default}', the default of {match}")
        fields.finish()
        return cls(name.words, pattern.keeps_shapes, match, merges)

    def check(self, op: Op, functions: Functions, report: Report) -> None:
        check_fresh(op, report)
        pattern = PATTERNS[self.pattern]
        tensors = op.signature.tensor_arguments
        if len(tensors) != 1 or op.signature.arguments[0] is not tensors[0] or tensors[0].type != pattern.takes:
            report.add(op.signature_location, f"the first argument of {self.pattern} must be its only {pattern.takes}")
        results = op.signature.results
        if len(results) != 1 or results[0].type != pattern.gives:
            report.add(op.locate(results[0]), f"the result of {self.pattern} must be one {pattern.gives}")
        for value, merge in self.merges.items():
            for name in filter(None, (merge.by, merge.then)):
                if name not in functions:
                    report.add(op.location, f"merge '{value}': {unknown('operator', name, functions)}")

    def takes_complex(self, op: Op) -> bool:
        return True

    @property
    def can_start(self) -> bool:
        return PATTERNS[self.pattern].between_processes

    @property
    def lists_in(self) -> str | None:
        return "comm.local" if PATTERNS[self.pattern].between_processes else None

    @property
    def needs_others(self) -> bool:
        return PATTERNS[self.pattern].is_transfer

    @property
    def matched(self) -> str | None:
        return self.match

    @property
    def matched_values(self) -> tuple[str, ...]:
        return tuple(self.merges)

    @property
    def called_by_name(self) -> tuple[str, ...]:
        return tuple(name for merge in self.merges.values() for name in (merge.by, merge.then) if name)

    def facts(self, op: Op) -> Iterator[Fact]:
        pattern = PATTERNS[self.pattern]
        yield Fact("pattern", self.pattern)
        for value, merge in self.merges.items():
            then = f", then {merge.then} with the number of ranks" if merge.then else ""
            only = f"; only {merge.accepts.value} types" if merge.accepts is not DTypeSet.ANY else ""
            yield Fact(f"{self.match} {value}", f"{merge.by} in the order of the ranks{then}{only}")
        yield Fact("shape", self.shape_text(op))
        merging = ", and the operators that merge tensors" * pattern.merges
        places = "processes" if pattern.between_processes else "devices"
        yield Fact("kernels", f"none of its own: copies between {places}{merging}")
        yield Fact("cost", f"{pattern.bytes} bytes between {places}")

    def dimensions(self, op: Op) -> DimensionRule:
        moved = [a.name for a in op.signature.arguments if a.type.base is base_types.DIM]
        return kept([""], moved, "divided among the ranks or joined")

    def shape_text(self, op: Op) -> str:
        return PATTERNS[self.pattern].shape

    def runtime_rule(self, op: Op) -> RuntimeRule:
        merges = Rows(
            "Merge",
            tuple(
                (merge.by, merge.then, Enumerator(f"DTypeSet::k{merge.accepts.value.capitalize()}"))
                for merge in self.merges.values()
            ),
        )
        pattern = PATTERNS[self.pattern]
        return RuntimeRule(
            pattern.function,
            (pattern.header,),
            "CollectiveRule",
            {"merges": merges} if merges.rows else {},
            schema={"between_processes": True} if pattern.between_processes else {"spans_devices": True},
        )

    def replaced(self, op: Op) -> Argument | None:
        return op.signature.tensor_arguments[0] if self.keeps_shapes else None


def _is_text(argument: Argument) -> bool:
    return argument.type.base is base_types.STR and not argument.type.is_list


def _merges(field: Field) -> dict[str, Merge]:
    merges = {}
    for value, each in field.fields.values.items():
        fields = each.fields
        by = fields.need("by").name(NAME, "the name of an operator")
        then = fields.optional("then", lambda f: f.name(NAME, "the name of an operator"), None)
        accepts = fields.optional("accepts", lambda f: f.choice(DTypeSet, "dtype set"), DTypeSet.ANY)
        fields.finish()
        merges[value] = Merge(by, then, accepts)
    if not merges:
        raise field.bad("expected a merge, got nothing")
    return merges
