"""Trains a convolutional network to read handwritten digits.

Usage: train.py [--seed N] [--epochs N] [--device NAME] [--quiet] [--save GRAPH] [DATA]. This folder has the same
program in JavaScript and Ruby. All of them print the same losses.
"""

import argparse
import gzip
import math
import time
from pathlib import Path

import oneflow_py as flow

BATCH, LEARNING_RATE, DROPOUT, CLASSES = 64, 5e-3, 0.5, 10


def load(path):
    """Returns the images (n, 1, 8, 8) and labels (n) to learn from, and those of every third image, held out."""
    with gzip.open(path, "rt") as lines:
        table = flow.tensor([[int(field) for field in line.split(",")] for line in lines])
    images, labels = table[:, :64].cast(flow.float32).reshape(-1, 1, 8, 8) / 16, table[:, 64]
    held_out = flow.arange(labels.shape[0]) % 3 == 0
    return (images[~held_out], labels[~held_out]), (images[held_out], labels[held_out])


def uniform(shape, inputs):
    """Returns random weights between -sqrt(6 / inputs) and sqrt(6 / inputs), which keep the variance through a relu."""
    return (flow.rand(shape) * 2 - 1) * math.sqrt(6 / inputs)


def initial_parameters():
    """Returns what the network learns, by name."""
    return {
        "first.weight": uniform([16, 1, 3, 3], inputs=9),
        "first.bias": flow.zeros([16]),
        "second.weight": uniform([32, 16, 3, 3], inputs=144),
        "second.bias": flow.zeros([32]),
        "norm.weight": flow.ones([32]),
        "norm.bias": flow.zeros([32]),
        "last.weight": uniform([CLASSES, 512], inputs=512),
        "last.bias": flow.zeros([CLASSES]),
    }


def initial_statistics():
    """Returns the mean and the variance of each channel, which batch_norm moves in training and uses otherwise."""
    return flow.zeros([32]), flow.ones([32])


def network(p, statistics, images, training):
    """Returns a score for each image and class."""
    x = flow.conv2d(images, p["first.weight"], p["first.bias"], padding=1).relu()
    x = flow.conv2d(x, p["second.weight"], p["second.bias"], padding=1).relu()
    x = flow.batch_norm(x, *statistics, p["norm.weight"], p["norm.bias"], training)
    x = flow.dropout(flow.max_pool2d(x, 2).flatten(1), DROPOUT, training)
    return flow.linear(x, p["last.weight"], p["last.bias"])


class Adam:
    """Changes parameters by Adam, with a learning rate that falls from LEARNING_RATE to 0 in a number of steps."""

    def __init__(self, parameters, steps):
        self.parameters = [each.requires_grad_() for each in parameters]
        self.averages, self.squares = ([flow.zeros_like(each) for each in self.parameters] for _ in range(2))
        self.taken, self.steps = 0, steps

    def step(self, loss):
        """Computes the gradients of a loss, and moves the parameters against them."""
        gradients = flow.grad(loss, self.parameters)
        rate = LEARNING_RATE * (1 - self.taken / self.steps)
        self.taken += 1
        flow.optim.adam_(self.parameters, gradients, self.averages, self.squares, step=self.taken, lr=rate)


def batches(images, labels):
    """Yields the images and labels in a random order, BATCH at a time."""
    for chosen in flow.randperm(labels.shape[0]).split(BATCH):
        yield images[chosen], labels[chosen]


def train(parameters, statistics, images, labels, epochs):
    """Trains on all images in each epoch. Yields each epoch, its mean loss, and the images per second."""
    count = labels.shape[0]
    adam = Adam(parameters.values(), epochs * math.ceil(count / BATCH))
    for epoch in range(1, epochs + 1):
        start, total = time.perf_counter(), 0.0
        for some, truth in batches(images, labels):
            loss = flow.cross_entropy(network(parameters, statistics, some, True), truth)
            adam.step(loss)
            total += loss.item() * truth.shape[0]
        yield epoch, total / count, count / (time.perf_counter() - start)


def count_right(parameters, statistics, images, labels):
    """Returns how many images have their highest score at the label."""
    with flow.no_grad():
        guess = network(parameters, statistics, images, False).argmax(dim=1)
    return (guess == labels).sum().item()


def save(parameters, statistics, path):
    """Saves the network as a graph for any number of images: examples/c/classify.c runs it."""
    graph = flow.graph.capture(
        lambda images: network(parameters, statistics, images, False),
        flow.ones(1, 1, 8, 8),
        dynamic={"count"},
        weights={**parameters, "mean": statistics[0], "variance": statistics[1]},
    )
    graph.save(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0, help="the seed of all random numbers")
    parser.add_argument("--epochs", type=int, default=20, help="how often to train on each image")
    parser.add_argument("--device", default=flow.get_default_device(), help="the device to run on")
    parser.add_argument("--quiet", action="store_true", help="print only the accuracy")
    parser.add_argument("--save", metavar="GRAPH", help="save the trained network to this file")
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).parents[1] / "data" / "digits.csv.gz")
    options = parser.parse_args()
    flow.set_default_device(options.device)
    flow.manual_seed(options.seed)
    learned, held_out = load(options.data)

    parameters, statistics = initial_parameters(), initial_statistics()
    for epoch, loss, rate in train(parameters, statistics, *learned, options.epochs):
        if not options.quiet:
            print(f"epoch {epoch}: loss {loss:.10f}, {rate:.0f} images/s", flush=True)
    right, count = count_right(parameters, statistics, *held_out), held_out[1].shape[0]
    print(f"accuracy: {right / count:.6f} ({right} of {count})")
    if options.save:
        save(parameters, statistics, options.save)


if __name__ == "__main__":
    main()
