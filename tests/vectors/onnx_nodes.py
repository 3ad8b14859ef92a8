"""The tests of single nodes that the `onnx` package has, as cases for all languages.

`cases()` gives those that concern us. As a program, writes a sample of them to tests/generated/onnx for Node.js, Ruby
and C: NAME.onnx, and NAME.safetensors with the inputs "input.0", "input.1" and the outputs "output.0".

Usage: python -m tests.vectors.onnx_nodes
"""

from __future__ import annotations

import re
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
    TARGET.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(cases()):
        if number % SAMPLE or not case.inputs or not case.outputs:
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


if __name__ == "__main__":
    main()
