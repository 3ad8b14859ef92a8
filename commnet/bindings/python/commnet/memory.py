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


class Memory(_native.Memory):
    """Bytes that peers may access, until they are released or their endpoint is closed.

    It has the buffer protocol: memoryview(memory) and numpy.frombuffer(memory) are views of its bytes, which may be
    written unless the memory was registered with a buffer that is read-only. Use it as a context manager, or call
    release().
    """

    __slots__ = ("_registry", "_rights")

    def __init__(self, registry: Registry, rights: str) -> None:
        super().__init__()
        self._registry = registry
        self._rights = rights

    def token(self, rights: str | None = None) -> Token:
        """Returns a token that allows `rights`, a part of those of the memory, which are the default."""
        return Token(self.token_bytes(rights_of(self._rights if rights is None else rights)))

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return super().size

    @property
    def is_released(self) -> bool:
        """Whether no peer can access the memory any more."""
        return super().is_released

    def release(self) -> None:
        """Ends the registration. Its tokens become invalid, and no peer accesses the bytes once this returns.

        Raises BufferError while views of the memory exist, or operations use it. Those that exist when the endpoint is
        closed stay valid.
        """
        super().release()
        self._registry._forget(self)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
