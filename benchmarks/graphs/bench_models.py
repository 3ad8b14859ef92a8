"""Compares ONNX models with ONNX Runtime, with two threads each: the time of a run, and the peak of the memory in a
process of its own. Also measures what a run adds to the operators of a small network."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import oneflow_py as flow
from benchmarks.graphs.models import Encoder, image_models, text_models, with_weights
from benchmarks.memory import peak_gigabytes, print_peak
from benchmarks.timing import interleaved, report

THREADS = 2


def models(folder: Path) -> Iterator[tuple[str, Path, list[int], str]]:
    """Yields a name, a file, the shape of the input, and a group."""
    for name, path in image_models().items():
        onnx.save(with_weights(path), folder / f"{name}.onnx")
        yield name, folder / f"{name}.onnx", [1, 3, 224, 224], "models"
    for name, (path, shape) in text_models().items():
        yield name, path, shape, "models"
    onnx.save(Encoder(layers=6, width=384, heads=12, length=128).model, folder / "encoder.onnx")
    yield "encoder, 6 layers of 384, 128 tokens", folder / "encoder.onnx", [1, 128, 384], "encoder"


def runs_with_oneflow(path: Path, array: np.ndarray) -> Callable[[], object]:
    graph = flow.onnx.load(path).optimize()
    x = flow.from_numpy(array)
    return lambda: graph(x)


def runs_with_runtime(path: Path, array: np.ndarray) -> Callable[[], object]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options)
    return partial(session.run, None, {session.get_inputs()[0].name: array})


LIBRARIES = {"oneflow": runs_with_oneflow, "ONNX Runtime": runs_with_runtime}


def input_of(shape: list[int]) -> np.ndarray:
    return np.random.default_rng(1).random(shape, np.float32)


def three_runs(library: str, path: str, *shape: str) -> None:
    flow.set_num_threads(THREADS)
    run = LIBRARIES[library](Path(path), input_of([int(size) for size in shape]))
    for _ in range(3):
        run()


def compare(name: str, path: Path, shape: list[int], group: str) -> None:
    array = input_of(shape)
    times = interleaved({library: prepare(path, array) for library, prepare in LIBRARIES.items()}, rounds=7)
    if group == "encoder":
        report(name, times, [{"peer": "ONNX Runtime", "at_most": 1.1}], unit="ms")
    else:
        means = [{"group": "image models", "peer": "ONNX Runtime", "at_most": 1.2}]
        report(name, times, [{"peer": "ONNX Runtime", "at_most": 2.0}], unit="ms", means=means)
    arguments = [str(path), *map(str, shape)]
    memory = {library: peak_gigabytes(__file__, library, *arguments) for library in LIBRARIES}
    means = [{"group": "peak memory", "peer": "ONNX Runtime", "at_most": 1.1}]
    report(f"peak memory in GB: {name}", memory, [], unit="s", means=means)


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
    print_peak(lambda: three_runs(*sys.argv[1:])) if len(sys.argv) > 1 else main()
