"""A rank of the random program of run.py. Usage: member.py SEED ROUNDS"""

import random
import struct
import sys
import threading
from collections import defaultdict, deque

import commnet

TOKEN, DATA, ECHO, BACK, END, BYE = range(1, 7)  # numbers of handlers
CHANNELS, PART, SIZES = 3, 20_000, (0, 1, 100, 17_000, 70_000)
PATIENCE = 60


def content(seed: int, size: int) -> bytes:
    return bytes((seed + 7 * i) & 255 for i in range(size))


class Member:
    def __init__(self, endpoint: commnet.Endpoint) -> None:
        self.changed = threading.Condition()
        self.tokens: dict[str, commnet.Token] = {}
        self.received: dict[tuple[str, int], int] = defaultdict(int)
        self.echoes: dict[tuple[str, int], deque[bytes]] = defaultdict(deque)
        self.ends = self.byes = 0
        self.error: Exception | None = None
        for number in (TOKEN, DATA, ECHO, BACK, END, BYE):
            endpoint.on_message(number, self.take)
        self.memory = endpoint.register(bytearray(3 * PART), "read+write")  # each rank writes to its own part
        self.peers = endpoint.join()
        self.rank = self.peers.index(None)
        for peer in self.others():
            peer.send(self.memory.token(), TOKEN)
        self.wait(lambda: len(self.tokens) == 2)
        self.model = {peer.name: bytearray(PART) for peer in self.others()}
        self.sent: dict[tuple[str, int], int] = defaultdict(int)

    def others(self) -> list[commnet.Peer]:
        return [peer for peer in self.peers if peer]

    def wait(self, condition) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.error or condition(), PATIENCE), "a peer does not go on"
        if self.error:
            raise self.error

    def take(self, message: commnet.Message) -> None:
        with self.changed:
            try:
                self.handle(message, bytes(message), (message.peer.name, message.channel))
            except Exception as error:
                self.error = error
            self.changed.notify_all()

    def handle(self, message: commnet.Message, data: bytes, where: tuple[str, int]) -> None:
        if message.handler == TOKEN:
            self.tokens[where[0]] = commnet.Token(data)
        elif message.handler == DATA:
            number, seed = struct.unpack_from("<IB", data)
            assert number == self.received[where], f"{number} of {where} came instead of {self.received[where]}"
            assert data[5:] == content(seed, len(data) - 5), f"{number} of {where} has other bytes"
            self.received[where] += 1
        elif message.handler == ECHO:
            message.peer.send(data, BACK, message.channel)
        elif message.handler == BACK:
            assert self.echoes[where].popleft() == data, f"another message came back from {where}"
        elif message.handler == END:
            assert struct.unpack("<I", data)[0] == self.received[where], f"messages of {where} are missing"
            self.ends += 1
        else:
            self.byes += 1

    def run(self, numbers: random.Random, rounds: int) -> None:
        actions = (self.write, self.send, self.echo)
        for _ in range(rounds):
            numbers.choice(actions)(numbers.choice(self.others()), numbers)
        for peer in self.others():
            for channel in range(CHANNELS):
                peer.send(struct.pack("<I", self.sent[peer.name, channel]), END, channel)
        self.wait(lambda: self.ends == 2 * CHANNELS and not any(self.echoes.values()))
        for peer in self.others():
            peer.send(b"", BYE)
        self.wait(lambda: self.byes == 2)

    def write(self, peer: commnet.Peer, numbers: random.Random) -> None:
        first = numbers.randrange(PART)
        data = content(numbers.randrange(256), numbers.randrange(PART - first))
        self.model[peer.name][first : first + len(data)] = data
        place = self.rank * PART
        peer.write(self.tokens[peer.name], data, place + first).wait(PATIENCE)
        assert peer.read(self.tokens[peer.name], offset=place, size=PART).wait(PATIENCE) == self.model[peer.name]

    def send(self, peer: commnet.Peer, numbers: random.Random) -> None:
        channel, seed = numbers.randrange(CHANNELS), numbers.randrange(256)
        number = self.sent[peer.name, channel]
        self.sent[peer.name, channel] += 1
        peer.send(struct.pack("<IB", number, seed) + content(seed, numbers.choice(SIZES)), DATA, channel)

    def echo(self, peer: commnet.Peer, numbers: random.Random) -> None:
        channel = numbers.randrange(CHANNELS)
        data = content(numbers.randrange(256), numbers.choice(SIZES))
        with self.changed:
            self.echoes[peer.name, channel].append(data)
        peer.send(data, ECHO, channel)


def main() -> None:
    seed, rounds = int(sys.argv[1]), int(sys.argv[2])
    with commnet.Endpoint("python", b"of the test") as endpoint:
        Member(endpoint).run(random.Random(seed), rounds)
    print(f"python has done {rounds} things")


main()
