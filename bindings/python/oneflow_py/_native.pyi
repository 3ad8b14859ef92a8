"""The compiled part of the package: the public names of `oneflow_py`, and what its modules call."""

from builtins import bool as _bool
from collections.abc import Callable, Sequence

from oneflow_py import *  # noqa: F403
from oneflow_py import Tensor

_library_path: str

def _elsewhere(methods: _bool, /) -> dict[str, str]: ...
def _set_grad_enabled(enabled: _bool, /) -> None: ...
def _backward(
    roots: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    wanted: Sequence[Tensor] | None,
    retain_graph: _bool,
    create_graph: _bool,
    caller: str | None = None,
    /,
) -> list[Tensor | None]: ...
def _independent_variable(tensor: Tensor, keeps_history: _bool, /) -> Tensor: ...
def _type_name(value: object, /) -> str: ...
def _depends_on_others(tensors: Sequence[Tensor], inputs: Sequence[Tensor], /) -> _bool: ...
def _record_function(
    name: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    backward: Callable[..., Sequence[Tensor | None]],
    /,
) -> None: ...
