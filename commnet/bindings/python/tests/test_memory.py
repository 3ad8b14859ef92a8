import pickle
import threading
from typing import Any

import pytest
from conftest import PATIENCE, Pair, wait_until

import commnet


@pytest.mark.parametrize("size", [0, 1, 100, 10_000, 5 << 20])
def test_reads_and_writes(pair: Pair, size: int) -> None:
    data = bytes(range(256)) * (size // 256) + bytes(size % 256)
    memory = pair.b.register(bytearray(data), "read+write")
    assert memory.size == size
    read = memory.token("read")
    assert read.size == size
    assert pair.peer.read(read).wait(PATIENCE) == data
    into = bytearray(size)
    assert pair.peer.read(read, into).wait(PATIENCE) is into
    assert into == data
    pair.peer.write(memory.token("write"), data[::-1]).wait(PATIENCE)
    assert pair.peer.read(read).wait(PATIENCE) == data[::-1]


def test_offsets(pair: Pair) -> None:
    buffer = bytearray(b"0123456789")
    with pair.b.register(buffer, "read+write") as memory:
        token = memory.token()
        assert pair.peer.read(token, offset=4).wait(PATIENCE) == b"456789"
        assert pair.peer.read(token, offset=4, size=2).wait(PATIENCE) == b"45"
        pair.peer.write(token, b"ab", 8).wait(PATIENCE)
        assert buffer == b"01234567ab"
        with pytest.raises(commnet.OutOfRange, match="bytes 9 to 11 are outside of the memory, which has 10"):
            pair.peer.write(token, b"ab", 9).wait(PATIENCE)
        with pytest.raises(IndexError):
            pair.peer.read(token, bytearray(11)).wait(PATIENCE)


def test_rights(pair: Pair) -> None:
    memory = pair.b.register(bytearray(4), "read+write")
    with pytest.raises(commnet.Denied, match="does not allow to write") as caught:
        pair.peer.write(memory.token("read"), b"a").wait(PATIENCE)
    assert isinstance(caught.value, PermissionError)
    assert caught.value.status == "DENIED"
    with pytest.raises(commnet.Denied, match="does not allow to read"):
        pair.peer.read(memory.token("write")).wait(PATIENCE)
    with pytest.raises(commnet.Denied, match="names no registered memory"):
        pair.peer.read(bytes(64), bytearray(1)).wait(PATIENCE)
    only_read = pair.b.register(b"abcd")
    with pytest.raises(commnet.InvalidArgument, match="does not have the rights"):
        only_read.token("write")


def test_released_memory_cannot_be_accessed_and_its_buffer_is_free(pair: Pair) -> None:
    buffer = bytearray(4)
    memory = pair.b.register(buffer)
    token = memory.token()
    with pytest.raises(BufferError):
        buffer.append(1)
    memory.release()
    memory.release()
    assert memory.is_released
    buffer.append(1)
    with pytest.raises(commnet.Denied):
        pair.peer.read(token).wait(PATIENCE)
    with pytest.raises(commnet.Closed, match="was released"):
        memory.token()


def test_memory_stays_registered_without_its_object(pair: Pair) -> None:
    token = pair.b.register(b"abcd").token()
    assert pair.peer.read(token).wait(PATIENCE) == b"abcd"


def test_closing_releases_memory(pair: Pair) -> None:
    buffer = bytearray(4)
    memory = pair.b.register(buffer)
    pair.b.close()
    assert memory.is_released
    buffer.append(1)


def test_tokens_are_bytes_that_can_be_pickled(pair: Pair) -> None:
    token = pair.b.register(b"abcd").token()
    copy = pickle.loads(pickle.dumps(token))
    assert type(copy) is commnet.Token
    assert copy == token
    assert len(copy) == 64
    assert repr(token) == str(token) == "<commnet.Token of 4 bytes>"
    assert pair.peer.read(bytes(copy)).wait(PATIENCE) == b"abcd"
    with pytest.raises(commnet.InvalidArgument, match="64 bytes, got 3"):
        commnet.Token(b"abc")


def test_numpy_arrays_are_read_and_written_in_place(pair: Pair) -> None:
    numpy = pytest.importorskip("numpy")
    theirs = numpy.arange(10.0)
    memory = pair.b.register(theirs, "read+write")
    mine = numpy.zeros((2, 5))
    assert pair.peer.read(memory.token(), mine).wait(PATIENCE) is mine
    assert mine.ravel().tolist() == list(range(10))
    pair.peer.write(memory.token(), mine[1], offset=0).wait(PATIENCE)
    assert theirs.tolist() == [5, 6, 7, 8, 9, 5, 6, 7, 8, 9]


def test_tensors_with_dlpack(pair: Pair) -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.arange(10.0)
    memory = pair.b.register(theirs, "read+write")
    mine = torch.zeros(5)
    pair.peer.read(memory.token(), mine, offset=20).wait(PATIENCE)
    assert mine.tolist() == [5, 6, 7, 8, 9]
    pair.peer.write(memory.token(), mine + 1).wait(PATIENCE)
    assert theirs.tolist() == [6, 7, 8, 9, 10, 5, 6, 7, 8, 9]
    with pytest.raises(commnet.InvalidArgument, match=r"data: the Tensor must be contiguous"):
        pair.peer.send(torch.zeros(4, 4).t()[:2])
    with pytest.raises(commnet.InvalidArgument, match=r"data: the Tensor does not give its memory"):
        pair.peer.send(torch.zeros(4, device="meta"))
    with pytest.raises(commnet.InvalidArgument, match=r"data: the Tensor does not give its memory"):
        pair.peer.send(torch.zeros(4, requires_grad=True))

    class Elsewhere:
        def __dlpack__(self) -> object: ...
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    with pytest.raises(commnet.InvalidArgument, match=r"data: the Elsewhere must be in the memory of the CPU"):
        pair.peer.send(Elsewhere())


class Exported:
    """Gives the memory of a NumPy array by DLPack only."""

    def __init__(self, array: object) -> None:
        self._array: Any = array

    def __dlpack__(self, **options: object) -> object:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> object:
        return self._array.__dlpack_device__()


def test_tensors_with_dlpack_that_are_read_only(pair: Pair) -> None:
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(4, dtype="i4")
    array.flags.writeable = False
    memory = pair.b.register(Exported(array))
    assert pair.peer.read(memory.token()).wait(PATIENCE) == array.tobytes()
    with pytest.raises(commnet.InvalidArgument, match="buffer: the Exported must be writable"):
        pair.b.register(Exported(array), "write")
    with pytest.raises(commnet.InvalidArgument, match="into: the Exported must be writable"):
        pair.peer.read(memory.token(), Exported(array))

    class Copying(Exported):
        def __dlpack__(self, **options: object) -> object:
            return super().__dlpack__(**options | {"copy": True})

    assert pair.peer.send(Copying(numpy.zeros(4))).wait(PATIENCE) is None
    with pytest.raises(commnet.InvalidArgument, match="into: the Copying must give its own memory, got a copy"):
        pair.peer.read(memory.token(), Copying(numpy.zeros(4)))


def test_tensors_with_dlpack_of_older_libraries(pair: Pair) -> None:
    numpy = pytest.importorskip("numpy")

    class Older(Exported):
        def __dlpack__(self) -> object:  # type: ignore[override]
            return super().__dlpack__()

    array = numpy.arange(4, dtype="i4")
    memory = pair.b.register(Older(array), "read+write")
    pair.peer.write(memory.token(), numpy.int32(7)).wait(PATIENCE)
    assert array.tolist() == [7, 1, 2, 3]


@pytest.mark.parametrize(
    ("capsule", "device", "text"),
    [
        (None, (1, 0), "returned no capsule of DLPack"),
        (b"bytes", (1, 0), "returned no capsule of DLPack"),
        (None, (), "does not give its memory"),
        (None, ("cpu", 0), "does not say on which device it is"),
        (None, 5, "does not give its memory"),
    ],
)
def test_objects_with_a_bad_dlpack(pair: Pair, capsule: object, device: object, text: str) -> None:
    class Bad:
        def __dlpack__(self, **options: object) -> object:
            return capsule

        def __dlpack_device__(self) -> object:
            return device

    with pytest.raises(commnet.InvalidArgument, match=text):
        pair.peer.send(Bad())


def test_a_used_capsule_is_refused(pair: Pair) -> None:
    torch = pytest.importorskip("torch")

    class Used:
        def __dlpack__(self, **options: object) -> object:
            capsule = torch.zeros(3).__dlpack__()
            torch.from_dlpack(capsule)
            return capsule

        def __dlpack_device__(self) -> object:
            return (1, 0)

    with pytest.raises(commnet.InvalidArgument, match="returned no capsule of DLPack"):
        pair.peer.send(Used())


def test_queues_complete_in_order(pair: Pair) -> None:
    data = bytes(3 << 20)
    memory = pair.b.register(data)
    queue = pair.a.queue()
    assert queue.mark().wait(PATIENCE) is None
    large = pair.peer.read(memory.token(), queue=queue)
    small = pair.peer.read(memory.token(), size=1, queue=queue)
    sent = pair.peer.send(b"x", queue=queue)
    mark = queue.mark()
    mark.wait(PATIENCE)
    assert large.done
    assert small.done
    assert sent.done
    with pytest.raises(commnet.InvalidArgument, match="belongs to another endpoint"):
        pair.peer.read(memory.token(), queue=pair.b.queue())


def test_threads_read_at_the_same_time(pair: Pair) -> None:
    data = bytes(range(256)) * 400
    token = pair.b.register(data).token()
    right: list[bool] = []

    def read() -> None:
        for _ in range(50):
            right.append(pair.peer.read(token).wait(PATIENCE) == data)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 200


def test_buffers_are_kept_until_the_end(pair: Pair) -> None:
    token = pair.b.register(bytes(8 << 20)).token()
    into = bytearray(8 << 20)
    operation = pair.peer.read(token, into)
    del operation

    def is_free() -> bool:
        try:
            into.append(1)
        except BufferError:
            return False
        return True

    wait_until(is_free)
