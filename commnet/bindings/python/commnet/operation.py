"""Operations that are under way, and queues that order their ends."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Generator
from typing import Any, Generic, Protocol, TypeVar

from commnet import _native
from commnet._native import Endpoint as NativeEndpoint
from commnet._native import Operation as NativeOperation
from commnet.dispatch import Dispatcher
from commnet.errors import Error

Result = TypeVar("Result")


class Owner(Protocol):
    """The endpoint that operations, queues and peers belong to, and keep."""

    _native: NativeEndpoint
    _dispatcher: Dispatcher

    def _operation(self, native: NativeOperation, result: Callable[[], Any] = ...) -> Operation[Any]: ...


class Operation(Generic[Result]):
    """A send, a read, a write or a connection that is under way.

    Wait for it by wait(), or by `await` in a coroutine. Both return its result, or raise the error that it has failed
    with. The buffers that it uses are kept until its end, also if the operation itself is dropped.
    """

    __slots__ = ("__weakref__", "_native", "_owner", "_result")

    def __init__(self, owner: Owner, native: _native.Operation, result: Callable[[], Result]) -> None:
        self._owner = owner
        self._native = native
        self._result = result

    @property
    def done(self) -> bool:
        """Whether the operation has ended, well or not."""
        return self._native.done

    def wait(self, timeout: float | None = None) -> Result:
        """Waits for the end, and returns the result.

        Raises TimedOut if the operation still goes on after `timeout` seconds.
        """
        self._native.wait(timeout)
        return self._result()

    def cancel(self) -> None:
        """Ends the operation with Cancelled, unless it has ended."""
        self._native.cancel()

    def __await__(self) -> Generator[object, None, Result]:
        if not self._native.done:
            yield from self._end().__await__()
        return self.wait(0)

    async def _end(self) -> None:
        loop = asyncio.get_running_loop()
        self._owner._dispatcher.start()
        future = loop.create_future()
        try:
            if self._native.add_callback(functools.partial(_resolve, loop, future)):
                await future
            elif not self._native.done:
                # Few operations end without an event: small sends that wait for the window of the peer.
                await loop.run_in_executor(None, _wait_quietly, self._native)
        except asyncio.CancelledError:
            self.cancel()
            raise


def _wait_quietly(operation: _native.Operation) -> None:
    with contextlib.suppress(Error):  # who awaits it raises the error
        operation.wait(None)


def _resolve(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> None:
    if asyncio._get_running_loop() is loop:
        _set_result(future)
    elif not loop.is_closed():
        loop.call_soon_threadsafe(_set_result, future)


def _set_result(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Queue:
    """Operations that complete in the order in which they began, also if they belong to different peers."""

    __slots__ = ("_native", "_owner")

    def __init__(self, owner: Owner, native: _native.Queue) -> None:
        self._owner = owner
        self._native = native

    def mark(self, timeout: float | None = None) -> Operation[None]:
        """Returns an operation that ends once all operations that are in the queue now have completed."""
        return self._owner._operation(self._owner._native.mark(self._native, timeout))


def native_of(queue: Queue | None) -> _native.Queue | None:
    """Returns the native object of a queue; others as they are, for the error of the call that they are given to."""
    return queue._native if isinstance(queue, Queue) else queue
