import array
import threading

import pytest
from conftest import PATIENCE, SECRET, Pair, wait_until

import commnet


def test_messages_of_a_channel_arrive_in_order(pair: Pair) -> None:
    got: list[tuple[int, bytes]] = []
    pair.b.on_message(1, lambda message: got.append((message.channel, bytes(message))))
    for i in range(1000):
        pair.peer.send(b"%d" % i, handler=1, channel=i % 2)
    wait_until(lambda: len(got) == 1000)
    for channel in range(2):
        assert [text for each, text in got if each == channel] == [b"%d" % i for i in range(channel, 1000, 2)]


@pytest.mark.parametrize("size", [0, 1, 16 << 10, (16 << 10) + 1, 1 << 20, 20 << 20])
def test_sizes(pair: Pair, size: int) -> None:
    got: list[bytes] = []
    pair.b.on_message(7, lambda message: got.append(bytes(message)))
    data = bytes(range(256)) * (size // 256) + bytes(size % 256)
    assert pair.peer.send(data, 7).wait(PATIENCE) is None
    wait_until(lambda: got)
    assert got == [data]


def test_a_message_says_where_it_comes_from_and_can_be_answered(pair: Pair) -> None:
    answers: list[commnet.Message] = []
    pair.a.on_message(2, answers.append)

    @pair.b.on_message(1)
    def answer(message: commnet.Message) -> None:
        assert (message.peer.name, message.handler, message.channel, len(message)) == ("a", 1, 5, 4)
        message.peer.send(message.data, handler=2, channel=6)

    pair.peer.send(b"ping", 1, 5)
    wait_until(lambda: answers)
    assert bytes(answers[0]) == b"ping"
    assert answers[0].peer is pair.peer
    assert answers[0].data.readonly
    assert repr(answers[0]) == "<commnet.Message of 4 bytes from 'b' for handler 2>"
    assert answer is not None


def test_kinds_of_buffers(pair: Pair) -> None:
    numpy = pytest.importorskip("numpy")
    got: list[bytes] = []
    pair.b.on_message(1, lambda message: got.append(bytes(message)))
    buffers = [
        b"ab",
        bytearray(b"ab"),
        memoryview(b"xaby")[1:3],
        array.array("i", [1, 2]),
        numpy.arange(6, dtype="f4").reshape(2, 3),
        numpy.float64(3),
    ]
    for buffer in buffers:
        pair.peer.send(buffer, 1)
    wait_until(lambda: len(got) == len(buffers))
    assert got == [memoryview(buffer).tobytes() for buffer in buffers]


def test_a_message_outlives_its_endpoint(pair: Pair) -> None:
    got: list[commnet.Message] = []
    pair.b.on_message(1, got.append)
    pair.peer.send(b"x" * 100, 1)
    wait_until(lambda: got)
    pair.close()
    assert bytes(got[0]) == b"x" * 100


def test_messages_wait_for_a_handler(pair: Pair) -> None:
    pair.peer.send(b"early", 3).wait(PATIENCE)
    got: list[bytes] = []
    pair.b.on_message(3, lambda message: got.append(bytes(message)))
    wait_until(lambda: got)
    pair.b.on_message(3, None)
    pair.peer.send(b"late", 3)
    pair.b.on_message(3, lambda message: got.append(bytes(message)))
    wait_until(lambda: len(got) == 2)
    assert got == [b"early", b"late"]


def test_an_error_of_a_handler_is_reported_and_others_go_on(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: reported.append(arguments.exc_value))
    got: list[bytes] = []

    def handle(message: commnet.Message) -> None:
        if bytes(message) == b"bad":
            raise KeyError("bad")
        got.append(bytes(message))

    pair.b.on_message(1, handle)
    pair.peer.send(b"bad", 1)
    pair.peer.send(b"good", 1)
    wait_until(lambda: got)
    assert [str(each) for each in reported] == ["'bad'"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_handler_that_exits_does_not_end_the_dispatch(pair: Pair) -> None:
    got: list[bytes] = []

    def handle(message: commnet.Message) -> None:
        got.append(bytes(message))
        raise SystemExit

    pair.b.on_message(1, handle)
    for i in range(3):
        pair.peer.send(b"%d" % i, 1)
    wait_until(lambda: len(got) == 3)


def test_a_handler_may_wait_for_operations_and_close_its_endpoint(pair: Pair) -> None:
    memory = pair.a.register(b"0123456789")
    got: list[object] = []

    def handle(message: commnet.Message) -> None:
        got.append(message.peer.read(bytes(message)).wait(PATIENCE))
        pair.b.close()
        got.append(pair.b.is_closed)

    pair.b.on_message(1, handle)
    pair.peer.send(memory.token(), 1)
    wait_until(lambda: len(got) == 2)
    assert got == [b"0123456789", True]


def test_a_peer_that_does_not_receive_is_full() -> None:
    with (
        commnet.Endpoint("a", SECRET, "sockets", send_limit=1 << 20) as a,
        commnet.Endpoint("b", SECRET, "sockets", receive_window=1 << 16) as b,
    ):
        peer = a.connect(b.address)
        operations = [peer.send(bytes(10_000), 9) for _ in range(100)]

        def fill() -> None:
            while True:
                operations.append(peer.send(bytes(10_000), 9))

        with pytest.raises(commnet.Full, match="wait for the peer 'b' already") as caught:
            fill()
        assert isinstance(caught.value, BlockingIOError)
        assert not operations[-1].done
        with pytest.raises(commnet.TimedOut, match="goes on"):
            operations[-1].wait(0.01)
        total = 0

        def count(message: commnet.Message) -> None:
            nonlocal total
            total += 1

        b.on_message(9, count)
        operations[-1].wait(PATIENCE)
        wait_until(lambda: total == len(operations))


def test_threads_send_at_the_same_time(pair: Pair) -> None:
    got: list[bytes] = []
    pair.b.on_message(1, lambda message: got.append(bytes(message)))

    def send(channel: int) -> None:
        for i in range(500):
            pair.peer.send(b"%d %d" % (channel, i), 1, channel)

    threads = [threading.Thread(target=send, args=(channel,)) for channel in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: len(got) == 2000)
    for channel in range(4):
        mine = [text for text in got if text.startswith(b"%d " % channel)]
        assert mine == [b"%d %d" % (channel, i) for i in range(500)]
