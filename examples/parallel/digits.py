"""Trains a network to read handwritten digits, on several processes: each learns from its part of every batch.

Usage: oneflow-run -n 4 python digits.py [--epochs N] [DATA]. This folder has the same program in JavaScript and Ruby;
the ranks of a job may run different ones. The losses are those of one process, but for rounding.
"""

import argparse
import gzip
import math
from pathlib import Path

import oneflow_py as flow

BATCH, LEARNING_RATE, HIDDEN, CLASSES = 64, 5e-3, 64, 10
comm = flow.comm


def load(path):
    """Returns the images (n, 64) and labels (n) to learn from, and those of every third image, held out."""
    with gzip.open(path, "rt") as lines:
        table = flow.tensor([[int(field) for field in line.split(",")] for line in lines])
    images, labels = table[:, :64].cast(flow.float32) / 16, table[:, 64]
    held_out = flow.arange(labels.shape[0]) % 3 == 0
    return (images[~held_out], labels[~held_out]), (images[held_out], labels[held_out])


def layer(inputs, outputs):
    """Returns random weights of a layer, and zeros."""
    return (flow.rand([outputs, inputs]) * 2 - 1) * math.sqrt(6 / inputs), flow.zeros([outputs])


def network(parameters, images):
    """Returns a score for each image and class."""
    hidden = flow.linear(images, *parameters[:2]).relu()
    return flow.linear(hidden, *parameters[2:])


def own_part(indices):
    """Returns the part of this rank."""
    return flow.tensor_split(indices, comm.world_size())[comm.rank()]


def sum_over_ranks(tensors):
    """Returns the sums of tensors over all ranks. They travel as one."""
    total = comm.all_reduce(flow.cat([each.flatten() for each in tensors]))
    parts = total.split([each.numel() for each in tensors])
    return [part.reshape(each.shape) for part, each in zip(parts, tensors, strict=False)]


def train(parameters, images, labels, epochs):
    """Trains on all images in each epoch. Yields each epoch, and its mean loss."""
    averages, squares = ([flow.zeros_like(each) for each in parameters] for _ in range(2))
    steps = 0
    for epoch in range(1, epochs + 1):
        total = 0.0
        for batch in flow.randperm(labels.shape[0]).split(BATCH):  # the same on all ranks, which have the same seed
            own = own_part(batch)
            scores = network(parameters, images[own])
            loss = flow.cross_entropy(scores, labels[own], reduction="sum") / batch.shape[0]
            gradients = flow.grad(loss, parameters)
            *gradients, loss = sum_over_ranks([*gradients, loss.detach()])
            steps += 1
            flow.optim.adam_(parameters, gradients, averages, squares, step=steps, lr=LEARNING_RATE)
            total += loss.item() * batch.shape[0]
        yield epoch, total / labels.shape[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10, help="how often to train on each image")
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).parents[1] / "data" / "digits.csv.gz")
    options = parser.parse_args()
    epochs = comm.broadcast_object(options.epochs)
    flow.manual_seed(0)
    learned, (images, labels) = load(options.data)

    parameters = [each.requires_grad_() for each in (*layer(64, HIDDEN), *layer(HIDDEN, CLASSES))]
    for epoch, loss in train(parameters, *learned, epochs):
        if comm.rank() == 0:
            print(f"epoch {epoch}: loss {loss:.4f}", flush=True)
    own = own_part(flow.arange(labels.shape[0]))
    with flow.no_grad():
        right = (network(parameters, images[own]).argmax(dim=1) == labels[own]).sum()
    right = comm.all_reduce(right).item()
    if comm.rank() == 0:
        print(f"accuracy: {right / labels.shape[0]:.4f} ({comm.world_size()} ranks)")


if __name__ == "__main__":
    main()
