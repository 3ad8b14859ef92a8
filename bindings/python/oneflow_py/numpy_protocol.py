"""NumPy's functions for tensors: `np.sin(x)`, `np.sum(x, axis=0)` and `np.concatenate([x, y])` return tensors.

A function that has another meaning here is adapted to NumPy's; one that has no counterpart gets arrays, and returns
what NumPy returns. https://numpy.org/neps/nep-0013-ufunc-overrides.html and nep-0018-array-function-protocol.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import oneflow_py as flow

# The functions of NumPy whose namesakes here mean the same.
_SAME = frozenset(
    """all amax amin any argmax argmin argsort atleast_1d atleast_2d atleast_3d broadcast_to clip column_stack
    concatenate concat count_nonzero cross diagonal diff dstack einsum empty_like expand_dims fliplr flipud
    full_like hstack inner isclose isfinite isin isinf isnan isneginf isposinf kron matmul mean moveaxis nan_to_num
    nanmean nansum ones_like outer permute_dims prod ravel reshape rot90 searchsorted sinc squeeze stack sum
    swapaxes take_along_axis tensordot tile trace tril triu vstack where zeros_like""".split()
)


def _first(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that returns the first result of `call`."""
    return lambda *args, **keywords: call(*args, **keywords)[0]


def _of_population(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function whose divisor is the number of elements, unless `ddof` says otherwise."""

    def adapted(a: Any, axis: Any = None, *, ddof: float = 0, **keywords: Any) -> Any:
        return call(a, axis, correction=ddof, **keywords)

    return adapted


def _transpose(a: flow.Tensor, axes: Sequence[int] | None = None) -> flow.Tensor:
    return flow.permute(a, [*range(a.ndim)][::-1] if axes is None else axes)


def _sort(a: flow.Tensor, axis: int | None = -1, *, stable: bool | None = None) -> flow.Tensor:
    return _first(flow.sort)(a.reshape(-1) if axis is None else a, -1 if axis is None else axis)


def _flip(m: flow.Tensor, axis: Any = None) -> flow.Tensor:
    return flow.flip(m, [*range(m.ndim)] if axis is None else axis)


def _roll(a: flow.Tensor, shift: Any, axis: Any = None) -> flow.Tensor:
    return flow.roll(a, shift) if axis is None else flow.roll(a, shift, axis)


def _round(a: flow.Tensor, decimals: int = 0) -> flow.Tensor:
    return flow.round(a) if decimals == 0 else flow.round(a, decimals=decimals)


def _cumulated(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a scan over all elements, unless there is an axis."""

    def adapted(a: flow.Tensor, axis: int | None = None, **keywords: Any) -> flow.Tensor:
        return call(a.reshape(-1) if axis is None else a, 0 if axis is None else axis, **keywords)

    return adapted


_ADAPTED: Mapping[str, Callable[..., Any]] = {
    "around": _round,
    "cumprod": _cumulated(flow.cumprod),
    "cumsum": _cumulated(flow.cumsum),
    "flip": _flip,
    "max": flow.amax,
    "min": flow.amin,
    "roll": _roll,
    "round": _round,
    "sort": _sort,
    "std": _of_population(flow.std),
    "transpose": _transpose,
    "var": _of_population(flow.var),
}

# The folds by which NumPy's universal functions reduce.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all", "logical_or": "any",
}  # fmt: skip


def _plain(value: Any) -> Any:
    """Returns a value with arrays in place of tensors."""
    if isinstance(value, flow.Tensor):
        return value.detach().numpy()
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value


def _by_numpy(function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    return function(*map(_plain, args), **{name: _plain(value) for name, value in keywords.items()})


def array_function(
    self: flow.Tensor, func: Callable[..., Any], types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Implements `Tensor.__array_function__`: NumPy calls it for functions with a tensor among their arguments."""
    name = func.__name__
    here = _ADAPTED.get(name) or (getattr(flow, name, None) if name in _SAME and func.__module__ == "numpy" else None)
    return _by_numpy(func, args, kwargs) if here is None else here(*args, **kwargs)


def array_ufunc(self: flow.Tensor, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
    """Implements `Tensor.__array_ufunc__`: NumPy calls it for universal functions, also the operators of its arrays."""
    name = {"__call__": ufunc.__name__, "reduce": _REDUCTIONS.get(ufunc.__name__)}.get(method)
    here = getattr(flow, name, None) if name else None
    if here is None or any(not isinstance(each, flow.Tensor) for each in out or ()):
        return _by_numpy(getattr(ufunc, method), inputs, {**kwargs, **({"out": out} if out else {})})
    if out:
        kwargs["out"] = out[0] if len(out) == 1 else out
    if method == "reduce":
        kwargs.setdefault("axis", 0)
    return here(*inputs, **kwargs)


def array_namespace(self: flow.Tensor, *, api_version: str | None = None) -> ModuleType:
    """Implements `Tensor.__array_namespace__`: returns the module whose functions take tensors."""
    return flow


def install(tensor: Any) -> None:
    """Adds the protocols to the class of tensors."""
    for name, function in (
        ("__array_function__", array_function),
        ("__array_ufunc__", array_ufunc),
        ("__array_namespace__", array_namespace),
    ):
        setattr(tensor, name, function)
