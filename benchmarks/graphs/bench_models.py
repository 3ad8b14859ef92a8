"""Compares runs of ONNX models with ONNX Runtime, with two threads each: image models, those that read text from a
picture, and an encoder; and what a run adds to the operators of a small network."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import oneflow_py as flow
from benchmarks.graphs.models import Encoder, image_models, text_models, with_weights
from benchmarks.timing import interleaved, report

THREADS = 2


def peer(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options)


def models(folder: Path) -> Iterator[tuple[str, Path, list[int], str]]:
    """Yields a name, a file, the shape of the input, and a group."""
    for name, path in image_models().items():
        onnx.save(with_weights(path), folder / f"{name}.onnx")
        yield name, folder / f"{name}.onnx", [1, 3, 224, 224], "models"
    for name, (path, shape) in text_models().items():
        yield name, path, shape, "models"
    onnx.save(Encoder(layers=6, width=384, heads=12, length=128).model, folder / "encoder.onnx")
    yield "encoder, 6 layers of 384, 128 tokens", folder / "encoder.onnx", [1, 128, 384], "encoder"


def compare(name: str, path: Path, shape: list[int], group: str) -> None:
    array = np.random.default_rng(1).random(shape, np.float32)
    x = flow.from_numpy(array)
    other = peer(path)
    (given,) = other.get_inputs()
    key = given.name
    # Not all models take every size that they leave open.
    open_sizes = {d: name for d, name in enumerate(given.shape) if not isinstance(name, int)}
    sizes = {name if name not in (None, "?") else f"{key}_{d}": shape[d] for d, name in open_sizes.items()}
    graph = flow.onnx.load(path, sizes=sizes).optimize()
    times = interleaved({"oneflow": lambda: graph(x), "ONNX Runtime": lambda: other.run(None, {key: array})}, rounds=7)
    if group == "encoder":
        report(name, times, [{"peer": "ONNX Runtime", "at_most": 1.1}], unit="ms")
    else:
        means = [{"group": "image models", "peer": "ONNX Runtime", "at_most": 1.2}]
        report(name, times, [{"peer": "ONNX Runtime", "at_most": 2.0}], unit="ms", means=means)


def perceptron() -> None:
    random = flow.Generator(1)
    weights = [flow.randn(64, 64, generator=random) for _ in range(3)]
    biases = [flow.randn(64, generator=random) for _ in range(3)]

    def network(x: flow.Tensor) -> flow.Tensor:
        for weight, bias in zip(weights, biases, strict=True):
            x = flow.linear(x, weight, bias).relu()
        return x

    x = flow.ones(1, 64)
    graph = flow.graph.capture(network, x)
    times = interleaved({"oneflow": lambda: graph(x), "call by call": lambda: network(x)})
    report("3 layers of 64, batch 1", times, [{"peer": "call by call", "at_most": 1.0}])


def main() -> None:
    flow.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as folder:
        for each in models(Path(folder)):
            compare(*each)
    perceptron()


if __name__ == "__main__":
    main()
