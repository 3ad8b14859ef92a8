"""Adds up an array over several processes, in a ring: each writes into the memory of the next one.

Usage: ring_all_reduce.py [--processes 4] [--size 1000000]
"""

import argparse
import multiprocessing
import queue
from multiprocessing.connection import Connection

import numpy

import commnet

TOKEN, ARRIVED, TAKEN = 1, 2, 3


def reduce(rank: int, count: int, size: int, pipe: Connection) -> None:
    array = numpy.full(size, rank + 1.0, dtype="f4")
    parts = numpy.array_split(array, count)  # views
    inbox = numpy.empty(len(parts[0]), dtype="f4")  # where the previous process writes
    with commnet.Endpoint(f"rank{rank}", b"only for this example") as endpoint:
        inboxes = {number: queue.SimpleQueue() for number in (TOKEN, ARRIVED, TAKEN)}
        for number, messages in inboxes.items():
            endpoint.on_message(number, lambda message, messages=messages: messages.put(bytes(message)))
        pipe.send(endpoint.address)
        following = endpoint.connect(pipe.recv())
        previous = endpoint.connect(pipe.recv())
        previous.send(endpoint.register(inbox, "write").token(), TOKEN).wait()
        token = inboxes[TOKEN].get()

        # In the first round each part gathers its sum; in the second one the sums go around.
        for step in range(2 * (count - 1)):
            following.write(token, parts[(rank - step) % count]).wait()
            following.send(b"", ARRIVED)
            inboxes[ARRIVED].get()
            part = parts[(rank - step - 1) % count]
            part[:] = inbox[: len(part)] + (part if step < count - 1 else 0)
            previous.send(b"", TAKEN)
            inboxes[TAKEN].get()

        assert (array == count * (count + 1) / 2).all(), array
        pipe.send(f"rank {rank}: every element is {array[0]:g}")
        pipe.recv()  # the others may still read what this one has sent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=4, help="how many processes")
    parser.add_argument("--size", type=int, default=1_000_000, help="the elements of the array")
    arguments = parser.parse_args()

    context = multiprocessing.get_context("spawn")
    count = arguments.processes
    pipes, theirs = zip(*(context.Pipe() for _ in range(count)), strict=True)
    processes = [
        context.Process(target=reduce, args=(rank, count, arguments.size, theirs[rank])) for rank in range(count)
    ]
    for process in processes:
        process.start()
    addresses = [pipe.recv() for pipe in pipes]
    for rank, pipe in enumerate(pipes):
        pipe.send(addresses[(rank + 1) % count])
        pipe.send(addresses[rank - 1])
    for pipe in pipes:
        print(pipe.recv())
    for pipe in pipes:
        pipe.send(None)
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()
