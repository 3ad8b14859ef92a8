"""Finds the files of packages with models, without importing them, and runs models with ONNX Runtime."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import oneflow_py as flow

ROOT = Path(__file__).parents[2]
onnxruntime.set_default_logger_severity(3)


def package_folder(name: str) -> Path:
    """Returns the folder of a package of requirements/models.txt. Skips the tests of a module if it is missing."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"the package {name} of requirements/models.txt is not installed", allow_module_level=True)
    return Path(spec.submodule_search_locations[0])


def agrees_with_runtime(graph: flow.Graph, path: Path, feeds: dict[str, Any], tolerance: float = 1e-4) -> None:
    """Asserts that a graph gives what ONNX Runtime does. Inputs that the graph has as constants are left out."""
    session = onnxruntime.InferenceSession(path)
    names = [each.name for each in session.get_outputs()]
    expected = session.run(None, feeds)
    found = graph(**{each.name: flow.from_numpy(feeds[each.name]) for each in graph.inputs})
    results = found if isinstance(found, dict) else {names[0]: found}
    for name, array in zip(names, expected, strict=True):
        np.testing.assert_allclose(results[name].numpy(), array, rtol=0, atol=tolerance)
