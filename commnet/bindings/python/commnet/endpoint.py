"""Endpoints: what a process takes part with."""

from __future__ import annotations

import asyncio
import atexit
import inspect
import os
import time
import warnings
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, TypeVar, overload

from commnet import _native
from commnet.dispatch import Dispatcher
from commnet.errors import Error, InvalidArgument, error_of
from commnet.memory import Memory, rights_of
from commnet.operation import Operation, Queue
from commnet.peer import Message, Peer

_Function = TypeVar("_Function", bound=Callable[..., object])

# For how many seconds a process that ends waits for handlers that run.
_LONGEST_EXIT = 1.0

# Instead of a function: on_message() is a decorator.
_DECORATES = object()

_open: weakref.WeakSet[Endpoint] = weakref.WeakSet()


class Endpoint:
    """What a process takes part with: it has a name, a secret that it shares with its peers, and transports.

    Functions that are set by on_message(), on_join() and on_leave() run one at a time: in the asyncio loop that runs
    where the endpoint is first used, or else on a thread of the endpoint. Use it as a context manager, or call close().
    """

    def __init__(
        self,
        name: str | None = None,
        secret: bytes | None = None,
        transports: str | Iterable[str] | None = None,
        listen: str | Iterable[str] | None = None,
        *,
        busy_poll: float = 0.0,
        peer_timeout: float | None = None,
        streams: int | None = None,
        receive_window: int | None = None,
        send_limit: int | None = None,
        message_limit: int | None = None,
        linger: float | None = None,
    ) -> None:
        """Creates an endpoint. None means the default of the library.

        name: unique in a job; default: host name, process and a number
        secret: what all endpoints of a job know, and nobody else; default: none
        transports: names, best first, such as ["memory", "shared", "sockets"]; default: all that are available
        listen: where peers can connect: "tcp://0.0.0.0:7000", "unix:/run/job/a", "shared:a", a list of them, or "none";
            default: a free port of 127.0.0.1, and a Unix socket without a file. Processes of the user on this machine
            can connect through shared memory, unless it is "none"
        busy_poll: for how many seconds to look for work before sleeping: lowers the latency, takes a processor;
            default: some microseconds, while that spares sleeps
        peer_timeout: seconds after which a silent peer is lost; default: 10
        streams: connections per peer over TCP, for large reads and writes; default: 2
        receive_window: bytes of messages from each peer that are kept before they are handled; default: 8 MiB
        send_limit: bytes of messages to each peer that wait for its window; beyond it, send() raises Full
        message_limit: the most bytes of a message that is received; default: 1 GiB
        linger: for how many seconds close() waits until messages are on their way; default: 1
        """
        self._native = _native.Endpoint(
            name,
            None if secret is None else bytes(memoryview(secret)),
            _joined(transports),
            _joined(listen),
            busy_poll,
            0.0 if peer_timeout is None else peer_timeout,
            0 if streams is None else streams,
            0 if receive_window is None else receive_window,
            0 if send_limit is None else send_limit,
            0 if message_limit is None else message_limit,
            0.0 if linger is None else linger,
        )
        self._name = self._native.name
        self._address = self._native.address
        self._peers: dict[int, Peer] = {}
        self._memories: set[Memory] = set()
        self._handlers: dict[int, Callable[[Message], object]] = {}
        # Messages that were taken for handlers that are gone.
        self._unclaimed: dict[int, deque[Message]] = {}
        self._streams: set[_Stream] = set()
        self._on_join: Callable[[Peer], object] | None = None
        self._on_leave: Callable[[Peer, Error], object] | None = None
        self._dispatcher = Dispatcher(self._native, self._name, weakref.WeakMethod(self._handle))
        _open.add(self)

    # -- life

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def address(self) -> str:
        """The address that peers connect to."""
        return self._address

    @property
    def is_closed(self) -> bool:
        """Whether the endpoint was closed."""
        return self._native.is_closed

    def close(self) -> None:
        """Closes the endpoint: peers see it leave, its operations end with Cancelled, and its memory is released.

        Warns if messages could not be sent within the time to linger.
        """
        self._close(waits=True)

    def _close(self, waits: bool) -> None:
        if not self._native.is_closed:
            callbacks, unsent = self._native.close()
            self._settle(callbacks)
            if unsent:
                warnings.warn(unsent, RuntimeWarning, stacklevel=3)
        self._dispatcher.stop()
        if waits:
            self._dispatcher.wait()

    def _settle(self, callbacks: list[Callable[[], object]]) -> None:
        for callback in callbacks:
            callback()
        for memory in list(self._memories):
            memory._retire()
        self._memories.clear()
        for stream in list(self._streams):
            stream.end()

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Endpoint:
        self._dispatcher.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        # Closing waits until what was sent has left, and for handlers on another thread.
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def __del__(self) -> None:
        if hasattr(self, "_dispatcher"):
            self._close(waits=False)

    # -- peers

    def connect_async(self, address: str, timeout: float | None = None) -> Operation[Peer]:
        """Connects to an endpoint by its address. The operation returns the peer."""
        native = self._native.connect(address, timeout)
        return self._operation(native, lambda: self._peer(native.peer))

    def connect(self, address: str, timeout: float | None = 5.0) -> Peer:
        """Connects to an endpoint by its address, waits for at most `timeout` seconds, and returns the peer."""
        operation = self.connect_async(address, timeout)
        try:
            return operation.wait()
        except BaseException:
            operation.cancel()
            raise

    def join(
        self,
        rank: int | None = None,
        size: int | None = None,
        meeting: str | None = None,
        timeout: float | None = None,
    ) -> list[Peer | None]:
        """Connects with all other endpoints of a job, and returns the peers by their rank; None at the own rank.

        rank, size: the number of this endpoint, and how many there are; default: from the environment of mpirun or
            Slurm, or COMMNET_RANK and COMMNET_SIZE
        meeting: "file:/a/folder" that all processes share and that is empty before, or "tcp://host:port", where the
            endpoint of rank 0 opens a rendezvous service; default: COMMNET_MEETING
        timeout: seconds; default: 60
        """
        if (rank is None) != (size is None):
            raise InvalidArgument("join: rank and size belong together")
        if size == 0:
            raise InvalidArgument("join: size must be at least 1, got 0")
        numbers = (0, 0) if rank is None or size is None else (rank, size)
        peers = self._native.join(*numbers, "" if meeting is None else meeting, timeout)
        return [self._peer(peer) if peer else None for peer in peers]

    async def join_async(
        self,
        rank: int | None = None,
        size: int | None = None,
        meeting: str | None = None,
        timeout: float | None = None,
    ) -> list[Peer | None]:
        """Does what join() does, while the loop goes on. Who no longer wants to wait closes the endpoint."""
        self._dispatcher.start()
        return await asyncio.get_running_loop().run_in_executor(None, self.join, rank, size, meeting, timeout)

    def find_peer(self, name: str) -> Peer | None:
        """Returns the connected peer of a name."""
        found = self._native.find_peer(name)
        return self._peer(found) if found else None

    def on_join(self, function: Callable[[Peer], object] | None) -> None:
        """Has function(peer) called when a peer has connected, whoever began. None: no longer."""
        _check_function("on_join", function)
        self._on_join = function
        self._watch_peers()

    def on_leave(self, function: Callable[[Peer, Error], object] | None) -> None:
        """Has function(peer, error) called when a peer has left or was lost. None: no longer."""
        _check_function("on_leave", function)
        self._on_leave = function
        self._watch_peers()

    def _watch_peers(self) -> None:
        self._native.watch_peers(bool(self._on_join or self._on_leave))
        self._dispatcher.start()

    def _peer(self, address: int) -> Peer:
        peer = self._peers.get(address)
        if peer is None:
            peer = self._peers.setdefault(address, Peer(self, address))
        return peer

    # -- operations

    def queue(self) -> Queue:
        """Creates a queue, whose operations complete in the order in which they began."""
        return Queue(self, self._native.queue())

    def _operation(self, native: _native.Operation, result: Callable[[], Any] = lambda: None) -> Operation[Any]:
        self._dispatcher.start()
        return Operation(self, native, result)

    # -- memory

    def register(self, buffer: Any, rights: str = "read") -> Memory:
        """Registers a buffer, so that peers may "read" it, "write" it, or both: "read+write".

        It stays registered until the memory is released or the endpoint is closed.
        """
        number = rights_of(rights)
        memory = Memory(self, rights)
        self._native.register(memory, buffer, number)
        return self._keep(memory)

    def allocate(self, size: int, rights: str = "read") -> Memory:
        """Allocates `size` bytes, which are zero, and registers them as register() does.

        Peers of the same host and user read and write them without a system call. memoryview(memory) and
        numpy.frombuffer(memory) are views of them. release() frees them; after the endpoint was closed, they live as
        long as their views.
        """
        number = rights_of(rights)
        memory = Memory(self, rights)
        self._native.allocate(memory, size, number)
        return self._keep(memory)

    def _keep(self, memory: Memory) -> Memory:
        self._memories.add(memory)
        if self._native.is_closed:  # by another thread meanwhile
            memory._retire()
        return memory

    def _forget(self, memory: Memory) -> None:
        self._memories.discard(memory)

    # -- messages

    @overload
    def on_message(self, handler: int) -> Callable[[_Function], _Function]: ...
    @overload
    def on_message(self, handler: int, function: Callable[[Message], object] | None) -> None: ...
    def on_message(self, handler: int, function: Any = _DECORATES) -> Any:
        """Has function(message) called for each message for a handler's number. None removes it.

        Without the function, returns a decorator for it. Messages without a handler wait for one.
        """
        if function is not _DECORATES:
            return self._set_handler(handler, function)

        def decorate(function: _Function) -> _Function:
            self._set_handler(handler, function)
            return function

        return decorate

    def _set_handler(self, handler: int, function: Callable[[Message], object] | None) -> None:
        _check_function("on_message", function)
        if function is None:
            self._native.set_handler(handler, False)
            self._handlers.pop(handler, None)
            return
        while waiting := self._unclaimed.pop(handler, None):
            for message in waiting:
                function(message)
        self._handlers[handler] = function
        self._native.set_handler(handler, True)
        self._dispatcher.start()

    async def messages(self, handler: int) -> AsyncGenerator[Message, None]:
        """Iterates over the messages for a handler's number, until the endpoint is closed."""
        stream = _Stream()
        self._streams.add(stream)
        self.on_message(handler, stream.put)
        try:
            while (message := await stream.get()) is not None:
                yield message
        finally:
            self._streams.discard(stream)
            if not self.is_closed:
                if self._handlers.get(handler) == stream.put:
                    self.on_message(handler, None)
                if left := stream.rest():
                    self._unclaimed.setdefault(handler, deque()).extend(left)

    # -- events

    def _handle(self, event: tuple[Any, ...]) -> None:
        kind = event[0]
        if kind == 1:
            event[1]()
        elif kind == 2:
            _, data, peer, number, channel = event
            if self._native.is_closed:
                return
            message = Message(memoryview(data), self._peer(peer), number, channel)
            function = self._handlers.get(number)
            if function is None:
                self._unclaimed.setdefault(number, deque()).append(message)
            else:
                function(message)
        elif kind == 3 and self._on_join:
            self._on_join(self._peer(event[1]))
        elif kind == 4 and self._on_leave:
            self._on_leave(self._peer(event[1]), error_of(event[2], event[3]))

    def __repr__(self) -> str:
        return f"<commnet.Endpoint '{self._name}'{' (closed)' if self.is_closed else ''}>"


