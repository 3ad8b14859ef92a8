"""Compares the training of train.py with the same training in PyTorch: the losses of each step, and the time.

Usage: against_pytorch.py [--dtype NAME] [--steps N] [--plot FILE]

Both begin with the same weights and see the same batches. Dropout is off, because its random numbers differ.
"""

import argparse
import itertools
import statistics
import time
from pathlib import Path

import torch
import train as ours
from torch.nn import functional

import oneflow_py as flow

DATA = Path(__file__).parents[1] / "data" / "digits.csv.gz"
TOLERANCE = 1e-5  # of the relative difference of a loss
ours.DROPOUT = 0.0


class PyTorch:
    """The network of train.py in PyTorch, with the given weights."""

    def __init__(self, parameters, steps):
        self.p = {name: torch.tensor(each.numpy(), requires_grad=True) for name, each in parameters.items()}
        dtype = self.p["first.weight"].dtype
        self.mean, self.variance = torch.zeros(32, dtype=dtype), torch.ones(32, dtype=dtype)
        self.adam = torch.optim.Adam(self.p.values(), lr=ours.LEARNING_RATE)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.adam, lambda step: 1 - step / steps)

    def network(self, images):
        """Returns a score for each image and class."""
        p = self.p
        x = functional.conv2d(images, p["first.weight"], p["first.bias"], padding=1).relu()
        x = functional.conv2d(x, p["second.weight"], p["second.bias"], padding=1).relu()
        x = functional.batch_norm(x, self.mean, self.variance, p["norm.weight"], p["norm.bias"], training=True)
        return functional.linear(functional.max_pool2d(x, 2).flatten(1), p["last.weight"], p["last.bias"])

    def step(self, images, labels):
        """Trains on a batch, and returns the loss."""
        loss = functional.cross_entropy(self.network(images), labels)
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        self.schedule.step()
        return loss.item()


class OneFlow:
    """The network of train.py, which changes the given weights."""

    def __init__(self, parameters, steps):
        self.p = parameters
        self.statistics = {name: each.cast(parameters["first.weight"].dtype) for name, each in ours.initial_statistics().items()}
        self.adam = ours.Adam(parameters.values(), steps)

    def step(self, images, labels):
        """Trains on a batch, and returns the loss."""
        loss = flow.cross_entropy(ours.network(self.p, self.statistics, images, True), labels)
        self.adam.step(loss)
        return loss.item()
