"""What takes events from an endpoint: an asyncio loop that runs where the endpoint is used first, or a thread."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from commnet import _native
from commnet.errors import Closed

# How many events are taken at a time, so that others have their turn.
_BATCH = 64

Handle = Callable[[tuple[Any, ...]], None]


class Dispatcher:
    """Takes the events of an endpoint, and calls handle(event) for each.

    Once a thread or a loop has begun, it stays; only a loop that was closed is replaced. The functions hold `handle`
    weakly, so that an endpoint that nobody uses can be collected.
    """

    def __init__(self, native: _native.Endpoint, name: str, handle: weakref.WeakMethod[Handle]) -> None:
        self._native = native
        self._name = name
        self._handle = handle
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._descriptor = -1

    def start(self) -> None:
        """Begins, unless it has."""
        if self._thread is not None or (self._loop is not None and not self._loop.is_closed()):
            return
        with self._lock:
            if self._thread is not None or self._native.is_closed:
                return
            self._leave_loop()
            loop = asyncio._get_running_loop()
            if loop is None:
                arguments = (self._native, self._handle)
                name = f"commnet-{self._name}"
                self._thread = threading.Thread(target=_run, args=arguments, name=name, daemon=True)
                self._thread.start()
                return
            # The loop gets a descriptor of its own, which outlives the endpoint until the loop has let go of it.
            self._descriptor = os.dup(self._native.descriptor)
            self._loop = loop
            loop.add_reader(self._descriptor, _drain, self._native, self._handle)

    def stop(self) -> None:
        """Ends once the endpoint is closed."""
        self._leave_loop()

    def wait(self, seconds: float | None = None) -> None:
        """Waits for a handler that runs on another thread; None: without a limit."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(None if seconds is None else max(seconds, 0.0))

    def _leave_loop(self) -> None:
        loop, descriptor = self._loop, self._descriptor
        self._loop, self._descriptor = None, -1
        if loop is None:
            return
        if asyncio._get_running_loop() is loop or loop.is_closed():
            _remove_reader(loop, descriptor)
        else:
            try:
                loop.call_soon_threadsafe(_remove_reader, loop, descriptor)
            except RuntimeError:  # it was closed meanwhile
                os.close(descriptor)


def _remove_reader(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
    if not loop.is_closed():
        loop.remove_reader(descriptor)
    os.close(descriptor)


def _drain(native: _native.Endpoint, handle: weakref.WeakMethod[Handle], timeout_ms: int = 0) -> None:
    events = native.next_events(timeout_ms, _BATCH) if not native.is_closed else []
    if not events:
        return
    function = handle()
    if function is None:
        return
    stops: BaseException | None = None
    for event in events:
        try:
            function(event)
        except Exception as error:
            _report(error)
        except BaseException as error:  # such as KeyboardInterrupt: the other events are not lost
            stops = error
    if stops is not None:
        raise stops


def _run(native: _native.Endpoint, handle: weakref.WeakMethod[Handle]) -> None:
    while not native.is_closed:
        try:
            _drain(native, handle, -1)
        except Closed:
            return
        except BaseException as error:
            _report(error)


def _report(error: BaseException) -> None:
    """Reports the error of a handler, which must not end the dispatch."""
    loop = asyncio._get_running_loop()
    if loop is not None:
        loop.call_exception_handler({"message": "a handler of commnet failed", "exception": error})
        return
    arguments = (type(error), error, error.__traceback__, threading.current_thread())
    try:
        threading.excepthook(threading.ExceptHookArgs(arguments))
    except Exception:
        sys.excepthook(type(error), error, error.__traceback__)
