import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection

import pytest
from conftest import PATIENCE, SECRET, wait_until

import commnet

SIZE = 4 << 20


def serve(pipe: Connection) -> None:
    """Offers memory, echoes messages for 1, and waits to be told to end."""
    with commnet.Endpoint("server", SECRET) as endpoint:
        endpoint.on_message(1, lambda message: message.peer.send(bytes(message), handler=2))
        memory = endpoint.register(bytearray(b"ab" * (SIZE // 2)), "read+write")
        pipe.send((endpoint.address, memory.token()))
        pipe.recv()


@pytest.fixture(params=[None, "sockets"])
def transports(request: pytest.FixtureRequest) -> object:
    return request.param


class Server:
    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        assert self.pipe.poll(PATIENCE)
        self.address, self.token = self.pipe.recv()

    def end(self) -> None:
        self.pipe.send(None)
        self.process.join(PATIENCE)
        assert self.process.exitcode == 0


def test_messages_reads_and_writes_between_processes(transports: str | None) -> None:
    server = Server()
    with commnet.Endpoint("client", SECRET, transports) as endpoint:
        got: list[bytes] = []
        endpoint.on_message(2, lambda message: got.append(bytes(message)))
        peer = endpoint.connect(server.address)
        for i in range(1000):
            peer.send(b"%d" % i, 1)
        wait_until(lambda: len(got) == 1000)
        assert got == [b"%d" % i for i in range(1000)]
        assert type(server.token) is commnet.Token
        assert peer.read(server.token).wait(PATIENCE) == b"ab" * (SIZE // 2)
        peer.write(server.token, b"cd" * (SIZE // 2)).wait(PATIENCE)
        assert peer.read(server.token, offset=SIZE - 4).wait(PATIENCE) == b"cdcd"
    server.end()


def test_a_killed_peer_is_lost(transports: str | None) -> None:
    server = Server()
    with commnet.Endpoint("client", SECRET, transports, peer_timeout=2.0) as endpoint:
        lost = threading.Event()
        endpoint.on_leave(lambda peer, error: lost.set())
        peer = endpoint.connect(server.address)
        assert server.process.pid is not None
        os.kill(server.process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, server.process.pid, os.WSTOPPED | os.WNOWAIT)
        operation = peer.read(server.token, size=100)
        with pytest.raises(commnet.TimedOut):
            operation.wait(0.05)
        server.process.kill()
        with pytest.raises(commnet.PeerLost, match="the peer 'server' is lost"):
            operation.wait(PATIENCE)
        assert lost.wait(PATIENCE)
        assert not peer.is_connected
        with pytest.raises(ConnectionError):
            peer.send(b"")
        with pytest.raises(commnet.Unreachable):
            endpoint.connect(server.address, timeout=5)
    server.process.join(PATIENCE)
