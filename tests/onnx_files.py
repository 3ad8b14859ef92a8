"""Writes the ONNX files that the tests of all languages load: `python -m tests.onnx_files`.

`tests/data/onnx/cases.json` says what loading each of them gives. With `--examples FOLDER`, writes the models of the
tests of single nodes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).parent / "data" / "onnx"
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
Shape = list[int | str | None]


def value(name: str, shape: Shape | None, dtype: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name: str, array: object, dtype: type = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(array, dtype), name)


def graph(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[str],
    constants: list[onnx.TensorProto] | None = None,
) -> onnx.GraphProto:
    return helper.make_graph(nodes, "graph", inputs, [value(name, None) for name in outputs], constants or [])


def model(
    *parts: object, functions: list[onnx.FunctionProto] | None = None, opset: int = 18, version: int = 9
) -> onnx.ModelProto:
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_model(graph(*parts), functions=functions or [], opset_imports=opsets, ir_version=version)


node = helper.make_node
X = value("x", ["batch", 3])
WEIGHT = constant("weight", [[1, 2], [3, 4], [5, 6]])
BIAS = constant("bias", [0.5, -30])
LAYER = [node("MatMul", ["x", "weight"], ["product"]), node("Add", ["product", "bias"], ["sum"]),
         node("Relu", ["sum"], ["y"])]  # fmt: skip


def in_file(location: str, offset: int, length: int) -> onnx.ModelProto:
    """Returns the layer with a weight whose elements are in another file."""
    weight = constant("weight", [[1, 2], [3, 4], [5, 6]])
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, text in (("location", location), ("offset", str(offset)), ("length", str(length))):
        weight.external_data.add(key=key, value=text)
    return model(LAYER, [X], ["y"], [weight, BIAS])


def resized(*sizes: int) -> onnx.ModelProto:
    """Returns the layer with a weight whose sizes do not fit its elements."""
    weight = constant("weight", [[1, 2], [3, 4], [5, 6]])
    del weight.dims[:]
    weight.dims.extend(sizes)
    return model(LAYER, [X], ["y"], [weight, BIAS])


def branch() -> onnx.ModelProto:
    branches = {
        f"{name}_branch": graph([node(kind, ["x"], [name])], [], [name])
        for name, kind in (("then", "Neg"), ("else", "Abs"))
    }
    condition = value("flag", [], TensorProto.BOOL)
    return model([node("If", ["flag"], ["y"], **branches)], [value("x", [2]), condition], ["y"])


def field(number: int, contents: bytes) -> bytes:
    """Returns a field of contents below 16 kB, as protocol buffers encode it."""
    return bytes([number << 3 | 2, len(contents) & 0x7F | 0x80, len(contents) >> 7]) + contents


def deep(depth: int) -> bytes:
    """Returns a model with graphs in graphs, which are too many for the package that writes the others."""
    inner = b""
    for _ in range(depth):
        attribute = field(1, b"then_branch") + field(6, inner) + b"\xa0\x01\x05"  # its type: a graph
        inner = field(1, field(4, b"If") + field(5, attribute))
    return field(7, inner)


def recursive() -> onnx.ModelProto:
    opsets = [helper.make_opsetid("own", 1)]
    functions = [
        helper.make_function("own", name, ["a"], ["b"], [node(called, ["a"], ["b"], domain="own")], opsets)
        for name, called in (("Ping", "Pong"), ("Pong", "Ping"))
    ]
    return model([node("Ping", ["x"], ["y"], domain="own")], [X], ["y"], functions=functions)


def doubling(depth: int) -> onnx.ModelProto:
    """Returns a model of functions that each call the one before twice."""
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    functions = [helper.make_function("own", "F0", ["a"], ["b"], [node("Neg", ["a"], ["b"])], opsets)]
    for number in range(1, depth):
        twice = [node(f"F{number - 1}", names[:1], names[1:], domain="own") for names in (["a", "t"], ["t", "b"])]
        functions.append(helper.make_function("own", f"F{number}", ["a"], ["b"], twice, opsets))
    return model([node(f"F{depth - 1}", ["x"], ["y"], domain="own")], [X], ["y"], functions=functions)


def function() -> onnx.ModelProto:
    opsets = [helper.make_opsetid("", 18)]
    body = [node("Mul", ["a", "a"], ["square"]), node("Sqrt", ["square"], ["b"])]
    own = helper.make_function("own", "Absolute", ["a"], ["b"], body, opsets)
    return model([node("Absolute", ["x"], ["y"], domain="own")], [X], ["y"], functions=[own])


def files() -> dict[str, bytes]:
    """Returns the contents of the files by their names."""
    reshape = [node("Reshape", ["x", "shape"], ["y"])]
    sequence = helper.make_tensor_sequence_value_info("x", FLOAT, None)
    models = {
        "layer": model(LAYER, [X], ["y"], [WEIGHT, BIAS]),
        "two_outputs": model(
            [node("Add", ["a", "b"], ["sum"]), node("Mul", ["a", "b"], ["product"])],
            [value("a", [None, 2]), value("b", [2])], ["sum", "product"],
        ),
        "fours": model(reshape, [value("x", ["n"])], ["y"], [constant("shape", [-1, 4], np.int64)]),
        "batches": model([node("Add", ["a", "b"], ["y"])], [value("a", ["n", 2]), value("b", ["m", 2])], ["y"]),
        "equal": model([node("Add", ["a", "b"], ["y"])], [value("a", ["n"]), value("b", ["k", "m"])], ["y"]),
        "of_height_32": model(
            [node("Reshape", ["x", "shape"], ["y"])], [value("x", ["n", "height"])], ["y"],
            [constant("shape", [0, 4, 8], np.int64)],
        ),
        "reshape": model(reshape, [value("x", [2, 3]), value("shape", [2], INT64)], ["y"]),
        "branch": branch(),
        "function": function(),
        "external": in_file("weights.bin", 4, 24),
        "external_outside": in_file("../../faults.json", 0, 24),
        "external_absolute": in_file("/etc/hostname", 0, 24),
        "external_missing": in_file("nothing.bin", 0, 24),
        "external_short": in_file("weights.bin", 20, 24),
        "missing_operators": model(
            [node("Reluu", ["x"], ["a"], name="first"), node("Fuse", ["a"], ["y"], domain="own")], [X], ["y"]
        ),
        "recursive": recursive(),
        "doubling": doubling(40),
        "cycle": model([node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"])], [X], ["b"]),
        "huge_constant": resized(2**40, 2**40),
        "negative_constant": resized(-3, -2),
        "short_constant": resized(30, 2),
        "huge_input": model([node("Relu", ["x"], ["y"])], [value("x", [2**62, 8])], ["y"]),
        "huge_result": model(
            [node("ConstantOfShape", ["shape"], ["a"]), node("Add", ["a", "x"], ["y"])], [value("x", [1])], ["y"],
            [constant("shape", [2**40, 2**40], np.int64)],
        ),
        "wrong_shape": model([node("MatMul", ["x", "weight"], ["y"])], [X], ["y"], [constant("weight", [1, 2])]),
        "no_output": model([node("Relu", ["x"], ["z"])], [X], ["y"]),
        "strings": model([node("Identity", ["x"], ["y"])], [value("x", [1], TensorProto.STRING)], ["y"]),
        "sequence": model([node("ConcatFromSequence", ["x"], ["y"], axis=0)], [sequence], ["y"]),
        "without_rank": model([node("Relu", ["x"], ["y"])], [value("x", None)], ["y"]),
        "newer_format": model([node("Relu", ["x"], ["y"])], [X], ["y"], version=99),
        "recurrent_shapes": model(
            [node("GRU", ["x", "w", "w"], ["y"], hidden_size=2)], [value("x", [3, 1, 2])], ["y"],
            [constant("w", np.ones((1, 0, 2)))],
        ),
        "empty_block": model(
            [node("Col2Im", ["x", "image", "block"], ["y"])], [value("x", [1, 4, 4])], ["y"],
            [constant("image", [4, 4], np.int64), constant("block", [0, 0], np.int64)],
        ),
        "short_shape": model(
            [node("ConvTranspose", ["x", "w"], ["y"], output_shape=[7])], [value("x", [1, 1, 3, 3])], ["y"],
            [constant("w", np.ones((1, 1, 2, 2)))],
        ),
        "huge_window": model(
            [node("HannWindow", ["size"], ["w"]), node("Mul", ["x", "w"], ["y"])], [X], ["y"],
            [constant("size", 2**50, np.int64)],
        ),
        "attribute_type": model([node("Softmax", ["x"], ["y"], axis="last")], [X], ["y"]),
    }  # fmt: skip
    written = {f"{name}.onnx": each.SerializeToString(deterministic=True) for name, each in models.items()}
    written["weights.bin"] = b"skip" + np.arange(1, 7, dtype=np.float32).tobytes()
    written["deep.onnx"] = deep(40)
    written["text.onnx"] = b"This file is a text, and no model.\n"
    written["empty.onnx"] = b""
    written["wire_type.onnx"] = b"\x38\x01"  # the field of the graph, as a number
    written["length.onnx"] = b"\x3a\xff\xff\xff\xff\x0f\x00"  # a graph that is longer than the file
    return written


def write_examples(folder: Path) -> None:
    """Writes the models of the tests of single nodes."""
    from tests.vectors.onnx_nodes import cases

    for case in cases():
        contents = case.model.SerializeToString()
        if len(contents) < 4096:
            (folder / f"{case.name}.onnx").write_bytes(contents)


def main() -> None:
    if sys.argv[1:2] == ["--examples"]:
        write_examples(Path(sys.argv[2]))
        return
    for name, contents in files().items():
        (FOLDER / name).write_bytes(contents)


if __name__ == "__main__":
    main()
