import array
import faulthandler
import os
import signal
import threading

import pytest
from conftest import PATIENCE, SECRET, Pair, wait_until

import commnet


def test_every_error_is_also_one_of_python() -> None:
    kinds = {
        commnet.InvalidArgument: ValueError,
        commnet.Denied: PermissionError,
        commnet.OutOfRange: IndexError,
        commnet.PeerLost: ConnectionError,
        commnet.Unreachable: ConnectionError,
        commnet.TimedOut: TimeoutError,
        commnet.Full: BlockingIOError,
        commnet.OutOfMemory: MemoryError,
        commnet.SystemFailure: OSError,
        commnet.NoHandler: LookupError,
        commnet.InternalError: RuntimeError,
        commnet.Cancelled: Exception,
        commnet.Closed: Exception,
        commnet.Unsupported: Exception,
    }
    for kind, base in kinds.items():
        assert issubclass(kind, commnet.Error)
        assert issubclass(kind, base)
        assert str(kind("a text")) == "a text"
    assert len({kind.status for kind in kinds}) == 14


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"name": "a@b"}, ValueError, "name"),
        ({"name": "a\0b"}, commnet.InvalidArgument, "name must not contain a zero character"),
        ({"name": 3}, TypeError, "name must be a str, got int"),
        ({"secret": "text"}, TypeError, "bytes-like"),
        ({"transports": "telepathy"}, commnet.Error, "telepathy"),
        ({"listen": "nowhere"}, commnet.Error, "nowhere"),
        ({"busy_poll": -1.0}, commnet.InvalidArgument, "busy_poll must be from 0 to 4294 seconds, got -1.0"),
        ({"busy_poll": float("nan")}, commnet.InvalidArgument, "busy_poll"),
        ({"peer_timeout": "1"}, TypeError, "peer_timeout must be a number of seconds, got str"),
        ({"streams": 17}, commnet.InvalidArgument, "streams must be at most 16, got 17"),
        ({"send_limit": -1}, commnet.InvalidArgument, "send_limit must be from 0 to"),
        ({"send_limit": 1 << 100}, commnet.InvalidArgument, "send_limit must be from 0 to"),
    ],
)
def test_options(options: dict[str, object], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        commnet.Endpoint(**options)  # type: ignore[arg-type]


def test_arguments(pair: Pair) -> None:
    memory = pair.b.register(bytearray(4), "read+write")
    token = memory.token()
    refused = [
        (lambda: pair.peer.send("text"), TypeError, "data must have the buffer protocol or DLPack, got str"),
        (lambda: pair.peer.send(b"", handler=-1), ValueError, "handler must be from 0 to 4294967295, got -1"),
        (lambda: pair.peer.send(b"", handler=1.5), TypeError, "handler must be an int, got float"),
        (lambda: pair.peer.send(b"", channel=1 << 32), ValueError, "channel must be from 0 to"),
        (lambda: pair.peer.send(b"", timeout=-1), ValueError, "timeout must be from 0 to"),
        (lambda: pair.peer.send(b"", timeout=10**400), ValueError, "timeout must be from 0 to"),
        (lambda: pair.peer.send(b"", queue=pair.a), TypeError, "queue must be a Queue, got Endpoint"),
        (lambda: pair.peer.send(memoryview(b"abcd")[::2]), ValueError, "data must be a contiguous buffer"),
        (lambda: pair.peer.read(token, b"abcd"), ValueError, "into must be a contiguous, writable buffer"),
        (lambda: pair.peer.read(token, bytearray(1), size=1), ValueError, "size must not be given"),
        (lambda: pair.peer.read(b"abc", bytearray(1)), ValueError, "token must have 64 bytes, got 3"),
        (lambda: pair.peer.read(None), TypeError, "NoneType"),
        (lambda: pair.peer.read(b"x" * 64), MemoryError, "there is no memory for [0-9]* bytes"),
        (lambda: pair.peer.read(token, size=1 << 100), commnet.OutOfMemory, "there is no memory for"),
        (lambda: pair.peer.read(token, size=-1), ValueError, "size must be an int from 0 on, got -1"),
        (lambda: pair.peer.read(token, size=1.5), ValueError, "size must be an int"),
        (lambda: pair.peer.read(token, offset=-1), ValueError, "offset"),
        (lambda: pair.peer.write(token, b"", offset=1 << 64), ValueError, "offset must be from 0 to"),
        (lambda: pair.b.register(b"abcd", "write"), ValueError, "buffer must be a contiguous, writable buffer"),
        (lambda: pair.b.register(bytearray(4), "all"), ValueError, "rights must be 'read', 'write' or 'read.write'"),
        (lambda: pair.b.register(array), TypeError, "buffer must have the buffer protocol or DLPack, got module"),
        (lambda: pair.a.connect(5), TypeError, "address must be a str, got int"),
        (lambda: pair.a.connect("\ud800"), ValueError, "address must not contain surrogates"),
        (lambda: pair.b.register(bytearray(4), memoryview(bytearray(1))), ValueError, "rights must be"),
        (lambda: pair.a.on_join(5), TypeError, "on_join: expected a function, got int"),
        (lambda: pair.a.on_leave("x"), TypeError, "on_leave: expected a function, got str"),
        (lambda: pair.a.connect("somewhere"), commnet.Unsupported, "somewhere"),
        (lambda: pair.a.connect(pair.a.address), ValueError, "cannot connect to itself"),
        (lambda: pair.a.on_message(1, 5), TypeError, "expected a function, got int"),
        (lambda: pair.a.on_message("1", print), TypeError, "handler must be an int, got str"),
        (lambda: pair.peer.read(token).wait("soon"), TypeError, "timeout must be a number of seconds, got str"),
    ]
    for call, kind, text in refused:
        with pytest.raises(kind, match=text):
            call()
    assert pair.peer.read(token).wait(PATIENCE) == bytes(4)


def test_a_coroutine_function_is_no_handler(pair: Pair) -> None:
    async def handle(message: commnet.Message) -> None: ...

    with pytest.raises(TypeError, match="messages"):
        pair.a.on_message(1, handle)


def test_a_wrong_secret_is_denied() -> None:
    with commnet.Endpoint("a", b"one") as a, commnet.Endpoint("b", b"another") as b, pytest.raises(commnet.Denied):
        a.connect(b.address)


def test_nobody_answers() -> None:
    with commnet.Endpoint("a", SECRET, "sockets") as a, pytest.raises(commnet.Unreachable):
        a.connect("tcp://127.0.0.1:1")


def test_closed_endpoints_refuse_everything(pair: Pair) -> None:
    token = pair.b.register(b"abcd").token()
    queue = pair.a.queue()
    pair.a.close()
    pair.a.close()
    assert not pair.peer.is_connected
    assert pair.a.name == "a"
    assert pair.peer.name == "b"
    for call in (
        lambda: pair.peer.send(b""),
        lambda: pair.peer.read(token),
        lambda: pair.peer.write(token, b""),
        lambda: pair.peer.disconnect(),
        lambda: pair.peer.transport,
        lambda: pair.a.connect(pair.b.address),
        lambda: pair.a.find_peer("b"),
        lambda: pair.a.register(b""),
        lambda: pair.a.on_message(1, print),
        lambda: pair.a.on_message(1, None),
        lambda: pair.a.on_join(print),
        lambda: pair.a.queue(),
        lambda: queue.mark(),
    ):
        with pytest.raises(commnet.Closed, match="the endpoint is closed"):
            call()


def test_closing_ends_operations_with_cancelled() -> None:
    with commnet.Endpoint("b", SECRET, "sockets", receive_window=1 << 16) as b:
        a = commnet.Endpoint("a", SECRET, "sockets")
        peer = a.connect(b.address)
        operations = [peer.send(bytes(30_000)) for _ in range(20)]
        waiting = operations[-1]
        errors: list[Exception] = []

        def wait() -> None:
            try:
                waiting.wait()
            except commnet.Error as error:
                errors.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        a.close()
        thread.join(PATIENCE)
        assert [type(error) for error in errors] == [commnet.Cancelled]
        assert waiting.done


def test_cancel_and_timeout() -> None:
    with (
        commnet.Endpoint("a", SECRET, "sockets") as a,
        commnet.Endpoint("b", SECRET, "sockets", receive_window=1 << 16) as b,
    ):
        peer = a.connect(b.address)
        for _ in range(20):
            peer.send(bytes(30_000))
        cancelled = peer.send(bytes(30_000))
        cancelled.cancel()
        cancelled.cancel()
        with pytest.raises(commnet.Cancelled):
            cancelled.wait(PATIENCE)
        late = peer.send(bytes(30_000), timeout=0.05)
        with pytest.raises(commnet.TimedOut, match="longer than its timeout"):
            late.wait(PATIENCE)


def test_peers_join_and_leave(pair: Pair) -> None:
    joined: list[commnet.Peer] = []
    left: list[tuple[str, type]] = []
    with commnet.Endpoint("c", SECRET) as c:
        c.on_join(joined.append)
        c.on_leave(lambda peer, error: left.append((peer.name, type(error))))
        assert c.find_peer("a") is None
        peer = pair.a.connect(c.address)
        wait_until(lambda: joined)
        assert joined[0] is c.find_peer("a")
        peer.disconnect()
        wait_until(lambda: left)
        assert left == [("a", commnet.PeerLost)]
        assert not peer.is_connected
        with pytest.raises(commnet.PeerLost, match="the peer 'c' is not connected"):
            peer.send(b"")
        pair.a.connect(c.address)
        assert peer.is_connected


def test_an_interrupt_ends_a_wait(pair: Pair) -> None:
    with (
        commnet.Endpoint("c", SECRET, "sockets", receive_window=1 << 16) as c,
        commnet.Endpoint("d", SECRET, "sockets") as d,
    ):
        peer = d.connect(c.address)
        operations = [peer.send(bytes(30_000)) for _ in range(20)]
        faulthandler.dump_traceback_later(PATIENCE, exit=True)  # nothing but the interrupt ends the wait
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            operations[-1].wait()
        faulthandler.cancel_dump_traceback_later()
