"""Rank 0 of the pipeline: has the digits as a tensor, which rank 1 reads, and one of guesses, which rank 2 writes."""

import gzip
import os
import pathlib
import queue
import struct

import commnet
import oneflow_py as flow

TOKEN, ROWS, LABELS, DONE = 1, 2, 3, 4  # numbers of handlers
PIXELS, LEARNT, BATCH = 64, 1000, 200


def main():
    text = gzip.decompress((pathlib.Path(__file__).parents[1] / "data" / "digits.csv.gz").read_bytes()).decode()
    table = flow.tensor([[int(value) for value in line.split(",")] for line in text.split()])
    images, labels = table[:, :PIXELS].float().contiguous(), table[:, PIXELS].contiguous()
    guesses = flow.zeros([len(labels)], dtype=flow.int64)

    with commnet.Endpoint("python", os.environ["PIPELINE_SECRET"].encode()) as endpoint:
        done = queue.SimpleQueue()
        endpoint.on_message(DONE, lambda message: done.put(bytes(message)))
        _, node, ruby = endpoint.join()
        ruby.send(endpoint.register(guesses, "write").token(), TOKEN)
        ruby.send(labels[:LEARNT], LABELS)
        node.send(endpoint.register(images).token(), TOKEN)
        firsts = [0, *range(LEARNT, len(labels), BATCH)]
        for first, end in zip(firsts, [*firsts[1:], len(labels)], strict=True):
            node.send(struct.pack("<II", first, end - first), ROWS)
        for _ in firsts[1:]:
            first, count = struct.unpack("<II", done.get(timeout=60))
            right = (guesses == labels)[first : first + count].sum().item()
            print(f"rows {first} to {first + count - 1}: {right} of {count} are right")
        accuracy = (guesses == labels)[LEARNT:].double().mean().item()
        print(f"accuracy: {accuracy:.3f}")


main()
