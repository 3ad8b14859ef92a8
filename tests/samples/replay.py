"""Replays PyTorch's sample inputs: results, and the gradients of a random projection, must agree."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import oneflow_py as flow

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal import common_utils
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.opinfo.core import OpInfo

# PyTorch looks in the stack for a test of unittest, several times for each sample, which takes longer than the sample.
common_utils.extract_test_fn = lambda: None

DTYPES = (
    torch.float64, torch.complex128, torch.float32, torch.complex64, torch.int64, torch.uint8, torch.bool,
)  # fmt: skip
# Relative and absolute tolerances by the dtype of a result. Others must agree exactly.
TOLERANCES = {
    "float64": (1e-6, 1e-8), "complex128": (1e-6, 1e-8), "float32": (2e-4, 2e-5), "complex64": (2e-4, 2e-5),
}  # fmt: skip
# The arguments of operators that the samples have in another order.
ORDERS = {
    "einsum": (1, 0), "nn.functional.embedding": (1, 0), "polygamma": (1, 0), "special.polygamma": (1, 0),
    "where": (1, 0, 2),
}  # fmt: skip
REFUSALS = (flow.Error, TypeError, NotImplementedError, OverflowError)


class Unreadable(Exception):
    """A sample has an argument of a kind that oneflow does not have, such as a sparse tensor."""


@dataclass(frozen=True)
class Finding:
    """A sample that was refused, or that has another result."""

    call: str
    text: str  # the error, or what differs


@dataclass
class Outcome:
    """What the samples of an operator and a dtype gave."""

    agreed: int = 0
    refused: list[Finding] = field(default_factory=list)
    different: list[Finding] = field(default_factory=list)


def function_named(name: str) -> Callable[..., Any] | None:
    """Returns the function, or the method, of the name that PyTorch's operator has; None if there is none."""
    try:
        found = functools.reduce(getattr, name.split("."), flow)
    except AttributeError:
        found = getattr(flow.Tensor, name, None) if "." not in name else None
    return found if callable(found) else None


def operators() -> Iterator[tuple[OpInfo, Callable[..., Any]]]:
    """Yields PyTorch's operators with the functions of the same name."""
    for op in op_db:
        function = function_named(op.name)
        if function is not None:
            yield op, function


def replay(op: OpInfo, function: Callable[..., Any], dtype: torch.dtype, limit: int) -> Outcome:
    """Replays up to `limit` samples of one dtype. PyTorch's own failures do not count."""
    outcome = Outcome()
    differentiable = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=differentiable)):
            if number == limit:
                break
            _replay_one(op, function, sample, outcome)
    return outcome


def _replay_one(op: OpInfo, function: Callable[..., Any], sample: Any, outcome: Outcome) -> None:
    leaves: list[tuple[flow.Tensor, torch.Tensor]] = []
    try:
        args = [_converted(each, leaves) for each in (sample.input, *sample.args)]
        args = [args[i] for i in ORDERS.get(op.name, range(len(args)))[: len(args)]]
        keywords = {name: _converted(value, leaves) for name, value in sample.kwargs.items()}
    except Unreadable:
        return
    call = _call_text(op.name, args, keywords)
    try:
        expected = op.op(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return
    try:
        got = function(*args, **keywords)
    except REFUSALS as error:
        outcome.refused.append(Finding(call, str(error)))
        return
    difference = _difference(_listed(expected), _listed(got), leaves)
    if difference is None:
        outcome.agreed += 1
    else:
        outcome.different.append(Finding(call, difference))


def _converted(value: Any, leaves: list[tuple[flow.Tensor, torch.Tensor]]) -> Any:
    """Returns an argument for oneflow; adds the tensors that require gradients to `leaves`."""
    match value:
        case torch.Tensor():
            return _tensor(value, leaves)
        case torch.Size():
            return list(value)
        case list() | tuple():
            return type(value)(_converted(each, leaves) for each in value)
        case torch.dtype():
            return str(value).removeprefix("torch.")
        case torch.device():
            return value.type
        case torch.layout() | torch.memory_format() | torch.Generator():
            raise Unreadable
    return value


def _tensor(value: torch.Tensor, leaves: list[tuple[flow.Tensor, torch.Tensor]]) -> flow.Tensor:
    if value.layout is not torch.strided or value.is_quantized:
        raise Unreadable
    try:
        tensor = flow.tensor(value.detach().resolve_conj().numpy().copy())
    except (flow.Error, TypeError):
        raise Unreadable from None
    if value.requires_grad:
        tensor.requires_grad_()
        leaves.append((tensor, value))
    return tensor


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _are_close(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    relative, absolute = TOLERANCES.get(str(b.dtype), (0.0, 0.0))
    return bool(np.allclose(a, b, relative, absolute, equal_nan=True))


def _difference(
    expected: Sequence[Any], got: Sequence[Any], leaves: list[tuple[flow.Tensor, torch.Tensor]]
) -> str | None:
    """Returns what differs between the results or their gradients; None if nothing does."""
    if len(expected) != len(got):
        return f"{len(got)} results instead of {len(expected)}"
    roots = []
    for theirs, ours in zip(expected, got, strict=True):
        if not isinstance(theirs, torch.Tensor):
            if theirs != ours:
                return f"{ours!r} instead of {theirs!r}"
            continue
        if not isinstance(ours, flow.Tensor):
            return f"a result of type {type(ours).__name__}"
        a, b = ours.detach().numpy(), theirs.detach().resolve_conj().numpy()
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype} of shape {a.shape} instead of {b.dtype} of shape {b.shape}"
        if not _are_close(a, b):
            return "other values"
        if ours.requires_grad != theirs.requires_grad:
            return f"requires_grad is {ours.requires_grad}"
        if ours.requires_grad:
            roots.append((ours, theirs, _projection(b)))
    return _difference_of_gradients(roots, leaves) if roots and leaves else None


def _projection(like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(0)
    values = random.normal(size=like.shape)
    return np.asarray(values + 1j * random.normal(size=like.shape) if np.iscomplexobj(like) else values, like.dtype)


def _difference_of_gradients(
    roots: list[tuple[flow.Tensor, torch.Tensor, np.ndarray[Any, Any]]],
    leaves: list[tuple[flow.Tensor, torch.Tensor]],
) -> str | None:
    theirs = torch.autograd.grad(
        [root for _, root, _ in roots],
        [leaf for _, leaf in leaves],
        [torch.from_numpy(weights) for _, _, weights in roots],
        allow_unused=True,
    )
    ours = flow.grad(
        [root for root, _, _ in roots],
        [leaf for leaf, _ in leaves],
        [flow.tensor(weights) for _, _, weights in roots],
        allow_unused=True,
    )
    for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        like = leaves[number][1].detach().resolve_conj().numpy()
        left = np.zeros_like(like) if a is None else a.numpy()
        right = np.zeros_like(like) if b is None else b.resolve_conj().numpy(force=True)
        if left.shape != right.shape or not _are_close(left, right):
            return f"another gradient of tensor {number}"
    return None


def _call_text(name: str, args: list[Any], keywords: dict[str, Any]) -> str:
    def text(value: Any) -> str:
        if isinstance(value, flow.Tensor):
            return f"{value.dtype}{list(value.shape)}"
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(text, value))}]"
        return repr(value)

    named = [f"{key}={text(value)}" for key, value in keywords.items()]
    return f"{name}({', '.join([*map(text, args), *named])})"
