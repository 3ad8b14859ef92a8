"""Registered memory, and the tokens by which peers read and write it."""

from __future__ import annotations

from typing import Protocol

from commnet import _native
from commnet.errors import InvalidArgument

_RIGHTS = {"read": 1, "write": 2, "read+write": 3}
_TOKEN_SIZE = 64


def rights_of(text: str) -> int:
    """Returns the number of "read", "write" or "read+write"."""
    if not isinstance(text, str) or text not in _RIGHTS:
        raise InvalidArgument(f"rights must be 'read', 'write' or 'read+write', got {text!r}")
    return _RIGHTS[text]


class Token(bytes):
    """What names a memory and allows to read or to write it: bytes that may be sent and pickled."""

    def __new__(cls, data: bytes | bytearray | memoryview) -> Token:
        token = super().__new__(cls, memoryview(data))
        if len(token) != _TOKEN_SIZE:
            raise InvalidArgument(f"a token has {_TOKEN_SIZE} bytes, got {len(token)}")
        return token

    @property
    def size(self) -> int:
        """The bytes of the memory that the token names."""
        return _native.token_size(self)

    def __repr__(self) -> str:
        return f"<commnet.Token of {self.size} bytes>"

    __str__ = __repr__  # a token is a secret that does not belong in logs


class Registry(Protocol):
    """The endpoint that memory is registered with."""

    def _forget(self, memory: Memory) -> None: ...


class Memory:
    """A buffer that peers may access, until it is released or its endpoint is closed.

    Use it as a context manager, or call release().
    """

    __slots__ = ("__weakref__", "_native", "_registry", "_rights")

    def __init__(self, registry: Registry, native: _native.Memory, rights: str) -> None:
        self._registry = registry
        self._native = native
        self._rights = rights

    def token(self, rights: str | None = None) -> Token:
        """Returns a token that allows `rights`, a part of those of the memory, which are the default."""
        return Token(self._native.token(rights_of(self._rights if rights is None else rights)))

    @property
    def size(self) -> int:
        """The registered bytes."""
        return self._native.size

    @property
    def is_released(self) -> bool:
        """Whether no peer can access the memory any more."""
        return self._native.is_released

    def release(self) -> None:
        """Ends the registration. Its tokens become invalid, and no peer accesses the buffer once this returns."""
        self._registry._forget(self)
        self._native.release()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
