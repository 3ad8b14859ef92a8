"""Rank 0 of the pipeline: reads the digits, offers their pixels to rank 1, and counts what comes back from rank 2."""

import array
import gzip
import os
import pathlib
import queue
import struct

import commnet

TOKEN, ROWS, LABELS, GUESSES = 1, 2, 3, 4  # numbers of handlers
PIXELS, LEARNT, BATCH = 64, 400, 50


def main() -> None:
    text = gzip.decompress(pathlib.Path(__file__).with_name("digits.csv.gz").read_bytes()).decode()
    images = [[int(value) for value in line.split(",")] for line in text.split()]
    pixels = array.array("f", [value for image in images for value in image[:PIXELS]])
    labels = bytes(image[PIXELS] for image in images)

    with commnet.Endpoint("python", os.environ["PIPELINE_SECRET"].encode()) as endpoint:
        guesses: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        endpoint.on_message(GUESSES, lambda message: guesses.put(bytes(message)))
        _, node, ruby = endpoint.join()
        print(f"{endpoint.name}, {node.name} and {ruby.name} have {len(images)} digits, and learn from {LEARNT}")
        ruby.send(labels[:LEARNT], LABELS)
        node.send(endpoint.register(pixels).token(), TOKEN)
        node.send(struct.pack("<II", 0, LEARNT), ROWS)
        for first in range(LEARNT, len(images), BATCH):
            node.send(struct.pack("<II", first, BATCH), ROWS)

        right = 0
        for first in range(LEARNT, len(images), BATCH):
            batch = guesses.get(timeout=60)
            count = sum(guess == label for guess, label in zip(batch, labels[first:], strict=False))
            print(f"rows {first} to {first + BATCH - 1}: {count} of {len(batch)} are right")
            right += count
        print(f"accuracy: {right / (len(images) - LEARNT):.3f}")


main()
