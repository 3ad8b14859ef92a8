"""Rank 0 of test_tensors.py, whose three ranks do the same in three languages.

Each has a tensor for each case, which the others read in place. Then each writes to the tensors of the next rank what
the last rank of the three wants there. All bytes are compared.
"""

import json
import math
import sys
import threading

import numpy

import commnet
import oneflow_py as flow

TOKEN, DONE = 1, 2  # numbers of handlers
PATIENCE = 60


def bytes_of(index: int, case: dict, salt: int) -> bytes:
    """Returns bytes that all languages can compute. They are also those of odd numbers, such as NaN with a payload."""
    count = math.prod(case["shape"]) * case["bytes"]
    return bytes((i * i * 31 + i * 7 + index * 13 + salt * 101 + (i >> 3)) & 255 for i in range(count))


def tensor_of(index: int, case: dict, salt: int) -> flow.Tensor:
    array = numpy.frombuffer(bytes_of(index, case, salt), case["dtype"]).reshape(case["shape"])
    return flow.tensor(array.copy())


def main() -> None:
    cases = json.loads(sys.argv[1])
    tokens, done = {}, 0
    changed = threading.Condition()

    def take(message: commnet.Message) -> None:
        nonlocal done
        with changed:
            if message.handler == DONE:
                done += 1
            else:
                tokens[message.peer.name, message.data[0]] = commnet.Token(message.data[1:])
            changed.notify_all()

    def wait_for(condition) -> None:
        with changed:
            assert changed.wait_for(condition, PATIENCE)

    with commnet.Endpoint("python", b"of the test") as endpoint:
        endpoint.on_message(TOKEN, take)
        endpoint.on_message(DONE, take)
        peers = endpoint.join()
        own = [tensor_of(index, case, 0) for index, case in enumerate(cases)]
        for index, tensor in enumerate(own):
            token = endpoint.register(tensor, "read+write").token()
            for peer in peers[1:]:
                peer.send(bytes([index]) + token, TOKEN)
        wait_for(lambda: len(tokens) == 2 * len(cases))
        for rank, peer in enumerate(peers):
            for index, case in enumerate(cases if peer else []):
                target = flow.zeros_like(own[index])
                peer.read(tokens[peer.name, index], target).wait(PATIENCE)
                assert target.numpy().tobytes() == bytes_of(index, case, rank), (case, peer.name)
        for peer in peers[1:]:
            peer.send(b"", DONE)
        wait_for(lambda: done >= 2)  # nobody reads any more
        for index, case in enumerate(cases):
            peers[1].write(tokens[peers[1].name, index], tensor_of(index, case, 12)).wait(PATIENCE)
        peers[1].send(b"", DONE)
        wait_for(lambda: done == 3)
        for index, case in enumerate(cases):
            assert own[index].numpy().tobytes() == bytes_of(index, case, 11), case
        print("python is right")


main()
