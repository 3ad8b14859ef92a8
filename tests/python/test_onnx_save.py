"""Tests saving graphs as ONNX models, whose results ONNX Runtime computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import oneflow_py as flow

OPSETS = (11, 13, 17, 18, 20, 22)
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MODELS = sorted(LIGHT.glob("light_*.onnx"))


def run(path: Path, inputs: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """Returns what ONNX Runtime computes, after the model was checked."""
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [each.name for each in session.get_inputs()] == list(inputs)
    return list(session.run(None, {name: tensor.numpy() for name, tensor in inputs.items()}))


def compare(graph: Any, path: Path, *inputs: flow.Tensor, tolerance: float = 2e-5) -> None:
    names = [each.name for each in graph.inputs]
    found = run(path, dict(zip(names, inputs, strict=True)))
    expected = graph(*inputs)
    expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    for one, other in zip(found, expected, strict=True):
        wanted = other.numpy()
        assert (one.dtype, one.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(one, wanted, tolerance, tolerance)


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def perceptron() -> tuple[Any, dict[str, flow.Tensor]]:
    flow.manual_seed(0)
    weights = {"first": flow.randn(16, 8), "bias": flow.randn(16), "second": flow.randn(4, 16)}

    def forward(x: flow.Tensor) -> flow.Tensor:
        hidden = flow.relu(flow.linear(x, weights["first"], weights["bias"]))
        return flow.softmax(flow.linear(hidden, weights["second"]), -1)

    return forward, weights


@pytest.mark.parametrize("opset", OPSETS)
def test_a_perceptron(opset: int, tmp_path: Path) -> None:
    forward, weights = perceptron()
    graph = flow.graph.capture(forward, flow.ones(1, 8), dynamic={"batch"}, weights=weights)
    flow.onnx.save(graph, tmp_path / "model.onnx", opset=opset)
    for count in (1, 5):
        compare(graph, tmp_path / "model.onnx", flow.randn(count, 8))
    assert operators(tmp_path / "model.onnx") == ["Gemm", "Relu", "Gemm", "Softmax"]


def test_names_are_kept(tmp_path: Path) -> None:
    forward, weights = perceptron()
    graph = flow.graph.capture(forward, flow.ones(1, 8), dynamic={"batch"}, weights=weights)
    flow.onnx.save(graph, tmp_path / "model.onnx")
    model = onnx.load(tmp_path / "model.onnx")
    assert [each.name for each in model.graph.input] == [each.name for each in graph.inputs]
    assert [each.name for each in model.graph.output] == [each.name for each in graph.outputs]
    assert sorted(each.name for each in model.graph.initializer) == sorted(weights)
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert (model.opset_import[0].version, model.producer_name) == (17, "oneflow")


@pytest.mark.parametrize("opset", OPSETS)
def test_a_convolutional_network(opset: int, tmp_path: Path) -> None:
    flow.manual_seed(1)
    kernel, bias, scale, shift, mean = (
        flow.randn(6, 1, 5, 5),
        flow.randn(6),
        flow.randn(6),
        flow.randn(6),
        flow.randn(6),
    )
    variance, weight = flow.rand(6) + 0.5, flow.randn(10, 150)

    def forward(image: flow.Tensor) -> flow.Tensor:
        x = flow.conv2d(image, kernel, bias, stride=2, padding=2)
        x = flow.max_pool2d(flow.relu(flow.batch_norm(x, mean, variance, scale, shift)), [3], [3], padding=[1])
        x = flow.avg_pool2d(flow.constant_pad_nd(x, [1, 1, 1, 1]), [3], [1])
        return flow.log_softmax(flow.linear(flow.flatten(x, 1), weight), 1)

    graph = flow.graph.capture(forward, flow.randn(1, 1, 28, 28), dynamic={"batch"})
    flow.onnx.save(graph, tmp_path / "model.onnx", opset=opset)
    compare(graph, tmp_path / "model.onnx", flow.randn(3, 1, 28, 28), tolerance=2e-4)


@pytest.mark.parametrize("opset", OPSETS)
def test_an_encoder(opset: int, tmp_path: Path) -> None:
    flow.manual_seed(2)
    embedding, scale, shift = flow.randn(50, 32), flow.randn(32), flow.randn(32)
    query, key, value, out, up, down = (flow.randn(32, 32) * 0.2 for _ in range(6))

    def forward(tokens: flow.Tensor) -> flow.Tensor:
        batch, time = tokens.shape
        x = flow.embedding(tokens, embedding)
        normal = flow.layer_norm(x, [32], scale, shift)
        heads = [(normal @ weight).reshape([batch, time, 4, 8]).transpose(1, 2) for weight in (query, key, value)]
        attended = flow.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + attended.transpose(1, 2).reshape([batch, time, 32]) @ out
        return x + flow.gelu(flow.layer_norm(x, [32]) @ up) @ down

    graph = flow.graph.capture(forward, flow.randint(0, 50, [2, 7]), dynamic={"tokens": ["batch", "time"]})
    flow.onnx.save(graph, tmp_path / "model.onnx", opset=opset)
    for shape in ([2, 7], [1, 12]):
        compare(graph, tmp_path / "model.onnx", flow.randint(0, 50, shape))


def test_sizes_follow_from_those_of_inputs(tmp_path: Path) -> None:
    def forward(x: flow.Tensor) -> list[flow.Tensor]:
        rows, columns = x.shape
        half = columns // 2
        return [x[:, :half], x[:, -1], flow.reshape(x, [columns, rows]), flow.zeros([rows * 2]), x.mean(), x.var(1)]

    graph = flow.graph.capture(forward, flow.ones(2, 4), dynamic={"x": ["rows", "columns"]})
    flow.onnx.save(graph, tmp_path / "model.onnx")
    for shape in ([2, 4], [3, 7]):
        compare(graph, tmp_path / "model.onnx", flow.randn(*shape))


def test_expressions_are_written_as_nodes(tmp_path: Path) -> None:
    graph = flow.graph.capture(lambda a, b, c: flow.addcmul(a, b, c, value=0.5), (flow.randn(3),) * 3)
    flow.onnx.save(graph, tmp_path / "model.onnx")
    compare(graph, tmp_path / "model.onnx", flow.randn(3), flow.randn(3), flow.randn(3))
    assert set(operators(tmp_path / "model.onnx")) == {"Mul", "Add"}


def test_large_integers_are_exact(tmp_path: Path) -> None:
    """They are beyond those that float64 has."""
    large, largest = 2**60 + 1, 2**63 - 1

    def forward(x: flow.Tensor) -> Any:
        rows = flow.arange(largest - 3, largest, 2), flow.full([2], large), flow.full_like(x, -large)
        return flow.cat([*rows, flow.add(x, large), flow.where(x > 0, x, largest), flow.clamp(x, large, largest)])

    x = flow.tensor([2, -large])
    graph = flow.graph.capture(forward, x)
    flow.onnx.save(graph, tmp_path / "model.onnx")
    (found,) = run(tmp_path / "model.onnx", {"x": x})
    assert found.tolist() == [
        *(largest - 3, largest - 1, large, large, -large, -large),
        *(large + 2, 0, 2, largest, large, large),
    ]
    assert found.tolist() == graph(x).tolist()


def test_states_are_outputs(tmp_path: Path) -> None:
    mean, variance = flow.zeros(3), flow.ones(3)
    graph = flow.graph.capture(
        lambda x: flow.batch_norm(x, mean, variance, training=True), flow.randn(4, 3), weights={"mean": mean}
    )
    flow.onnx.save(graph, tmp_path / "model.onnx")
    x = flow.randn(4, 3)
    found = run(tmp_path / "model.onnx", {graph.inputs[0].name: x})
    np.testing.assert_allclose(found[0], graph(x).numpy(), 1e-5, 1e-5)
    assert len(found) == 1 + len(graph.states)
    np.testing.assert_allclose(found[1], 0.1 * x.numpy().mean(0), 1e-5, 1e-5)


def test_external_data(tmp_path: Path) -> None:
    weight, bias = flow.randn(64, 64), flow.randn(64)
    graph = flow.graph.capture(lambda x: flow.linear(x, weight, bias), flow.randn(2, 64))
    flow.onnx.save(graph, tmp_path / "model.onnx", external_bytes=1024)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.onnx", "model.onnx.data"]
    assert (tmp_path / "model.onnx").stat().st_size < 1024
    compare(graph, tmp_path / "model.onnx", flow.randn(2, 64))
    assert flow.onnx.load(tmp_path / "model.onnx")(flow.ones(2, 64)).shape == (2, 64)


def test_what_onnx_cannot_express_is_named_at_once(tmp_path: Path) -> None:
    graph = flow.graph.capture(lambda x: flow.lgamma(x) + flow.erfinv(x), flow.rand(2))
    (tmp_path / "model.onnx").write_text("earlier")
    with pytest.raises(flow.Unsupported) as caught:
        flow.onnx.save(graph, tmp_path / "model.onnx")
    assert str(caught.value) == (
        "save: the graph has calls that ONNX cannot express in opset 17: call 0, lgamma: ONNX has no operator for "
        "lgamma; call 1, erfinv: ONNX has no operator for erfinv"
    )
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]
    assert (tmp_path / "model.onnx").read_text() == "earlier"


def test_bad_arguments(tmp_path: Path) -> None:
    graph = flow.graph.capture(lambda x: flow.bitwise_and(x, 3), flow.ones(2, dtype=flow.int32))
    path = tmp_path / "model.onnx"
    with pytest.raises(flow.InvalidArgument, match=r"^save: opset must be between 11 and 22, got 23$"):
        flow.onnx.save(graph, path, opset=23)
    with pytest.raises(flow.Unsupported, match="it needs BitwiseAnd, which opset 18 has"):
        flow.onnx.save(graph, path)
    with pytest.raises(flow.TypeMismatch, match=r"^save: graph must be Graph, got int$"):
        flow.onnx.save(3, path)  # type: ignore[arg-type]
    with pytest.raises(flow.TypeMismatch, match=r"^save: external_bytes must be a positive int, got 0$"):
        flow.onnx.save(graph, path, external_bytes=0)
    with pytest.raises(flow.FileError):
        flow.onnx.save(graph, tmp_path / "none" / "model.onnx", opset=18)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_that_is_loaded_and_saved_is_the_same(path: Path, tmp_path: Path) -> None:
    graph = flow.onnx.load(path)
    flow.onnx.save(graph, tmp_path / "model.onnx")
    saved = flow.onnx.load(tmp_path / "model.onnx")
    inputs = {each.name: flow.randn(*[int(size) for size in each.shape]) for each in graph.inputs}
    np.testing.assert_array_equal(saved(**inputs).numpy(), graph(**inputs).numpy())
    (found,) = run(tmp_path / "model.onnx", inputs)
    np.testing.assert_allclose(found, graph(**inputs).numpy(), 1e-3, 2e-3)
