"""Compares the training of train.py with the same training in PyTorch: the loss of each step, and the time of an epoch.

Usage: against_pytorch.py [--steps N] [--rate R] [--seed N] [--plot FILE]

Both begin with the same weights and see the same batches, without dropout, because its random numbers differ. Training
magnifies differences of rounding: a sum that is rounded to the other side of 0 switches a relu. So the losses agree to
about the precision of float32 at first, and may part later. In float64, all steps must agree: if they do not, the exit
status is 1.
"""

import argparse
import itertools
import math
import statistics
import sys
import time
from pathlib import Path

import torch
import train as example
from torch.nn import functional

import oneflow_py as flow

DATA = Path(__file__).parents[1] / "data" / "digits.csv.gz"
TOLERANCE = {"float32": 1e-5, "float64": 1e-10}  # of the relative difference of a loss
THREADS, EPOCHS = 2, 15  # how the time is measured

example.DROPOUT = 0.0


class OneFlow:
    """The training of train.py, which changes the given parameters."""

    def __init__(self, parameters, steps):
        dtype = parameters["first.weight"].dtype
        self.parameters = parameters
        self.statistics = [each.cast(dtype) for each in example.initial_statistics()]
        self.adam = example.Adam(parameters.values(), steps)

    def step(self, images, labels):
        """Trains on a batch, and returns the loss."""
        loss = flow.cross_entropy(example.network(self.parameters, self.statistics, images, True), labels)
        self.adam.step(loss)
        return loss.item()


class PyTorch:
    """The same training in PyTorch, with copies of the given parameters."""

    def __init__(self, parameters, steps):
        self.parameters = {name: as_torch(each).requires_grad_() for name, each in parameters.items()}
        self.statistics = [as_torch(each).to(self.parameters["first.weight"]) for each in example.initial_statistics()]
        self.adam = torch.optim.Adam(self.parameters.values(), lr=example.LEARNING_RATE)
        self.rate = torch.optim.lr_scheduler.LambdaLR(self.adam, lambda taken: 1 - taken / steps)

    def network(self, images):
        """Returns a score for each image and class."""
        p = self.parameters
        x = functional.conv2d(images, p["first.weight"], p["first.bias"], padding=1).relu()
        x = functional.conv2d(x, p["second.weight"], p["second.bias"], padding=1).relu()
        x = functional.batch_norm(x, *self.statistics, p["norm.weight"], p["norm.bias"], training=True)
        return functional.linear(functional.max_pool2d(x, 2).flatten(1), p["last.weight"], p["last.bias"])

    def step(self, images, labels):
        """Trains on a batch, and returns the loss."""
        loss = functional.cross_entropy(self.network(images), labels)
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        self.rate.step()
        return loss.item()


def as_torch(tensor):
    """Returns a copy of a tensor as one of PyTorch."""
    return torch.from_dlpack(tensor.detach()).clone()


class Trial:
    """The same training in oneflow and in PyTorch, with parameters and batches that follow from a seed."""

    def __init__(self, dtype, seed, steps):
        flow.manual_seed(seed)
        (images, labels), _ = example.load(DATA)
        self.batches = list(example.batches(images.cast(dtype), labels))
        self.torch_batches = [(as_torch(images), as_torch(labels)) for images, labels in self.batches]
        parameters = {name: each.cast(dtype) for name, each in example.initial_parameters().items()}
        self.pytorch, self.oneflow = PyTorch(parameters, steps), OneFlow(parameters, steps)

    def losses(self, steps):
        """Returns the losses of a number of steps in oneflow, and those in PyTorch."""
        return (
            [self.oneflow.step(*batch) for batch in itertools.islice(itertools.cycle(self.batches), steps)],
            [self.pytorch.step(*batch) for batch in itertools.islice(itertools.cycle(self.torch_batches), steps)],
        )

    def times(self):
        """Returns the median time of an epoch in oneflow, and that in PyTorch.

        They take turns of two epochs, of which the first is not timed: idle threads of the other library still run.
        """
        turns = [(self.oneflow, self.batches), (self.pytorch, self.torch_batches)]
        times = [], []
        for _ in range(EPOCHS):
            for (library, batches), found in zip(turns, times, strict=True):
                for timed in (False, True):
                    start = time.perf_counter()
                    for batch in batches:
                        library.step(*batch)
                    if timed:
                        found.append(time.perf_counter() - start)
        return map(statistics.median, times)


