"""Workers fit a line to points: each reads the parameters from the memory of a server, and sends it gradients.

Usage: parameter_server.py [--workers 3] [--steps 500]
"""

import argparse
import array
import multiprocessing
import queue
import random

import commnet

GRADIENT, WELCOME, ADDED = 1, 2, 3  # numbers of handlers
SECRET = b"only for this example"
RIGHT = (3.0, -1.0)  # the slope and the offset of the line
RATE = 0.05


def work(address: str, number: int, steps: int) -> None:
    numbers = random.Random(number)
    tokens: queue.SimpleQueue[commnet.Token] = queue.SimpleQueue()
    with commnet.Endpoint(f"worker {number}", SECRET) as endpoint:
        endpoint.on_message(WELCOME, lambda message: tokens.put(commnet.Token(message.data)))
        added: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        endpoint.on_message(ADDED, lambda message: added.put(bytes(message)))
        server = endpoint.connect(address)
        token = tokens.get()
        parameters = array.array("d", [0.0, 0.0])
        for _ in range(steps):
            server.read(token, parameters).wait()
            x = numbers.uniform(-1, 1)
            error = parameters[0] * x + parameters[1] - (RIGHT[0] * x + RIGHT[1])
            server.send(array.array("d", [2 * error * x, 2 * error]), GRADIENT)
            added.get()  # else the next read, which does not wait for the server, may be of parameters that are old


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=3, help="how many processes compute gradients")
    parser.add_argument("--steps", type=int, default=500, help="how many gradients each sends")
    arguments = parser.parse_args()

    parameters = array.array("d", [0.0, 0.0])
    left: queue.SimpleQueue[str] = queue.SimpleQueue()

    def add(message: commnet.Message) -> None:
        for i, gradient in enumerate(message.data.cast("d")):
            parameters[i] -= RATE * gradient
        message.peer.send(b"", ADDED)

    with commnet.Endpoint("server", SECRET) as endpoint:
        memory = endpoint.register(parameters)  # workers may only read
        endpoint.on_join(lambda peer: peer.send(memory.token(), WELCOME))
        endpoint.on_leave(lambda peer, error: left.put(peer.name))
        endpoint.on_message(GRADIENT, add)
        processes = [
            multiprocessing.get_context("spawn").Process(target=work, args=(endpoint.address, number, arguments.steps))
            for number in range(arguments.workers)
        ]
        for process in processes:
            process.start()
        for process in processes:
            left.get(timeout=60)
            process.join()
    print(f"slope {parameters[0]:.3f}, offset {parameters[1]:.3f}")
    assert max(abs(found - right) for found, right in zip(parameters, RIGHT, strict=True)) < 0.01


if __name__ == "__main__":
    main()
