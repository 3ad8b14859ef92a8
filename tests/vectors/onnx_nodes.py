"""The tests of single nodes that the `onnx` package has, as cases for all languages.

`cases()` gives those that concern us. As a program, writes a sample of them to tests/generated/onnx for Node.js, Ruby
and C: NAME.onnx, NAME.safetensors with the inputs "input.0", "input.1" and the outputs "output.0", and names.json with
the names of the inputs of all models.

Usage: python -m tests.vectors.onnx_nodes
"""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from safetensors.numpy import save_file

TARGET = Path(__file__).parents[2] / "tests" / "generated" / "onnx"
SAMPLE = 12  # every twelfth case

# Operators that are not for tensors of numbers, or that train: their tests are outside.
OUTSIDE = re.compile(
    "[Qq]uantize|QLinear|Integer|Sequence(?!Lens)|Optional|String|Adagrad|Adam|Momentum|Gradient|TfIdf|LabelEncoder|"
    "Regex|ImageDecoder"
)
LARGEST_TYPE = onnx.TensorProto.BFLOAT16  # the element types after it are narrower than a byte, or kinds of float8

# Tests that do not pass, by their names, with the reason.
NOT_LOADED = {
    "bitcast_": "BitCast, of opset 26",
    "causal_conv_with_state_": "CausalConvWithState, of opset 27",
    "linear_attention_": "LinearAttention, of opset 27",
    "swiglu": "SwiGLU, of opset 28",
    "scan_sum": "Scan, of opset 8, has lengths",
    "det_": "Det: there is no determinant yet",
    "basic_deform_conv_|deform_conv_": "DeformConv",
    "nonmaxsuppression_": "NonMaxSuppression: how many boxes it selects is known only when the graph runs",
    "roialign_": "RoiAlign",
    "compress_": "Compress: the size of its result is known only when the graph runs",
    "nonzero_": "NonZero: the size of its result is known only when the graph runs",
    "unique_": "Unique: the size of its result is known only when the graph runs",
}
# Tests whose outputs are random: only shapes and dtypes are compared.
RANDOM = re.compile("bernoulli|training_dropout(?!.*zero)")


class Case(NamedTuple):
    name: str
    model: onnx.ModelProto
    inputs: list[Any]  # arrays
    outputs: list[Any]


def operators(graph: onnx.GraphProto) -> Iterator[str]:
    """Gives the types of all nodes, those of inner graphs included."""
    for node in graph.node:
        yield node.op_type
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from operators(attribute.g)


def is_outside(model: onnx.ModelProto) -> bool:
    """Returns whether a model is about quantisation, sequences, strings, training, or types that we do not have."""
    types = [value.type for value in (*model.graph.input, *model.graph.output)]
    return (
        any(OUTSIDE.search(name) for name in operators(model.graph) if name != "ReverseSequence")
        or any(each.WhichOneof("value") != "tensor_type" for each in types)
        or any(each.tensor_type.elem_type in (onnx.TensorProto.STRING, onnx.TensorProto.UNDEFINED) for each in types)
        or any(each.tensor_type.elem_type > LARGEST_TYPE for each in types)
        or any(node.domain not in ("", "ai.onnx") for node in model.graph.node if not model.functions)
    )


def not_loaded(name: str) -> str | None:
    """Returns why a test does not pass. Those whose operator is expanded do."""
    if name.endswith("_expanded"):
        return None
    for pattern, why in NOT_LOADED.items():
        if re.match(f"test_(?:{pattern})", name):
            return why
    return None


def arrays(values: Any, folder: Path, prefix: str) -> list[Any]:
    """Returns arrays, which are given or in the files of a folder."""
    if values is None:
        files = sorted(folder.glob(f"{prefix}_*.pb"), key=lambda file: int(file.stem.rpartition("_")[2]))
        values = [onnx.TensorProto.FromString(file.read_bytes()) for file in files]
    return [numpy_helper.to_array(each) if isinstance(each, onnx.TensorProto) else np.asarray(each) for each in values]


def cases() -> Iterator[Case]:
    """Gives all cases that are not outside, in the order of their names."""
    with warnings.catch_warnings(action="ignore"):  # the tests divide by zero on purpose
        tests = load_model_tests(kind="node")
    for test in sorted(tests, key=lambda test: test.name):
        model = test.model or onnx.load(Path(test.model_dir) / "model.onnx")
        if is_outside(model):
            continue
        folders = sorted(Path(test.model_dir).glob("test_data_set_*")) if test.model_dir else []
        data = test.data_sets or [(None, None)] * len(folders)
        for number, (inputs, outputs) in enumerate(data):
            folder = folders[number] if folders else Path()
            yield Case(test.name, model, arrays(inputs, folder, "input"), arrays(outputs, folder, "output"))


def main() -> None:
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    names = {}
    for number, case in enumerate(cases()):
        if number % SAMPLE or not case.inputs or not case.outputs or not_loaded(case.name) or RANDOM.search(case.name):
            continue
        tensors = {
            f"{prefix}.{i}": np.array(array, order="C")
            for prefix, values in (("input", case.inputs), ("output", case.outputs))
            for i, array in enumerate(values)
        }
        # The format of the tensors has no complex numbers, and NumPy has no bfloat16 of its own.
        if any(array.dtype.kind not in "biuf" or array.dtype.itemsize > 8 for array in tensors.values()):
            continue
        onnx.save(case.model, TARGET / f"{case.name}.onnx")
        save_file(tensors, TARGET / f"{case.name}.safetensors")
        names[case.name] = [each.name for each in case.model.graph.input]
    (TARGET / "names.json").write_text(json.dumps(names))


if __name__ == "__main__":
    main()
