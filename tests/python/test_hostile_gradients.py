"""Calls the functions of gradients with values that they do not take: each must return, or raise a clear error."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

import oneflow_py as flow


def x() -> flow.Tensor:
    return flow.tensor([1.0, 2.0]).requires_grad_()


class Returning(flow.autograd.Function):
    """A function whose parts return what they are told to."""

    forward_value: Any = None
    backward_value: Any = None

    @classmethod
    def forward(cls, ctx: Any, value: flow.Tensor) -> Any:
        return value * 2 if cls.forward_value is None else cls.forward_value

    @classmethod
    def backward(cls, ctx: Any, grad: flow.Tensor) -> Any:
        return cls.backward_value


def returning(forward: Any, backward: Any) -> type[Returning]:
    return type("Given", (Returning,), {"forward_value": forward, "backward_value": backward})


def hooked(tensor: flow.Tensor, hook: Any) -> None:
    y = tensor * 1
    y.register_hook(hook)
    y.sum().backward()


def saving(value: Any) -> Callable[..., Any]:
    class Saving(flow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, tensor: flow.Tensor) -> Any:
            ctx.save_for_backward(value)
            return tensor * 1

        @staticmethod
        def backward(ctx: Any, grad: flow.Tensor) -> Any:
            return grad if ctx.saved_tensors else None

    return Saving.apply


CALLS: dict[str, Callable[[Any], Any]] = {
    "backward of it": lambda v: flow.autograd.backward(v),
    "backward of a list": lambda v: flow.autograd.backward([v]),
    "gradient of backward": lambda v: x().sum().backward(v),
    "gradient of more elements": lambda v: (x() * 1).backward(v),
    "retain_graph": lambda v: x().sum().backward(retain_graph=v),
    "create_graph": lambda v: x().sum().backward(create_graph=v),
    "outputs": lambda v: flow.grad(v, [x()]),
    "inputs": lambda v: flow.grad(x().sum(), v),
    "an input": lambda v: flow.grad(x().sum(), [v]),
    "grad_outputs": lambda v: flow.grad(x() * 1, [x()], v, allow_unused=True),
    "a grad_output": lambda v: flow.grad(x() * 1, [x()], [v], allow_unused=True),
    "allow_unused": lambda v: flow.grad(x().sum(), [x()], allow_unused=v),
    "requires_grad_": lambda v: x().requires_grad_(v),
    "requires_grad": lambda v: setattr(x(), "requires_grad", v),
    "grad": lambda v: setattr(x(), "grad", v),
    "register_hook": lambda v: x().register_hook(v),
    "a hook": lambda v: hooked(x(), v),
    "what a hook returns": lambda v: hooked(x(), lambda grad: v),
    "set_grad_enabled": lambda v: flow.set_grad_enabled(v),
    "no_grad": lambda v: flow.no_grad()(v),
    "value_and_grad": lambda v: flow.value_and_grad(v)(x()),
    "argnums": lambda v: flow.value_and_grad(lambda t: t.sum(), v)(x()),
    "argument of value_and_grad": lambda v: flow.value_and_grad(lambda t: t.sum())(v),
    "value of value_and_grad": lambda v: flow.value_and_grad(lambda t: v)(x()),
    "vjp": lambda v: flow.vjp(v, x()),
    "argument of vjp": lambda v: flow.vjp(lambda t: t * 2, v),
    "value of vjp": lambda v: flow.vjp(lambda t: v, x())[1](),
    "pull": lambda v: flow.vjp(lambda t: t * 2, x())[1](v),
    "jacobian": lambda v: flow.jacobian(v, x()),
    "argument of jacobian": lambda v: flow.jacobian(lambda t: t * 2, v),
    "value of jacobian": lambda v: flow.jacobian(lambda t: v, x()),
    "hessian": lambda v: flow.hessian(v, x()),
    "argument of hessian": lambda v: flow.hessian(lambda t: (t * t).sum(), v),
    "value of hessian": lambda v: flow.hessian(lambda t: v, x()),
    "checkpoint": lambda v: flow.checkpoint(v, x()),
    "argument of checkpoint": lambda v: flow.checkpoint(lambda t: t * 2, v),
    "value of checkpoint": lambda v: flow.checkpoint(lambda t: v, x()),
    "gradcheck": lambda v: flow.gradcheck(v, x()),
    "argument of gradcheck": lambda v: flow.gradcheck(lambda t: t * 2, v),
    "value of gradcheck": lambda v: flow.gradcheck(lambda t: v, flow.tensor([1.0], dtype="float64").requires_grad_()),
    "eps": lambda v: flow.gradcheck(lambda t: t * 2, flow.tensor([1.0], dtype="float64").requires_grad_(), eps=v),
    "argument of a Function": lambda v: returning(None, None).apply(v),
    "what forward returns": lambda v: returning(v, None).apply(x()),
    "what backward returns": lambda v: returning(None, v).apply(x()).sum().backward(),
    "save_for_backward": lambda v: saving(v)(x()).sum().backward(),
    "params": lambda v: flow.optim.sgd_(v, [x()], [], lr=0.1),
    "a param": lambda v: flow.optim.sgd_([v], [flow.ones([2])], [], lr=0.1),
    "grads": lambda v: flow.optim.sgd_([flow.ones([2])], v, [], lr=0.1),
    "lr": lambda v: flow.optim.sgd_([flow.ones([2])], [flow.ones([2])], [], lr=v),
    "step": lambda v: flow.optim.adam_(
        [flow.ones([2])], [flow.ones([2])], [flow.ones([2])], [flow.ones([2])], step=v, lr=0.1
    ),
}


def failing(*_: Any) -> Any:
    raise ZeroDivisionError


def values() -> dict[str, Any]:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    return {
        "None": None, "0": 0, "-1": -1, "2**70": 2**70, "nan": float("nan"), "text": "x", "bytes": b"\0", "[]": [],
        "[None]": [None], "cyclic": cyclic, "{}": {}, "object": object(), "type": flow.Tensor, "module": flow,
        "Ellipsis": ..., "function": lambda *each: each[0] if each else None, "failing": failing,
        "integers": flow.tensor([1, 2]), "scalar": flow.tensor(1.0), "empty": flow.zeros([0]),
        "complex": flow.tensor([1j, 2j]), "huge": flow.zeros(1).expand(2**62), "three": flow.ones([3]),
        "float64": flow.ones([2], dtype="float64").requires_grad_(), "leaf": x(), "leaves": [x(), x()],
        "used up": used_up(),
    }  # fmt: skip


def used_up() -> flow.Tensor:
    y = (x() * x()).sum()
    y.backward()
    return y


def failed_in_given_function(error: BaseException) -> bool:
    """Returns whether an error comes from a function of this test, or from calling one with other arguments."""
    frames = list(traceback.walk_tb(error.__traceback__))
    is_last_here = frames[-1][0].f_code.co_filename == __file__ and len(frames) > 2
    return is_last_here or "positional argument" in str(error) or "cannot create" in str(error)


def failure_of(call: Callable[[Any], Any], given: Any) -> str | None:
    """Makes a call. Returns what is wrong with its error, if anything."""
    try:
        call(given)
    except flow.InternalError as error:
        return f"InternalError: {error}"
    except flow.Error as error:
        return None if str(error) else f"{type(error).__name__} without a text"
    except ZeroDivisionError:  # of the function `failing`
        return None
    except (TypeError, AttributeError) as error:
        return None if failed_in_given_function(error) else f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("name", CALLS)
def test_hostile_values(name: str) -> None:
    """Makes a call with each value. The functions that a test passes may fail with their own error."""
    was_enabled = flow.is_grad_enabled()
    failures = {}
    for what, given in values().items():
        failures[what] = failure_of(CALLS[name], given)
        flow.set_grad_enabled(was_enabled)
    assert not {what: each for what, each in failures.items() if each}
    (x() * 3).sum().backward()  # the next pass is right