def compare(dtype, losses, others):
    """Prints how far the losses of all steps agree. Returns whether they agree within the tolerance."""
    differences = [abs(loss - other) / other for loss, other in zip(losses, others, strict=True)]
    largest, tolerance = max(differences), TOLERANCE[dtype]
    above = next((step for step, each in enumerate(differences, start=1) if each > tolerance), None)
    print(f"{dtype}: the losses of {len(losses)} steps fall from {losses[0]:.6f} to {losses[-1]:.6f}")
    print(f"  largest relative difference to PyTorch: {largest:.1e}, at step {differences.index(largest) + 1}")
    print(f"  first step with more than {tolerance:.0e}: {above or 'none'}")
    return above is None


def picture(losses, others):
    """Returns an SVG picture of the losses by step, on a logarithmic axis."""
    width, height, left, top = 560, 240, 44, 34
    steps, lowest, highest = len(losses), min(*losses, *others), max(*losses, *others)

    def level(loss):
        return top + height * math.log(highest / loss) / math.log(highest / lowest)

    def points(curve):
        return " ".join(f"{left + width * i / steps:.1f},{level(loss):.1f}" for i, loss in enumerate(curve, start=1))

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {top + height + 46}">',
        "  <style>",
        "    text { font: 12px sans-serif; fill: #444; text-anchor: middle }",
        "    line { stroke: #ddd }",
        "    polyline { fill: none; stroke-linejoin: round }",
        "    .pytorch { stroke: #f2b880; stroke-width: 6 }",
        "    .oneflow { stroke: #1f5fa8; stroke-width: 1.5 }",
        "  </style>",
        '  <rect width="100%" height="100%" fill="#fff"/>',
    ]
    for exponent in range(math.ceil(math.log10(lowest)), math.floor(math.log10(highest)) + 1):
        y = level(10**exponent)
        lines.append(f'  <line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'  <text x="{left - 20}" y="{y + 4:.1f}">{10**exponent:g}</text>')
    for mark in range(6):
        x = left + width * mark / 5
        lines.append(f'  <text x="{x:.1f}" y="{top + height + 20}">{steps * mark / 5:.0f}</text>')
    lines += [
        f'  <text x="{left + width / 2}" y="{top + height + 38}">step</text>',
        f'  <text x="{left + width / 2}" y="20">loss of the same training in PyTorch and in oneflow</text>',
        f'  <polyline class="pytorch" points="{points(others)}"/>',
        f'  <polyline class="oneflow" points="{points(losses)}"/>',
    ]
    for row, name in enumerate(["PyTorch", "oneflow"]):
        x, y = left + width - 110, top + 20 * (row + 1)
        lines.append(f'  <polyline class="{name.lower()}" points="{x},{y} {x + 30},{y}"/>')
        lines.append(f'  <text x="{x + 66}" y="{y + 4}">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100, help="how many steps are compared")
    parser.add_argument("--rate", type=float, default=example.LEARNING_RATE, help="the learning rate of the first step")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the weights and of the order of the images")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the losses in float32 to an SVG file")
    options = parser.parse_args()
    example.LEARNING_RATE = options.rate
    flow.set_num_threads(THREADS)
    torch.set_num_threads(THREADS)

    single = Trial("float32", options.seed, options.steps).losses(options.steps)
    double = Trial("float64", options.seed, options.steps).losses(options.steps)
    compare("float32", *single)
    agree = compare("float64", *double)
    if options.plot:
        options.plot.write_text(picture(*single))

    trial = Trial("float32", options.seed, 2 * EPOCHS * options.steps)
    ours, theirs = trial.times()
    print(f"time of an epoch ({len(trial.batches)} steps in float32, {THREADS} threads):")
    print(f"  oneflow {ours * 1e3:.1f} ms, PyTorch {theirs * 1e3:.1f} ms, ratio {ours / theirs:.2f}")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
