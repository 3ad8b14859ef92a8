"""Calls the oracle that a record names."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch

import tests.vectors.activations
import tests.vectors.collectives
import tests.vectors.complex_numbers
import tests.vectors.elementwise
import tests.vectors.equations
import tests.vectors.indexing
import tests.vectors.losses
import tests.vectors.neural
import tests.vectors.optim
import tests.vectors.reductions  # noqa: F401 (records name functions of all of these)
from codegen import base_types
from codegen.model import Op
from tests.vectors.rounding import rounded_once


def resolve(path: str) -> Callable[..., Any]:
    """Returns the function with a dotted name such as "torch.nn.functional.gelu"."""
    module, *rest = path.split(".")
    return functools.reduce(getattr, rest, importlib.import_module(module))


_WIDENED = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def widened(value: Any) -> Any:
    """Returns a copy of a tensor, or of a list of tensors, with narrower floating-point or complex dtypes widened to
    float64 or complex128."""
    if isinstance(value, torch.Tensor):
        return value.to(_WIDENED.get(value.dtype, value.dtype), copy=True)
    return [widened(each) for each in value] if isinstance(value, list) else value


def exact(op: Op, arguments: Mapping[str, Any]) -> tuple[torch.Tensor, ...]:
    """Returns the results of the oracle, computed in float64 for floating-point operands and rounded once.

    The result dtypes are those of a call with the original operands. If the call with widened operands fails, returns
    the results of the call with the original ones.
    """
    copies = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in arguments.items()}
    plain = call(op, copies)
    if not any(result.dtype in _WIDENED for result in plain):
        return plain
    try:
        wide = call(op, {name: widened(value) for name, value in arguments.items()})
    except (RuntimeError, TypeError):
        return plain
    return tuple(_rounded(w, p) for w, p in zip(wide, plain, strict=True))


def _rounded(wide: torch.Tensor, plain: torch.Tensor) -> torch.Tensor:
    """Returns a wide result in the dtype of the plain one, which holds where it is finite and the wide one too large.

    Such elements are limits of the dtype, as those of nan_to_num.
    """
    rounded = rounded_once(wide, plain.dtype)
    return torch.where(plain.isfinite() & ~rounded.isfinite(), plain, rounded)


def call(op: Op, arguments: Mapping[str, Any]) -> tuple[torch.Tensor, ...]:
    """Returns the results of the oracle for arguments by name; single devices are left out.

    Passes a leading tensor or string by position and the other arguments by name, or all by position if the oracle has
    other parameter names. Converts complex32 results of PyTorch to complex64.
    """
    assert op.oracle is not None
    function = resolve(op.oracle)
    given = {
        a.name: arguments[a.name]
        for a in op.signature.arguments
        if a.name in arguments and (a.type.base is not base_types.DEVICE or a.type.is_list)
    }
    keyword_only = {a.name: given[a.name] for a in op.signature.arguments if a.keyword_only and a.name in given}
    positional = {name: value for name, value in given.items() if name not in keyword_only}
    try:
        leading = next(iter(positional.values())) if positional else None
        if isinstance(leading, torch.Tensor | str):
            name = next(iter(positional))
            result = function(leading, **{k: v for k, v in positional.items() if k != name}, **keyword_only)
        else:
            result = function(**positional, **keyword_only)
    except TypeError:
        result = function(*positional.values(), **keyword_only)
    results = result if isinstance(result, tuple | list) else (result,)
    made = [torch.as_tensor(each) for each in results]
    return tuple(each.to(torch.complex64) if each.dtype is torch.complex32 else each for each in made)
