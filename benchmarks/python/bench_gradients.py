"""Compares forward and backward passes with PyTorch, on as many threads: time, and memory in a process of its own."""

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import oneflow_py as flow
from benchmarks.memory import peak_gigabytes, print_peak
from benchmarks.timing import interleaved, report

LIBRARIES = {"oneflow": flow, "PyTorch": torch}
# A library; its functions for networks; and the function that makes a tensor of an array.
Step = Callable[[], object]


class Library:
    """What the programs use of a library."""

    def __init__(self, name: str) -> None:
        self.flow: Any = LIBRARIES[name]
        self.nn: Any = flow if self.flow is flow else torch.nn.functional
        self.random = np.random.default_rng(0)

    def data(self, *shape: int, scale: float = 1.0) -> Any:
        array = (self.random.standard_normal(shape, dtype=np.float32) * scale).astype(np.float32)
        return self.flow.from_numpy(array)

    def leaf(self, *shape: int, scale: float = 0.05) -> Any:
        return self.data(*shape, scale=scale).requires_grad_()


def small(library: Library) -> Step:
    a, b = library.leaf(4), library.leaf(4)

    def step() -> None:
        (a * b).sum().backward()
        a.grad = b.grad = None

    return step


def passes(leaves: list[Any], loss: Callable[[], Any]) -> Step:
    """Returns a forward and a backward pass."""

    def step() -> None:
        loss().backward()
        for each in leaves:
            each.grad = None

    return step


def perceptron(library: Library) -> Step:
    sizes = (784, 512, 256, 10)
    weights = [library.leaf(n, m) for m, n in itertools.pairwise(sizes)]
    biases = [library.leaf(n) for n in sizes[1:]]
    x = library.data(128, 784)
    labels = library.flow.from_numpy(library.random.integers(0, 10, 128))

    def loss() -> Any:
        h = x
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            h = library.flow.relu(library.nn.linear(h, weight, bias))
        return library.nn.cross_entropy(library.nn.linear(h, weights[-1], biases[-1]), labels)

    return passes([*weights, *biases], loss)


def convolution_block(library: Library) -> Step:
    x, weight, bias = library.leaf(8, 64, 56, 56, scale=1.0), library.leaf(64, 64, 3, 3), library.leaf(64)
    gain, shift = library.leaf(64, scale=1.0), library.leaf(64)

    def loss() -> Any:
        y = library.nn.conv2d(x, weight, bias, padding=1)
        return library.flow.relu(library.nn.batch_norm(y, None, None, gain, shift, training=True)).sum()

    return passes([x, weight, bias, gain, shift], loss)


def transformer_block(library: Library) -> Step:
    width, hidden, heads = 256, 1024, 8
    shapes = [(3 * width, width), (width, width), (hidden, width), (width, hidden)]
    weights = [library.leaf(*shape) for shape in shapes]
    biases = [library.leaf(shape[0]) for shape in shapes]
    norms = [library.leaf(width, scale=1.0) for _ in range(4)]
    x, nn = library.data(8, 128, width), library.nn

    def loss() -> Any:
        h = nn.linear(nn.layer_norm(x, [width], norms[0], norms[1]), weights[0], biases[0])
        q, k, v = h.reshape(8, 128, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        mixed = nn.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(8, 128, width)
        y = x + nn.linear(mixed, weights[1], biases[1])
        h = nn.linear(nn.layer_norm(y, [width], norms[2], norms[3]), weights[2], biases[2])
        return (y + nn.linear(nn.gelu(h), weights[3], biases[3])).sum()

    return passes([*weights, *biases, *norms], loss)


def layer_norm(library: Library) -> Step:
    x, gain, shift = library.leaf(4096, 1024, scale=1.0), library.leaf(1024, scale=1.0), library.leaf(1024)
    weights = library.data(4096, 1024)
    return passes([x, gain, shift], lambda: (library.nn.layer_norm(x, [1024], gain, shift) * weights).sum())


BLOCKS: dict[str, Callable[[Library], Step]] = {
    "MLP 784-512-256-10, batch 128": perceptron,
    "convolution block 8x64x56x56": convolution_block,
    "transformer block 8x128x256": transformer_block,
    "layer_norm 4096x1024": layer_norm,
}
ELEMENTWISE = (
    "add sub mul div exp log sqrt sin cos tanh sigmoid relu gelu silu abs square reciprocal log1p maximum pow".split()
)


def backward(library: Library, name: str) -> Step:
    """Returns the backward pass of an elementwise operator over 1M elements."""
    operands = [library.flow.from_numpy(library.random.random(1 << 20, dtype=np.float32) + 0.5) for _ in range(2)]
    count = 2 if name in ("add", "sub", "mul", "div", "maximum", "pow") else 1
    leaves = [each.requires_grad_() for each in operands[:count]]
    result = getattr(library.flow, name, None) or getattr(library.nn, name)
    result = result(*leaves)
    grad = library.data(1 << 20)

    def step() -> None:
        result.backward(grad, retain_graph=True)
        for each in leaves:
            each.grad = None

    return step


def three_steps(name: str, block: str) -> None:
    step = BLOCKS[block](Library(name))
    for _ in range(3):
        step()


def main() -> None:
    torch.set_num_threads(flow.get_num_threads())
    both = {name: Library(name) for name in LIBRARIES}
    times = interleaved({name: small(library) for name, library in both.items()})
    report("(a * b).sum().backward(), 4 floats", times, [{"peer": "PyTorch", "at_most": 0.6}])
    for what, block in BLOCKS.items():
        times = interleaved({name: block(library) for name, library in both.items()})
        report(f"forward and backward: {what}", times, [{"peer": "PyTorch", "at_most": 1.2}])
    for what in BLOCKS:
        memory = {name: peak_gigabytes(__file__, name, what) for name in LIBRARIES}
        report(f"peak memory in GB: {what}", memory, [{"peer": "PyTorch", "at_most": 1.1}], unit="s")
    group = "backward of elementwise operators, 1M float32"
    for name in ELEMENTWISE:
        times = interleaved({library: backward(both[library], name) for library in LIBRARIES})
        report(f"{group}: {name}", times, [{"peer": "PyTorch", "at_most": 0.85}], group=group)


if __name__ == "__main__":
    print_peak(lambda: three_steps(*sys.argv[1:])) if len(sys.argv) > 1 else main()
