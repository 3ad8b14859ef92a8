"""ONNX models for benchmarks: the image models whose architectures come with the onnx package, with random weights; the
models of the package rapidocr-onnxruntime; and an encoder of BERT's architecture."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test import data

FOLDER = Path(data.__path__[0]) / "light"


def image_models() -> dict[str, Path]:
    return {path.stem.removeprefix("light_"): path for path in sorted(FOLDER.glob("light_*.onnx"))}


def text_models() -> dict[str, tuple[Path, list[int]]]:
    """Returns the models with the shapes of inputs: that of a picture, of a line of text, and of the same line."""
    spec = importlib.util.find_spec("rapidocr_onnxruntime")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package rapidocr-onnxruntime is not installed; see requirements/models.txt")
    folder = Path(spec.origin).parent / "models"
    return {
        "text detector": (folder / "ch_PP-OCRv4_det_infer.onnx", [1, 3, 480, 640]),
        "text classifier": (folder / "ch_ppocr_mobile_v2.0_cls_infer.onnx", [1, 3, 48, 192]),
        "text reader": (folder / "ch_PP-OCRv4_rec_infer.onnx", [1, 3, 48, 320]),
    }


def with_weights(path: Path, seed: int = 0) -> onnx.ModelProto:
    """Returns a model of the onnx package, whose weights are made by nodes of constants, with random weights."""
    model = onnx.load(path)
    random = np.random.default_rng(seed)
    shapes = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            nodes.append(node)
            continue
        shape = tuple(int(size) for size in shapes[node.input[0]])
        value = numpy_helper.to_array(node.attribute[0].t) if node.attribute else np.zeros(1, np.float32)
        if value.dtype != np.float32:
            array = np.full(shape, value[0])
        elif len(shape) >= 2:
            array = random.standard_normal(shape, np.float32) * np.sqrt(2 / np.prod(shape[1:]))
        else:
            array = random.random(shape, np.float32) * 0.5 + 0.5
        model.graph.initializer.append(numpy_helper.from_array(array.astype(value.dtype), node.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [each for each in model.graph.initializer if each.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    inputs = [each for each in model.graph.input if each.name not in shapes]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    return model


class Encoder:
    """Makes an encoder: layers of attention and of two products with an activation between them."""

    def __init__(self, layers: int, width: int, heads: int, length: int) -> None:
        self.width, self.heads, self.length = width, heads, length
        self.random = np.random.default_rng(0)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        last = "x"
        for _ in range(layers):
            last = self.layer(last)
        shape = [1, length, width]
        graph = helper.make_graph(
            self.nodes,
            "encoder",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(last, TensorProto.FLOAT, shape)],
            self.weights,
        )
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def constant(self, array: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape: int) -> str:
        return self.constant((self.random.standard_normal(shape) * 0.05).astype(np.float32))

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def linear(self, x: str, rows: int, columns: int) -> str:
        return self.node("Add", self.node("MatMul", x, self.weight(rows, columns)), self.weight(columns))

    def norm(self, x: str) -> str:
        ones = self.constant(np.ones(self.width, np.float32))
        return self.node("LayerNormalization", x, ones, self.weight(self.width), axis=-1, epsilon=1e-12)

    def split(self, x: str, order: list[int]) -> str:
        shape = self.constant(np.array([1, self.length, self.heads, self.width // self.heads]))
        return self.node("Transpose", self.node("Reshape", x, shape), perm=order)

    def layer(self, x: str) -> str:
        width = self.width
        q, k, v = (self.linear(x, width, width) for _ in range(3))
        scores = self.node("MatMul", self.split(q, [0, 2, 1, 3]), self.split(k, [0, 2, 3, 1]))
        scale = self.constant(np.float32((width // self.heads) ** -0.5))
        weights = self.node("Softmax", self.node("Mul", scores, scale), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", weights, self.split(v, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
        joined = self.node("Reshape", mixed, self.constant(np.array([1, self.length, width])))
        x = self.norm(self.node("Add", x, self.linear(joined, width, width)))
        wide = self.node("Gelu", self.linear(x, width, 4 * width))
        return self.norm(self.node("Add", x, self.linear(wide, 4 * width, width)))
