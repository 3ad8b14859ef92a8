"""The tests of single nodes of the `onnx` package, by its own expected outputs.

Inputs that decide on shapes, axes or branches are given as `values`: a graph has no place for numbers that are known
only when it runs.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

import oneflow_py as flow
from tests.onnx_files import model, node, value
from tests.vectors.onnx_nodes import RANDOM, Case, cases, not_loaded

TOLERANCES = {"float16": (2e-3, 1e-3), "bfloat16": (2e-2, 8e-3)}


def sampled() -> list[Case]:
    """Returns all cases, or every fourth if ONEFLOW_VECTORS does not ask for all."""
    step = 1 if os.environ.get("ONEFLOW_VECTORS") == "all" else 4
    return list(cases())[::step]


def tensor(array: Any) -> flow.Tensor:
    if array.dtype.name == "bfloat16":
        return flow.tensor(array.astype(np.float32)).to(flow.bfloat16)
    return flow.tensor(array)


def load(path: str, case: Case) -> tuple[flow.graph.Graph, set[str]]:
    """Loads a model, with those inputs as values whose elements it reads, and returns their names."""
    names = [each.name for each in case.model.graph.input]
    given = dict(zip(names, case.inputs, strict=True))
    values: dict[str, flow.Tensor] = {}
    while True:
        try:
            return flow.onnx.load(path, values=values), set(values)
        except flow.Unsupported as error:
            read = re.search("reads the elements of '([^']*)'", str(error))
            if not read or len(values) == len(given):
                raise
            # What follows from inputs by operators is known once these are.
            wanted = [read[1]] if read[1] in given and read[1] not in values else list(given)
            values |= {name: tensor(given[name]) for name in wanted}


def check(name: str, found: flow.Tensor, expected: Any) -> None:
    dtype = expected.dtype.name
    assert (str(found.dtype).rpartition(".")[2], found.shape) == (dtype, expected.shape), name
    if RANDOM.search(name):
        return
    if dtype == "bfloat16":
        found, expected = found.to(flow.float32), expected.astype(np.float32)
    relative, absolute = TOLERANCES.get(dtype, (1e-3, 4e-7))
    np.testing.assert_allclose(found.numpy(), expected, rtol=relative, atol=absolute, err_msg=name)


def test_nodes(tmp_path: Any) -> None:
    path = str(tmp_path / "model.onnx")
    passed = 0
    for case in sampled():
        onnx.save(case.model, path)
        if not_loaded(case.name):
            with pytest.raises(flow.Unsupported):
                load(path, case)
            continue
        graph, known = load(path, case)
        inputs = {each.name: array for each, array in zip(case.model.graph.input, case.inputs, strict=True)}
        results = graph(*[tensor(inputs[each.name]) for each in graph.inputs])
        outputs = list(results.values()) if isinstance(results, dict) else [results]
        assert known.isdisjoint(each.name for each in graph.inputs)
        for found, expected in zip(outputs, case.outputs, strict=True):
            check(case.name, found, expected)
        passed += 1
    assert passed > 300


@pytest.mark.parametrize("aligns", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_cubic_samples_beyond_the_border(padding: str, aligns: bool, tmp_path: Path) -> None:
    """Coordinates beyond the border were limited, instead of the places that the curve reads there."""
    generator = torch.Generator().manual_seed(1)
    image, grid = torch.randn(1, 2, 4, 5, generator=generator), torch.rand(1, 6, 7, 2, generator=generator) * 3 - 1.5
    options = {"mode": "cubic", "padding_mode": padding, "align_corners": int(aligns)}
    inputs = [value("x", list(image.shape)), value("grid", list(grid.shape))]
    made = model([node("GridSample", ["x", "grid"], ["y"], **options)], inputs, ["y"], opset=20)
    onnx.save(made, tmp_path / "model.onnx")
    found = flow.onnx.load(tmp_path / "model.onnx")(flow.tensor(image.numpy()), flow.tensor(grid.numpy()))
    expected = torch.nn.functional.grid_sample(image, grid, mode="bicubic", padding_mode=padding, align_corners=aligns)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)
