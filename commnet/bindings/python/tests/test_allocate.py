"""Memory of the library, whose bytes are a buffer."""

import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading
import weakref
from multiprocessing.connection import Connection

import pytest
from conftest import PATIENCE, SECRET, Pair, wait_until

import commnet

SIZE = 1 << 20


@pytest.mark.parametrize("size", [1, 100, 10_000, 5 << 20])
def test_peers_read_and_write_allocated_memory(pair: Pair, size: int) -> None:
    data = bytes(range(256)) * (size // 256) + bytes(size % 256)
    memory = pair.b.allocate(size, "read+write")
    assert memory.size == size
    assert bytes(memory) == bytes(size)
    with memoryview(memory) as view:
        view[:] = data
        token = memory.token()
        assert token.size == size
        assert pair.peer.read(token).wait(PATIENCE) == data
        pair.peer.write(token, data[::-1]).wait(PATIENCE)
        assert view == data[::-1]
    memory.release()
    with pytest.raises(commnet.Denied):
        pair.peer.read(token, size=1).wait(PATIENCE)


def test_operations_use_allocated_memory(pair: Pair) -> None:
    theirs = pair.b.allocate(SIZE, "read+write")
    mine = pair.a.allocate(SIZE)
    memoryview(mine)[:] = b"ab" * (SIZE // 2)
    pair.peer.write(theirs.token(), mine).wait(PATIENCE)
    assert bytes(theirs) == b"ab" * (SIZE // 2)
    memoryview(theirs)[:] = b"cd" * (SIZE // 2)
    assert pair.peer.read(theirs.token(), mine).wait(PATIENCE) is mine
    assert bytes(mine) == b"cd" * (SIZE // 2)
    got: list[bytes] = []
    pair.b.on_message(1, lambda message: got.append(bytes(message)))
    pair.peer.send(mine, 1).wait(PATIENCE)
    wait_until(lambda: got == [b"cd" * (SIZE // 2)])
    # Whoever has waited for an operation may release what it has used.
    for memory in (mine, theirs):
        memory.release()


def test_rights_are_those_of_peers(pair: Pair) -> None:
    for_reading = pair.b.allocate(4)
    memoryview(for_reading)[:] = b"abcd"
    assert pair.peer.read(for_reading.token()).wait(PATIENCE) == b"abcd"
    with pytest.raises(commnet.InvalidArgument, match="does not have the rights"):
        for_reading.token("write")
    for_writing = pair.b.allocate(4, "write")
    pair.peer.write(for_writing.token(), b"efgh").wait(PATIENCE)
    assert bytes(for_writing) == b"efgh"
    with pytest.raises(commnet.Denied, match="does not allow to read"):
        pair.peer.read(for_writing.token()).wait(PATIENCE)
    with pytest.raises(commnet.InvalidArgument, match="rights must be"):
        pair.b.allocate(4, "all")


@pytest.mark.parametrize(
    ("size", "kind"),
    [
        (0, ValueError),
        (-1, ValueError),
        (1 << 64, ValueError),
        (1 << 62, MemoryError),
        (1 << 63, MemoryError),
        (1.0, TypeError),
        ("1", TypeError),
    ],
)
def test_sizes_that_are_not_possible(size: object, kind: type[Exception]) -> None:
    with commnet.Endpoint("a", SECRET) as endpoint, pytest.raises(kind):
        endpoint.allocate(size)  # type: ignore[arg-type]


def test_views_keep_memory_from_its_release(pair: Pair) -> None:
    memory = pair.b.allocate(SIZE)
    token = memory.token()
    view = memoryview(memory)[10:20]
    with pytest.raises(BufferError, match="cannot be released"):
        memory.release()
    assert not memory.is_released
    assert len(pair.peer.read(token).wait(PATIENCE)) == SIZE
    view.release()
    memory.release()
    memory.release()
    assert memory.is_released
    with pytest.raises(commnet.Closed, match="was released"):
        memoryview(memory)
    with pytest.raises(commnet.Closed, match="was released"):
        memory.token()
    with pair.b.allocate(SIZE) as scoped:
        memoryview(scoped)[0] = 1
    assert scoped.is_released


def test_registrations_keep_memory_from_its_release(pair: Pair) -> None:
    memory = pair.b.allocate(SIZE)
    again = pair.a.register(memory, "write")
    with pytest.raises(BufferError):
        memory.release()
    again.release()
    memory.release()


def test_operations_keep_memory_from_its_release() -> None:
    with (
        commnet.Endpoint("a", SECRET, "sockets", linger=0.01) as a,
        commnet.Endpoint("b", SECRET, "sockets", receive_window=1000) as b,
    ):
        peer = a.connect(b.address)
        memory = a.allocate(SIZE)
        operations = [peer.send(memory, 1) for _ in range(3)]  # nobody takes them
        with pytest.raises(BufferError):
            memory.release()
        for operation in operations:
            operation.cancel()
            with contextlib.suppress(commnet.Cancelled):  # the first one is on its way
                operation.wait(PATIENCE)
        memory.release()


def test_views_outlive_the_endpoint(pair: Pair) -> None:
    memory = pair.b.allocate(SIZE, "read+write")
    view = memoryview(memory)
    part = view[:4]
    token = memory.token()
    pair.b.close()
    assert memory.is_released
    memory.release()
    with pytest.raises(commnet.Closed):
        memoryview(memory)
    with pytest.raises(commnet.Error):
        pair.peer.read(token).wait(PATIENCE)
    reference = weakref.ref(memory)
    del memory
    pair.b = commnet.Endpoint("another", SECRET)
    view.release()
    part[:] = b"abcd"
    assert bytes(part) == b"abcd"
    assert reference() is not None
    part.release()
    assert reference() is None


def test_numpy_arrays_are_views(pair: Pair) -> None:
    numpy = pytest.importorskip("numpy")
    memory = pair.b.allocate(80, "read+write")
    theirs = numpy.frombuffer(memory)
    theirs[:] = range(10)
    mine = numpy.zeros(10)
    pair.peer.read(memory.token(), mine).wait(PATIENCE)
    assert mine.tolist() == list(range(10))
    pair.peer.write(memory.token(), mine + 1).wait(PATIENCE)
    assert theirs.tolist() == list(range(1, 11))
    last = theirs[9:]
    del theirs
    with pytest.raises(BufferError):
        memory.release()
    pair.b.close()
    del memory
    assert last.tolist() == [10]


def test_registered_memory_has_views_of_its_buffer(pair: Pair) -> None:
    buffer = bytearray(b"abcd")
    with pair.b.register(buffer, "read+write") as memory:
        memoryview(memory)[0] = ord("x")
    assert buffer == b"xbcd"
    constant = pair.b.register(b"abcd")
    assert memoryview(constant).readonly
    assert bytes(constant) == b"abcd"
    assert bytes(pair.b.register(b"")) == b""
    memory = pair.b.register(buffer)
    view = memoryview(memory)
    pair.b.close()
    with pytest.raises(BufferError):
        buffer.append(1)
    view.release()
    buffer.append(1)


def test_memory_without_an_endpoint_has_no_bytes() -> None:
    with pytest.raises(BufferError):
        memoryview(commnet.Memory.__new__(commnet.Memory))


def test_errors_do_not_keep_the_buffer() -> None:
    endpoint = commnet.Endpoint("a", SECRET)
    endpoint.close()
    buffer = bytearray(4)
    for begin in (lambda: endpoint.register(buffer), lambda: endpoint.allocate(4)):
        with pytest.raises(commnet.Closed) as caught:
            begin()
        buffer.append(1)
        assert caught.value.__traceback__ is not None


def test_two_threads_allocate_and_release(pair: Pair) -> None:
    right: list[bool] = []

    def work(number: int) -> None:
        for i in range(100):
            with pair.b.allocate(1 + 997 * i, "read+write") as memory:
                pair.peer.write(memory.token(), bytes([number]) * memory.size).wait(PATIENCE)
                right.append(pair.peer.read(memory.token()).wait(PATIENCE) == bytes([number]) * memory.size)

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 200


def test_memory_is_released_while_peers_read_it(pair: Pair) -> None:
    tokens = [pair.b.allocate(SIZE).token()]
    ends = threading.Event()
    wrong: list[BaseException] = []

    def read() -> None:
        into = bytearray(SIZE)
        while not ends.is_set():
            try:
                pair.peer.read(tokens[0], into).wait(PATIENCE)
            except commnet.Denied:
                pass
            except BaseException as error:
                wrong.append(error)
                raise

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        memory = pair.b.allocate(SIZE)
        memoryview(memory)[:] = bytes(SIZE)
        tokens[0] = memory.token()
        pair.peer.read(tokens[0], size=1).wait(PATIENCE)
        memory.release()
    ends.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_child_of_a_fork_shares_the_bytes() -> None:
    with commnet.Endpoint("a", SECRET) as endpoint, endpoint.allocate(8) as memory:
        view = memoryview(memory)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                view[:4] = b"abcd"
                view.release()
                memory.release()
                endpoint.close()
                code = 0 if memory.is_released else 2
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert bytes(view[:4]) == b"abcd"
        view.release()


END = """
import commnet, sys
endpoint = commnet.Endpoint("a", b"secret")
other = commnet.Endpoint("b", b"secret")
peer = other.connect(endpoint.address)
memory = endpoint.allocate(1 << 20, "read+write")
view = memoryview(memory)

class Last:
    def __init__(self, view): self.view = view
    def __del__(self):
        self.view[0] = 1
        print(self.view[0], flush=True)

last = Last(memoryview(memory)[5:])
cycle = [last]
cycle.append(cycle)
operation = peer.read(memory.token(), view)
sys.last = Last(view)
{end}
"""


@pytest.mark.parametrize(
    "end", ["", "del memory, endpoint, other, peer, operation", "endpoint.close()", "raise SystemExit"]
)
def test_views_at_the_end_of_the_interpreter(end: str) -> None:
    done = subprocess.run([sys.executable, "-c", END.format(end=end)], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""


def serve(pipe: Connection) -> None:
    """Offers allocated memory, counts in its first byte, and waits to be told to end."""
    with commnet.Endpoint("server", SECRET) as endpoint, endpoint.allocate(SIZE, "read+write") as memory:
        with memoryview(memory) as view:
            view[:] = b"a" * SIZE
        pipe.send((endpoint.address, memory.token()))
        pipe.recv()
        pipe.send(bytes(memory))


@pytest.mark.parametrize("transport", ["shared", "sockets", None])
def test_another_process_reads_and_writes(transport: str | None) -> None:
    context = multiprocessing.get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    assert pipe.poll(PATIENCE)
    address, token = pipe.recv()
    with commnet.Endpoint("client", SECRET, transport) as endpoint:
        peer = endpoint.connect(address)
        assert peer.transport == (transport or "shared")
        assert peer.read(token).wait(PATIENCE) == b"a" * SIZE
        peer.write(token, b"b" * (SIZE - 1), 1).wait(PATIENCE)
        pipe.send(None)
        assert pipe.poll(PATIENCE)
        assert pipe.recv() == b"a" + b"b" * (SIZE - 1)
    process.join(PATIENCE)
    assert process.exitcode == 0
