"""Errors: each status of the library has a class, which is also one of Python's classes for that kind of error."""

from __future__ import annotations

from commnet import _native


class Error(Exception):
    """Any error of commnet. `status` is the name of its kind, such as "PEER_LOST"."""

    status: str = "INTERNAL_ERROR"


class InvalidArgument(Error, ValueError):
    """An argument is outside its range."""


class Denied(Error, PermissionError):
    """The secret is wrong, or a token is unknown or lacks the right."""


class OutOfRange(Error, IndexError):
    """A read or a write goes outside the registered memory."""


class Unreachable(Error, ConnectionError):
    """Nobody answers at an address."""


class PeerLost(Error, ConnectionError):
    """The peer has closed, died, or been silent for too long."""


class TimedOut(Error, TimeoutError):
    """An operation, or waiting for it, took longer than its timeout."""


class Cancelled(Error):
    """An operation was cancelled, or its endpoint was closed."""


class Full(Error, BlockingIOError):
    """The peer receives too slowly: too many bytes wait for it already."""


class NoHandler(Error, LookupError):
    """The peer has no handler of that number."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""


class Closed(Error):
    """The object was closed before."""


class Unsupported(Error):
    """Both sides have no transport in common, or a library is not installed."""


class SystemFailure(Error, OSError):
    """The operating system refused a call."""


class InternalError(Error, RuntimeError):
    """A fault of the library."""


# In the order of cn_status, from 1 on.
_CLASSES = (
    InvalidArgument,
    Denied,
    OutOfRange,
    Unreachable,
    PeerLost,
    TimedOut,
    Cancelled,
    Full,
    NoHandler,
    OutOfMemory,
    Closed,
    Unsupported,
    SystemFailure,
    InternalError,
)
for _number, _class in enumerate(_CLASSES, start=1):
    _class.status = _native.status_name(_number)


def error_of(status: int, text: str) -> Error:
    """Returns the error of a status, with a text."""
    known = 1 <= status <= len(_CLASSES)
    return (_CLASSES[status - 1] if known else InternalError)(text)


_native.set_error_factory(error_of)
