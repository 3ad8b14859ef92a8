"""Captures a call of every operator with the conformance vectors' arguments: the graph, also after it was written to a
text and read again, gives the bytes that the call gives."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

import oneflow_py as flow
from tests.python import test_conformance as conformance
from tests.python.support import raw

PER_OPERATOR = 12

# The operators that read elements while they compute shapes or check arguments, which no graph can do.
READS = {
    "argwhere", "bincount", "combinations", "groups_of_equals", "masked_scatter", "masked_select", "nonzero",
    "one_hot", "repeat_interleave", "tril_indices", "triu_indices", "unique", "unique_consecutive",
}  # fmt: skip


def tensors_in(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments that consist of tensors."""
    return {
        name: value
        for name, value in arguments.items()
        if isinstance(value, flow.Tensor) or (isinstance(value, list) and value and all(map(is_tensor, value)))
    }


def is_tensor(value: Any) -> bool:
    return isinstance(value, flow.Tensor)


def mirrored(value: Any) -> Any:
    """Returns contiguous tensors with the elements in another order."""
    return [mirrored(item) for item in value] if isinstance(value, list) else value.flip(list(range(value.ndim)))


def run(function: str, form: str, given: dict[str, Any]) -> list[flow.Tensor]:
    """Calls an operator and returns its results."""
    arguments = dict(given)
    owner: Any = flow
    if form in ("method", "in_place"):
        owner = arguments.pop("input")
    target = owner
    for part in f"{function}{'_' * (form == 'in_place')}".split("."):
        target = getattr(target, part)
    results = target if isinstance(target, flow.Tensor) else target(**arguments)
    return list(results) if isinstance(results, (tuple, list)) else [results]


@pytest.mark.parametrize("path", conformance.FILES, ids=lambda path: path.stem)
def test_graphs(path: Path, tmp_path: Path) -> None:
    vectors = json.loads(path.read_text())
    function = vectors["function"]
    cases = [case for case in vectors["cases"] if conformance.is_replayed(case) and case["form"] != "out"]
    for case in cases[:: max(1, len(cases) // PER_OPERATOR)]:
        arguments = {name: conformance.value(spec, "cpu") for name, spec in case["arguments"].items()}
        form = case["form"]
        if form == "in_place" and "tensors" in arguments:
            continue
        tensors = tensors_in(arguments)
        fixed = {name: value for name, value in arguments.items() if name not in tensors}
        names = list(tensors)

        def call(*values: Any, names: list[str] = names, fixed: dict[str, Any] = fixed, form: str = form) -> Any:
            return run(function, form, {**fixed, **dict(zip(names, values, strict=True))})

        try:
            graph = flow.graph.capture(call, tuple(tensors.values()))
        except flow.Unsupported:
            assert function in READS, case["name"]
            continue
        graph.save(tmp_path / "a.flow")
        loaded = flow.graph.load(tmp_path / "a.flow")
        assert str(loaded) == str(graph)
        # The first run is traced, with other elements if they are valid, and the others repeat its work.
        with contextlib.suppress(flow.Error):
            graph(*(mirrored(value) for value in tensors.values()))
        for each in (graph, loaded, loaded):
            flow.manual_seed(7)
            found = each(*tensors.values())
            flow.manual_seed(7)
            fresh = {name: conformance.value(case["arguments"][name], "cpu") for name in names}
            expected = run(function, form, {**fixed, **fresh})
            assert [(one.dtype, one.shape) for one in found] == [(one.dtype, one.shape) for one in expected], case[
                "name"
            ]
            assert [raw(one) for one in found] == [raw(one) for one in expected], case["name"]
