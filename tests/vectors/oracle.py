"""Calls the reference that a record names."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch

from codegen.model import Op


def resolve(path: str) -> Callable[..., Any]:
    """The function behind a dotted name: "torch.nn.functional.gelu"."""
    module, *rest = path.split(".")
    return functools.reduce(getattr, rest, importlib.import_module(module))


def call(op: Op, arguments: Mapping[str, Any]) -> tuple[torch.Tensor, ...]:
    """The results of the oracle for arguments by name; those that the record's defaults already give are left out.

    Tensors go by position, all else by name, or by position where the oracle calls it otherwise.
    """
    assert op.oracle is not None
    function = resolve(op.oracle)
    given = {
        a.name: arguments[a.name]
        for a in op.signature.arguments
        if a.name in arguments and a.type.base.value != "device"
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
    return tuple(torch.as_tensor(each) for each in results)
