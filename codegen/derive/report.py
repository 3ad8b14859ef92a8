"""The report on the gradients of all records: how each one is known, or why a record has none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum

from codegen.definitions import Definitions
from codegen.derive.gradients import differentiable, has_smooth_result, saved_names
from codegen.errors import counted
from codegen.model import Op, StatedGradient


class How(Enum):
    """How the gradient of a record is known, or why it has none."""

    DERIVED = "derived"
    STATED = "stated by the record"
    BODY = "that of the operators that it calls"
    UNKNOWN = "not known"
    NO_TENSORS = "none: no tensor argument"
    NO_SMOOTH_RESULT = "none: integer or boolean results"
    NO_SMOOTH_ARGUMENT = "none: integer or boolean arguments"
    DETACHED = "none: the record says so"


def how(op: Op, definitions: Definitions) -> How:
    """Returns how the gradient of a record is known."""
    found = definitions.gradients[op.full_name]
    if not op.signature.tensor_arguments:
        return How.NO_TENSORS
    if not has_smooth_result(op):
        return How.NO_SMOOTH_RESULT
    if op.is_detached:
        return How.DETACHED
    if not list(differentiable(op)):
        return How.NO_SMOOTH_ARGUMENT
    if op.kind.has_body and not op.gradient:
        return How.BODY
    if found.missing:
        return How.UNKNOWN
    return How.STATED if any(isinstance(each, StatedGradient) for each in op.gradient.values()) else How.DERIVED


def report(definitions: Definitions) -> Iterator[str]:
    """Yields a line for each record, with what a call keeps, and how many records there are of each sort."""
    found = {op.full_name: how(op, definitions) for op in definitions.ops}
    width = max(map(len, found))
    for op in definitions.ops:
        kernels = definitions.gradients[op.full_name].fused
        saved = ", ".join(saved_names(op, definitions))
        details = [f"keeps {saved}"] * bool(saved) + [counted(len(kernels), "fused kernel")] * bool(kernels)
        yield f"{op.full_name:{width}}  {'; '.join([found[op.full_name].value, *details])}"
    yield ""
    for kind, count in Counter(found.values()).most_common():
        yield f"{count:4} {kind.value}"
