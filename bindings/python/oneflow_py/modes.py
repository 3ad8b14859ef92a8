"""Functions whose calls run in a gradient mode: also generators and coroutines, which stop and go on."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from oneflow_py import _native as native
from oneflow_py._native import TypeMismatch

_T = TypeVar("_T")


def check_callable(caller: str, function: Any) -> None:
    """Raises TypeMismatch for what cannot be called."""
    if not callable(function):
        raise TypeMismatch(f"{caller}: function must be callable, got {native._type_name(function)}")


class _OwnMode:
    """The mode of a function, which its caller does not have while the function is stopped."""

    def __init__(self, recording: bool) -> None:
        self._recording = recording

    def call(self, function: Callable[..., _T], /, *args: Any, **keywords: Any) -> _T:
        """Returns `function(*args)`, which may change the mode for later calls."""
        before = native.is_grad_enabled()
        native._set_grad_enabled(self._recording)
        try:
            return function(*args, **keywords)
        finally:
            self._recording = native.is_grad_enabled()
            native._set_grad_enabled(before)

    def steps(self, inner: Any) -> Generator[Any, Any, Any]:
        """Runs a generator or a coroutine, each step in the mode."""
        step: tuple[Any, Any] = (inner.send, None)
        while True:
            try:
                value = self.call(*step)
            except StopIteration as end:
                return end.value
            try:
                step = (inner.send, (yield value))
            except GeneratorExit:
                self.call(inner.close)
                raise
            except BaseException as error:
                step = (inner.throw, error)

    @types.coroutine
    def awaited(self, inner: Any) -> Generator[Any, Any, Any]:
        """Returns what a coroutine returns, each step of which runs in the mode."""
        return (yield from self.steps(inner))


def in_mode(caller: str, function: Any, recording: bool) -> Any:
    """Returns a function of the same kind, whose calls run with recording on or off."""
    check_callable(caller, function)
    if isinstance(function, type):
        raise TypeMismatch(f"{caller}: function must be a function, got the class {function.__name__}")

    def plain(*args: Any, **keywords: Any) -> Any:
        return _OwnMode(recording).call(function, *args, **keywords)

    def generator(*args: Any, **keywords: Any) -> Any:
        return (yield from _OwnMode(recording).steps(function(*args, **keywords)))

    async def coroutine(*args: Any, **keywords: Any) -> Any:
        return await _OwnMode(recording).awaited(function(*args, **keywords))

    async def asynchronous_generator(*args: Any, **keywords: Any) -> Any:
        mode, inner = _OwnMode(recording), function(*args, **keywords)
        step = inner.asend(None)
        while True:
            try:
                value = await mode.awaited(step)
            except StopAsyncIteration:
                return
            try:
                step = inner.asend((yield value))
            except GeneratorExit:
                await mode.awaited(inner.aclose())
                raise
            except BaseException as error:
                step = inner.athrow(error)

    kinds = (
        (inspect.isgeneratorfunction, generator),
        (inspect.iscoroutinefunction, coroutine),
        (inspect.isasyncgenfunction, asynchronous_generator),
    )
    return functools.wraps(function)(next((wrapper for is_kind, wrapper in kinds if is_kind(function)), plain))