class _Stream:
    """Messages between who takes them and a coroutine that iterates over them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: deque[Message] = deque()
        self._changed = asyncio.Event()
        self._has_ended = False

    def put(self, message: Message) -> None:
        self._messages.append(message)
        self._notify()

    def end(self) -> None:
        self._has_ended = True
        self._notify()

    def _notify(self) -> None:
        if asyncio._get_running_loop() is self._loop:
            self._changed.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed.set)

    async def get(self) -> Message | None:
        while not self._messages:
            if self._has_ended:
                return None
            self._changed.clear()
            if not self._messages and not self._has_ended:
                await self._changed.wait()
        return self._messages.popleft()

    def rest(self) -> list[Message]:
        return list(self._messages)


def _check_function(name: str, function: object) -> None:
    if inspect.iscoroutinefunction(function):
        raise TypeError(
            f"{name}: a handler cannot be a coroutine function; iterate over messages(), or create a task in a function"
        )
    if function is not None and not callable(function):
        raise TypeError(f"{name}: expected a function, got {type(function).__name__}")


def _joined(values: str | Iterable[str] | None) -> str | None:
    return values if values is None or isinstance(values, str) else ",".join(values)


def _close_all() -> None:
    # A thread that waits for events must not come back to an interpreter that is gone. Handlers may wait for operations
    # of other endpoints, so that all are closed first, and one that does not end cannot keep the process.
    endpoints = list(_open)
    for endpoint in endpoints:
        endpoint._close(waits=False)
    until = time.monotonic() + _LONGEST_EXIT
    for endpoint in endpoints:
        endpoint._dispatcher.wait(until - time.monotonic())


def _abandon_all() -> None:
    for endpoint in list(_open):
        endpoint._native.abandon()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_abandon_all)
