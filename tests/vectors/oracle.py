"""Calls the reference that a record names."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch

import tests.vectors.collectives
import tests.vectors.complex_numbers
import tests.vectors.equations  # noqa: F401 (records name functions of all three)
from codegen.model import BaseType, Op


def resolve(path: str) -> Callable[..., Any]:
    """The function behind a dotted name: "torch.nn.functional.gelu"."""
    module, *rest = path.split(".")
    return functools.reduce(getattr, rest, importlib.import_module(module))


_WIDENED = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def widened(value: Any) -> Any:
    """A copy of a tensor, or of a list of them, in float64 or complex128 where it is of a narrower such type."""
    if isinstance(value, torch.Tensor):
        return value.to(_WIDENED.get(value.dtype, value.dtype), copy=True)
    return [widened(each) for each in value] if isinstance(value, list) else value


def exact(op: Op, arguments: Mapping[str, Any]) -> tuple[torch.Tensor, ...]:
    """The oracle's results for floating-point operands computed in float64 and rounded once.

    The element types are those of the call as it stands. Where only one of the two calls works, its results count.
    """
    copies = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in arguments.items()}
    plain = call(op, copies)
    if not any(result.dtype in _WIDENED for result in plain):
        return plain
    try:
        wide = call(op, {name: widened(value) for name, value in arguments.items()})
    except (RuntimeError, TypeError):
        return plain
    return tuple(w.to(p.dtype) for w, p in zip(wide, plain, strict=True))


def call(op: Op, arguments: Mapping[str, Any]) -> tuple[torch.Tensor, ...]:
    """The results of the oracle for arguments by name; those that the record's defaults already give are left out.

    Tensors go by position, all else by name, or by position where the oracle calls it otherwise. PyTorch's complex32
    becomes complex64.
    """
    assert op.oracle is not None
    function = resolve(op.oracle)
    given = {
        a.name: arguments[a.name]
        for a in op.signature.arguments
        if a.name in arguments and (a.type.base is not BaseType.DEVICE or a.type.is_list)
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
