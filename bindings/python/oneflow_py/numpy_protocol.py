"""NumPy's functions for tensors: `np.sin(x)`, `np.sum(x, axis=0)` and `np.concatenate([x, y])` return tensors.

A function that has another meaning here is adapted to NumPy's; one that has no counterpart gets arrays, and returns
what NumPy returns. https://numpy.org/neps/nep-0013-ufunc-overrides.html and nep-0018-array-function-protocol.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from oneflow_py import _native as native
from oneflow_py._native import Tensor

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


def _transpose(a: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    return native.permute(a, [*range(a.ndim)][::-1] if axes is None else axes)


def _sort(a: Tensor, axis: int | None = -1, *, stable: bool | None = None) -> Tensor:
    return _first(native.sort)(a.reshape(-1) if axis is None else a, -1 if axis is None else axis)


def _flip(m: Tensor, axis: Any = None) -> Tensor:
    return native.flip(m, [*range(m.ndim)] if axis is None else axis)


def _roll(a: Tensor, shift: Any, axis: Any = None) -> Tensor:
    return native.roll(a, shift) if axis is None else native.roll(a, shift, axis)


def _round(a: Tensor, decimals: int = 0) -> Tensor:
    return native.round(a) if decimals == 0 else native.round(a, decimals=decimals)


def _cumulated(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a scan over all elements, unless there is an axis."""

    def adapted(a: Tensor, axis: int | None = None, **keywords: Any) -> Tensor:
        return call(a.reshape(-1) if axis is None else a, 0 if axis is None else axis, **keywords)

    return adapted


_ADAPTED: Mapping[str, Callable[..., Any]] = {
    "around": _round,
    "cumprod": _cumulated(native.cumprod),
    "cumsum": _cumulated(native.cumsum),
    "flip": _flip,
    "max": native.amax,
    "min": native.amin,
    "roll": _roll,
    "round": _round,
    "sort": _sort,
    "std": _of_population(native.std),
    "transpose": _transpose,
    "var": _of_population(native.var),
}

# The folds by which NumPy's universal functions reduce.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all", "logical_or": "any",
}  # fmt: skip


def _plain(value: Any) -> Any:
    """Returns a value with arrays in place of tensors."""
    if isinstance(value, Tensor):
        return value.detach().numpy()
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value


def _by_numpy(function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    return function(*map(_plain, args), **{name: _plain(value) for name, value in keywords.items()})


def _function(
    package: ModuleType, function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """Returns the result of a function of NumPy, by the function of the package that means the same."""
    name = function.__name__
    is_same = name in _SAME and function.__module__ == "numpy"
    here = _ADAPTED.get(name) or (getattr(package, name, None) if is_same else None)
    return _by_numpy(function, args, keywords) if here is None else here(*args, **keywords)


def _ufunc(
    package: ModuleType, ufunc: Any, method: str, inputs: Sequence[Any], out: Any, keywords: dict[str, Any]
) -> Any:
    """Returns the result of a universal function of NumPy, likewise."""
    name = {"__call__": ufunc.__name__, "reduce": _REDUCTIONS.get(ufunc.__name__)}.get(method)
    here = getattr(package, name, None) if name else None
    if here is None or any(not isinstance(each, Tensor) for each in out or ()):
        return _by_numpy(getattr(ufunc, method), inputs, {**keywords, **({"out": out} if out else {})})
    if out:
        keywords["out"] = out[0] if len(out) == 1 else out
    if method == "reduce":
        keywords.setdefault("axis", 0)
    return here(*inputs, **keywords)


def install(package: ModuleType, tensor: Any) -> None:
    """Adds the protocols to the class of tensors, over the functions of the package."""

    def array_function(
        self: Tensor, func: Callable[..., Any], types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Implements `Tensor.__array_function__`: NumPy calls it for functions with a tensor among their arguments."""
        return _function(package, func, args, kwargs)

    def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        """Implements `Tensor.__array_ufunc__`: NumPy calls it for universal functions, as for its arrays' operators."""
        return _ufunc(package, ufunc, method, inputs, out, kwargs)

    def array_namespace(self: Tensor, *, api_version: str | None = None) -> ModuleType:
        """Implements `Tensor.__array_namespace__`: returns the module whose functions take tensors."""
        return package

    for function in (array_function, array_ufunc, array_namespace):
        setattr(tensor, f"__{function.__name__}__", function)
