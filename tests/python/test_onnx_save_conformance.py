"""Saves a call of every operator with the conformance vectors' arguments as an ONNX model: ONNX Runtime computes what
our graph computes, for the types that it has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import oneflow_py as flow
from tests.python import test_conformance as conformance
from tests.python.test_graph_conformance import READS, run, tensors_in

PER_OPERATOR = 4
OPSET = 21

# Operators that ONNX cannot express, with the reason.
COMPLEX = "ONNX computes with no complex numbers"
FUNCTION = "ONNX has no such function"
COLLECTIVE = "ONNX knows one device"
LABEL = "labels that are no letters from a to z"
VIEW = "it writes to a view of a tensor that is used later"
UNSUPPORTED = {
    "complex": COMPLEX, "imag": COMPLEX, "isreal": COMPLEX, "polar": COMPLEX, "real": COMPLEX,
    "view_as_complex": COMPLEX, "view_as_real": COMPLEX,
    "digamma": FUNCTION, "erfinv": FUNCTION, "gcd": FUNCTION, "i0": FUNCTION, "lcm": FUNCTION, "lgamma": FUNCTION,
    "polygamma": FUNCTION, "special.i1": FUNCTION, "special.zeta": FUNCTION, "cummax": FUNCTION, "cummin": FUNCTION,
    "cumprod": FUNCTION, "cumprod_slope": FUNCTION, "exclusive_cumprod": FUNCTION, "product_of_others": FUNCTION,
    "logcumsumexp": FUNCTION, "as_strided": FUNCTION,
    "einsum": LABEL, "mode": FUNCTION, "add_windows": VIEW, "nn.functional.fold": VIEW, "select_scatter": VIEW,
    "slice_scatter": VIEW, "diagonal_scatter": VIEW,
}  # fmt: skip
# Operators with vectors for which ONNX Runtime gives something else, with the reason.
DIFFERENT = {
    "quantiles": "a position that is NaN is an index out of range",
    "nanmedian.dim": "a position that is NaN is an index out of range",
    "nanquantile": "a position that is NaN is an index out of range",
    "nanmedian": "a position that is NaN is an index out of range",
    "nanquantile.tensor": "a position that is NaN is an index out of range",
    "sign": "the sign of NaN is NaN",
    "sgn": "the sign of NaN is NaN",
    "atan2": "the angle of two infinite coordinates is NaN",
    "reduce_loss": "the mean of no elements is 0",
}
# Operators for which it gives something else where a tensor has no elements: the mean of none is 0.
DIFFERENT_WITHOUT_ELEMENTS = ("mean", "mse_loss")
# Types without kernels in ONNX Runtime, or in NumPy.
WITHOUT_KERNELS = (flow.bfloat16, flow.complex64, flow.complex128)
# What ONNX Runtime says where it has no kernel for a type, or a model has nothing to compute.
NO_KERNEL = ("NOT_IMPLEMENTED", "RUNTIME_EXCEPTION", "MaxIdx() > -1")
RELATIVE = {"float16": 4e-3, "float32": 5e-5, "float64": 1e-9}


@pytest.mark.parametrize("path", conformance.FILES, ids=lambda path: path.stem)
def test_operators(path: Path, tmp_path: Path) -> None:
    vectors = json.loads(path.read_text())
    if vectors["op"].startswith("comm."):
        pytest.skip(COLLECTIVE)
    cases = [case for case in vectors["cases"] if conformance.is_replayed(case) and case["form"] != "out"]
    saved, refused = 0, []
    for case in cases[:: max(1, len(cases) // PER_OPERATOR)]:
        arguments = {name: conformance.value(spec, "cpu") for name, spec in case["arguments"].items()}
        if case["form"] == "in_place" and "tensors" in arguments:
            continue
        tensors = tensors_in(arguments)
        fixed = {name: value for name, value in arguments.items() if name not in tensors}

        def call(*values: Any, names: Any = tuple(tensors), fixed: Any = fixed, form: str = case["form"]) -> Any:
            return run(vectors["function"], form, {**fixed, **dict(zip(names, values, strict=True))})

        try:
            graph = flow.graph.capture(call, tuple(tensors.values()))
        except flow.Unsupported:
            assert vectors["function"] in READS, case["name"]
            continue
        try:
            flow.onnx.save(graph, tmp_path / "model.onnx", opset=OPSET)
        except flow.Unsupported as error:
            refused.append(str(error))
            continue
        saved += 1
        is_empty = any(0 in value.shape for value in tensors.values() if isinstance(value, flow.Tensor))
        if is_empty and vectors["op"] in DIFFERENT_WITHOUT_ELEMENTS:
            continue
        if vectors["op"] not in DIFFERENT and not graph_has(graph, WITHOUT_KERNELS):
            compare(graph, tmp_path / "model.onnx", tensors, case)
    if vectors["op"] in UNSUPPORTED:
        assert refused or not saved, "it can be saved: take it from UNSUPPORTED"
    elif refused:
        assert saved, refused


def graph_has(graph: Any, dtypes: tuple[Any, ...]) -> bool:
    return any(f"{dtype.name}[" in str(graph) for dtype in dtypes)


def compare(graph: Any, path: Path, tensors: dict[str, Any], case: dict[str, Any]) -> None:
    values = [each for value in tensors.values() for each in (value if isinstance(value, list) else [value])]
    values = [value for value in values if value is not None]
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    names = [each.name for each in model.graph.input]
    feeds = {name: value.numpy().copy() for name, value in zip(names, values, strict=True)}
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        found = session.run(None, feeds)
    except Exception as error:
        if any(text in str(error) for text in NO_KERNEL):
            return
        raise
    expected = [each.numpy() for each in graph(*tensors.values())]
    if graph_is_random(graph):
        return
    for one, other in zip(found, expected, strict=False):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), case["name"]
        relative = max(RELATIVE.get(other.dtype.name, 0), 4 * case["relative"])
        np.testing.assert_allclose(one, other, relative, max(4 * case["absolute"], relative), err_msg=case["name"])


def graph_is_random(graph: Any) -> bool:
    return "Generator" in str(graph)
