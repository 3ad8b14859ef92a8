"""Peers, and the messages that come from them."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from commnet.errors import InvalidArgument, OutOfMemory
from commnet.memory import Token
from commnet.operation import Operation, Owner, Queue, native_of

Into = TypeVar("Into")


def _new_buffer(size: int) -> bytearray:
    if not isinstance(size, int) or size < 0:
        raise InvalidArgument(f"size must be an int from 0 on, got {size!r}")
    try:
        return bytearray(size)
    except (MemoryError, OverflowError):
        raise OutOfMemory(f"there is no memory for {size} bytes") from None


class Message:
    """A message that has arrived.

    `data` is a read-only memoryview of its bytes. They count for the window of the sender for as long as the view
    exists: copy them with bytes(message) to keep them for long.
    """

    __slots__ = ("channel", "data", "handler", "peer")

    def __init__(self, data: memoryview, peer: Peer, handler: int, channel: int) -> None:
        self.data = data
        self.peer = peer
        self.handler = handler
        self.channel = channel

    def __bytes__(self) -> bytes:
        return bytes(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<commnet.Message of {len(self)} bytes from '{self.peer.name}' for handler {self.handler}>"


class Peer:
    """Another endpoint that this one is, or was, connected to, or that its first use connects."""

    __slots__ = ("__weakref__", "_address", "_name", "_native", "_owner")

    def __init__(self, owner: Owner, address: int) -> None:
        self._owner = owner
        self._native = owner._native
        self._address = address
        self._name = self._native.peer_name(address)

    @property
    def name(self) -> str:
        """The name of the other endpoint."""
        return self._name

    @property
    def transport(self) -> str:
        """The name of the transport that connects the peer; "" before its first connection."""
        return self._native.peer_transport(self._address)

    @property
    def is_connected(self) -> bool:
        """Whether the peer is connected."""
        return self._native.peer_is_connected(self._address)

    def disconnect(self) -> None:
        """Disconnects the peer: its operations end with Cancelled, there with PeerLost."""
        self._native.disconnect(self._address)

    def send(
        self, data: Any, handler: int = 0, channel: int = 0, *, timeout: float | None = None, queue: Queue | None = None
    ) -> Operation[None]:
        """Sends the bytes of a buffer to a handler of the peer. Messages of one channel arrive in their order.

        The operation ends when the bytes may be changed: once they are on their way, not when they have arrived.
        """
        return self._owner._operation(
            self._native.send(self._address, data, handler, channel, timeout, native_of(queue))
        )

    @overload
    def read(
        self,
        token: bytes,
        into: None = None,
        offset: int = 0,
        *,
        size: int | None = None,
        timeout: float | None = None,
        queue: Queue | None = None,
    ) -> Operation[bytearray]: ...
    @overload
    def read(
        self,
        token: bytes,
        into: Into,
        offset: int = 0,
        *,
        timeout: float | None = None,
        queue: Queue | None = None,
    ) -> Operation[Into]: ...
    def read(
        self,
        token: bytes,
        into: Any = None,
        offset: int = 0,
        *,
        size: int | None = None,
        timeout: float | None = None,
        queue: Queue | None = None,
    ) -> Operation[Any]:
        """Reads from the memory that a token names, from `offset` on, until `into` is full.

        The operation returns `into`. Without it, a new bytearray gets `size` bytes, or all up to the end.
        """
        if into is None:
            into = _new_buffer(max(Token(token).size - offset, 0) if size is None else size)
        elif size is not None:
            raise InvalidArgument("read: into has a size already, so that size must not be given")
        return self._owner._operation(
            self._native.read(self._address, token, into, offset, timeout, native_of(queue)), lambda: into
        )

    def write(
        self,
        token: bytes,
        data: Any,
        offset: int = 0,
        *,
        timeout: float | None = None,
        queue: Queue | None = None,
    ) -> Operation[None]:
        """Writes the bytes of a buffer to the memory that a token names, from `offset` on. Ends when they are there."""
        return self._owner._operation(self._native.write(self._address, token, data, offset, timeout, native_of(queue)))

    def __repr__(self) -> str:
        return f"<commnet.Peer '{self._name}'>"
