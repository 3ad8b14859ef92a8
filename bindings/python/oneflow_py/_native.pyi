"""The compiled part of the package: the public names of `oneflow_py`, and what autograd.py and files.py call."""

from builtins import bool as _bool
from collections.abc import Callable, Sequence
from typing import final

from oneflow_py import *  # noqa: F403
from oneflow_py import Tensor, device, dtype

def _set_grad_enabled(enabled: _bool, /) -> None: ...
def _backward(
    roots: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    wanted: Sequence[Tensor] | None,
    retain_graph: _bool,
    create_graph: _bool,
    /,
) -> list[Tensor | None]: ...
def _record_function(
    name: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    backward: Callable[..., Sequence[Tensor | None]],
    /,
) -> None: ...

@final
class _Hook:
    def remove(self) -> None: ...

def _save_file(
    path: bytes,
    nodes: list[tuple[int, int, bytes | None, Tensor | None]],
    metadata: list[tuple[bytes, bytes]],
    compress: _bool,
    /,
) -> None: ...
def _open_file(path: bytes, /) -> _File: ...

@final
class _File:
    def entries(self) -> list[tuple[str, dtype | None, str, tuple[int, ...], int]]: ...
    def metadata(self) -> dict[str, str]: ...
    def nodes(self, flat: _bool, /) -> list[tuple[int, int, str | None, int]]: ...
    def read(self, positions: list[int], device: device | None, copy: _bool, /) -> list[Tensor]: ...
