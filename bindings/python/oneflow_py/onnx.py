"""ONNX models as graphs, and graphs as ONNX models.

g = flow.onnx.load("model.onnx", sizes={"batch": 1})
probabilities = g(pixels)
g.save("model.flow")
flow.onnx.save(g, "copy.onnx")
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

from oneflow_py import _native as native
from oneflow_py._native import Tensor, TypeMismatch
from oneflow_py.graph import Graph
from oneflow_py.nested import encoded_path, encoded_text, type_name

_LARGEST = 2**63 - 1


def load(
    path: str | bytes | os.PathLike[Any],
    *,
    sizes: Mapping[str, int | range | str] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Graph:
    """Loads an ONNX model as a graph, with the names of its inputs; several outputs are a dictionary by their names.

        sizes: what is known of sizes that the model leaves open, by their names: a number, a range, or the name of
            another size that is equal. A size without a name in the model is called by its input and dimension: "x_0".
            Others may have any value; where the model works only for multiples of a number, `Graph.sizes` says so, and
            where it works only for one that is found by trying, a warning and `Graph.note`
        values: inputs of the model that become constants, as tensors, arrays or numbers: those whose elements decide
            on shapes or branches

    Raises FileError if a file cannot be read, InvalidArgument if it is malformed, and Unsupported, with the nodes, for
    operators that are not there, and for what depends on elements that are known only when the graph runs.
    """
    for argument, items in (("sizes", sizes), ("values", values)):
        if items is not None and not isinstance(items, Mapping):
            raise TypeMismatch(f"load: {argument} must be dict or None, got {type_name(items)}")
    given = [(encoded_text("load", "a size", name), name, size) for name, size in (sizes or {}).items()]
    equal = [(name, encoded_text("load", "a size", size)) for name, _, size in given if isinstance(size, str)]
    ranges = [(name, *_bounds(shown, size)) for name, shown, size in given if not isinstance(size, str)]
    tensors = [
        (encoded_text("load", "an input", name), value if isinstance(value, Tensor) else native.tensor(value))
        for name, value in (values or {}).items()
    ]
    graph = Graph(native._load_onnx(encoded_path("load", path), ranges, equal, tensors))
    if graph.note:
        warnings.warn(f"load: {graph.note}", stacklevel=2)
    return graph


def save(
    graph: Graph,
    path: str | bytes | os.PathLike[Any],
    *,
    opset: int = 17,
    external_bytes: int | None = None,
) -> None:
    """Saves a graph as an ONNX model, with the names of its inputs, outputs, constants and sizes.

        opset: the version of ONNX's operators, between 11 and 22
        external_bytes: constants of at least this many bytes go to a file beside the model, with its name and ".data";
            by default only if the model is too large for one file

    The file appears complete or not at all. Raises Unsupported for calls that ONNX cannot express in the opset, with
    all of them, and FileError. Random operators draw other numbers than ours.
    """
    if not isinstance(graph, Graph):
        raise TypeMismatch(f"save: graph must be Graph, got {type_name(graph)}")
    for name, value, least in (("opset", opset, 0), ("external_bytes", external_bytes, 1)):
        if value is None and name != "opset":
            continue
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _LARGEST:
            raise TypeMismatch(f"save: {name} must be an int of at least {least}, got {value!a}")
    native._save_onnx(graph._handle, encoded_path("save", path), opset, external_bytes or 0)


def _bounds(name: str, size: Any) -> tuple[int, int, int]:
    """Returns the minimum, the maximum and the step of a size."""
    if isinstance(size, int) and not isinstance(size, bool) and 0 < size <= _LARGEST:
        return size, size, 1
    if not isinstance(size, range) or size.step < 1 or not size:
        wanted = "a positive int, a range that is not empty, or the name of a size"
        raise TypeMismatch(f"load: sizes[{name!a}] must be {wanted}, got {size!a}")
    return size[0], min(size[-1], _LARGEST), size.step
