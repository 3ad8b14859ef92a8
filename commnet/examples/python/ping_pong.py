"""Measures how long a message takes to another process and back.

Usage: ping_pong.py [--count 10000] [--size 8] [--transports sockets] [--busy-poll 0.00005]
"""

import argparse
import multiprocessing
import queue
import time
from multiprocessing.connection import Connection

import commnet

PING, PONG = 1, 2
SECRET = b"only for this example"


def pong(pipe: Connection, options: dict[str, object]) -> None:
    with commnet.Endpoint("pong", SECRET, **options) as endpoint:
        endpoint.on_message(PING, lambda message: message.peer.send(message.data, PONG))
        pipe.send(endpoint.address)
        pipe.recv()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="how many messages to send")
    parser.add_argument("--size", type=int, default=8, help="the bytes of each")
    parser.add_argument("--transports", help="their names, best first, with commas")
    parser.add_argument("--busy-poll", type=float, default=0.0, help="seconds to look for work before sleeping")
    arguments = parser.parse_args()

    options = {"transports": arguments.transports, "busy_poll": arguments.busy_poll}
    context = multiprocessing.get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=pong, args=(theirs, options))
    process.start()
    with commnet.Endpoint("ping", SECRET, **options) as endpoint:
        answers: queue.SimpleQueue[int] = queue.SimpleQueue()
        endpoint.on_message(PONG, lambda message: answers.put(len(message)))
        peer = endpoint.connect(pipe.recv())
        data = bytes(arguments.size)
        begin = time.perf_counter()
        for _ in range(arguments.count):
            peer.send(data, PING)
            assert answers.get() == arguments.size
        seconds = time.perf_counter() - begin
        print(f"{seconds / arguments.count * 1e6:.1f} microseconds there and back, over {peer.transport}")
    pipe.send(None)
    process.join()


if __name__ == "__main__":
    main()
