"""Classifies handwritten digits: standardises the pixels, projects them with PCA, and finds the k nearest neighbours.

Usage: digits.py [--device NAME] [--profile FILE] [DATA]. This folder has the same program in JavaScript and Ruby.
"""

import argparse
import contextlib
import gzip
import sys
import time
from pathlib import Path

import oneflow_py as flow

COMPONENTS, STEPS, NEIGHBOURS, CLASSES = 16, 100, 5, 10


def load(path):
    """Returns the images (n, 64) as float64 and the labels (n) as int64."""
    with gzip.open(path, "rt") as lines:
        table = flow.tensor([[int(field) for field in line.split(",")] for line in lines])
    return table[:, :64].cast(flow.float64), table[:, 64]


def standardise(train, test):
    """Scales each pixel to zero mean and unit variance over the training images. Constant pixels become zero."""
    mean, std = train.mean(dim=0), train.std(dim=0)
    scale = flow.where(std > 0, std, 1.0)
    return (train - mean) / scale, (test - mean) / scale


def principal_components(data):
    """Returns the leading eigenvectors (64, COMPONENTS) of the covariance, and their share of the variance.

    Computes them by power iteration with deflation.
    """
    covariance = flow.einsum("ni,nj->ij", data, data) / (data.shape[0] - 1)
    total = covariance.diagonal().sum()
    vectors, explained = [], 0.0
    for component in range(COMPONENTS):
        vector = flow.ones([data.shape[1]], dtype=flow.float64)
        for _ in range(STEPS):
            vector = flow.matmul(covariance, vector)
            vector = vector / (vector * vector).sum().sqrt()
        value = flow.einsum("i,ij,j->", vector, covariance, vector)
        covariance = covariance - value * flow.outer(vector, vector)
        vectors.append(vector)
        explained = explained + value / total
        print(f"\rcomponent {component + 1} of {COMPONENTS}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return flow.stack(vectors, dim=1), explained.item()


def classify(train, labels, test):
    """Returns the most frequent label among the nearest training points; of equally frequent ones, the smallest."""
    squares = (test * test).sum(dim=1, keepdim=True) + (train * train).sum(dim=1)
    distances = squares - 2 * flow.einsum("ik,jk->ij", test, train)
    _, nearest = flow.topk(distances, NEIGHBOURS, dim=1, largest=False)
    votes = labels[nearest].unsqueeze(2) == flow.arange(CLASSES)
    return votes.sum(dim=1).argmax(dim=1)


def confusion_matrix(truth, guess):
    """Counts how often each digit (row) was classified as each digit (column)."""
    matrix = flow.zeros([CLASSES, CLASSES], dtype=flow.int64)
    matrix.index_put_([truth, guess], flow.ones([truth.shape[0]], dtype=flow.int64), accumulate=True)
    return matrix


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default=flow.get_default_device(), help="the device to run on")
    parser.add_argument("--profile", type=Path, metavar="FILE", help="print a profile, and write its trace to FILE")
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).parents[1] / "data" / "digits.csv.gz")
    options = parser.parse_args()
    flow.set_default_device(options.device)
    images, labels = load(options.data)
    start = time.perf_counter()

    profile = flow.profile() if options.profile else None
    with profile or contextlib.nullcontext():
        held_out = flow.arange(images.shape[0]) % 3 == 0
        train, test = standardise(images[~held_out], images[held_out])
        basis, explained = principal_components(train)
        guess = classify(train @ basis, labels[~held_out], test @ basis)
        truth = labels[held_out]
        right = (guess == truth).sum().item()
    seconds = time.perf_counter() - start
    print(f"device: {images.device}")
    print(f"images: {train.shape[0]} to learn from, {test.shape[0]} to classify")
    print(f"variance explained by {COMPONENTS} components: {explained:.12f}")
    print(f"accuracy: {right / test.shape[0]:.6f} ({right} of {test.shape[0]})")
    print("confusion matrix:")
    print(confusion_matrix(truth, guess))
    print(f"time: {seconds:.3f} s")
    if profile:
        profile.save(options.profile)
        print(profile, end="")


if __name__ == "__main__":
    main()
