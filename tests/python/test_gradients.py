"""Gradients: of all operators against PyTorch's, of higher orders against differences, and the rules of recording."""

from __future__ import annotations

import asyncio
import base64
import copy
import functools
import gc
import inspect
import json
import operator
import os
import pickle
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import oneflow_py as flow
from tests.python.support import array, decode, raises
from tests.python.test_conformance import DEVICES, value

GRADIENTS = sorted((Path(__file__).parents[1] / "generated" / "gradients").glob("*.json"))


ON_THE_HOST = ("pin_memory",)


def leaf(numbers: Any, dtype: str = "float64") -> flow.Tensor:
    return flow.tensor(numbers, dtype=dtype).requires_grad_()


# ------------------------------------------------------------------------------------------------ vectors


def tensors_of(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


def expected_tensor(spec: dict[str, Any]) -> Any:
    return decode(base64.b64decode(spec["data"]), spec["dtype"], tuple(spec["sizes"]))


def problem(function: str, case: dict[str, Any], device: str = "cpu:0") -> str | None:
    """Runs a case on a device. Returns a description of the failure, or None."""
    arguments = {name: value(spec, device) for name, spec in case["arguments"].items()}
    leaves = []
    for name, spec in case["gradients"].items():
        given, specs = tensors_of(arguments[name]), spec if isinstance(spec, list) else [spec]
        made = [x.detach().requires_grad_(s is not None) for x, s in zip(given, specs, strict=True)]
        arguments[name] = made if isinstance(spec, list) else made[0]
        leaves += [(f"{name}[{i}]", x, s) for i, (x, s) in enumerate(zip(made, specs, strict=True)) if s is not None]
    try:
        results = tensors_of(functools.reduce(getattr, function.split("."), flow)(**arguments))
        roots, weights = [], []
        for result, weight, is_root in zip(results, case["weights"], case["differentiable"], strict=True):
            if is_root and result.requires_grad:
                roots.append(result)
                weights.append(flow.tensor(expected_tensor(weight), device=result.device))
        if roots:
            flow.autograd.backward(roots, weights)
    except flow.Error as error:
        return f"{type(error).__name__}: {error}"
    for name, x, spec in leaves:
        want = expected_tensor(spec)
        got = np.zeros_like(want) if x.grad is None else array(x.grad)
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"{name}: got {got.dtype} {got.shape}, expected {want.dtype} {want.shape}"
        with np.errstate(invalid="ignore"):
            close = np.isclose(got, want, case["relative"], case["absolute"], equal_nan=True)
        if not close.all():
            return f"{name}: got {got[~close][:4]}, expected {want[~close][:4]}"
    return None


@pytest.mark.parametrize("path", GRADIENTS, ids=lambda path: path.stem)
def test_gradients_are_those_of_pytorch(path: Path) -> None:
    content = json.loads(path.read_text())
    problems = []
    for case in content["cases"]:
        if (found := problem(content["function"], case)) is not None:
            problems.append(f"{case['name']}: {found}")
    assert not problems, f"{len(problems)} of {len(content['cases'])}\n" + "\n".join(problems[:20])


@pytest.mark.parametrize("device", [each for each in DEVICES if each != "cpu:0"])
def test_gradients_on_other_devices(device: str) -> None:
    """Runs one case of every third operator, or of each, because some devices compile their kernels now."""
    problems = []
    step = 1 if os.environ.get("ONEFLOW_VECTORS") == "all" else 3
    for position, path in list(enumerate(GRADIENTS))[::step]:
        content = json.loads(path.read_text())
        case = content["cases"][position % len(content["cases"])]
        if content["function"] not in ON_THE_HOST and (found := problem(content["function"], case, device)) is not None:
            problems.append(f"{content['function']}, {case['name']}: {found}")
    assert not problems, "\n".join(problems[:20])


# ------------------------------------------------------------------------------------------------ higher orders


UNARY = [
    "exp", "log", "sin", "cos", "tan", "atan", "tanh", "sigmoid", "sqrt", "rsqrt", "reciprocal", "square", "expm1",
    "log1p", "exp2", "log2", "log10", "erf", "silu", "gelu", "relu", "abs", "neg",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_first_and_second_derivatives_of_functions(name: str) -> None:
    x = leaf([0.3, 0.7, 1.4])
    function = getattr(flow, name)
    assert flow.gradcheck(function, x)
    assert flow.gradcheck(lambda y: flow.grad(function(y).sum(), y, create_graph=True)[0], x, rtol=1e-4)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x @ y,
        lambda x, y: flow.einsum("ij,jk->k", [x, y]),
        lambda x, y: flow.softmax(x @ y, 1),
        lambda x, y: flow.log_softmax(x, 0) @ y,
        lambda x, y: flow.linear(x, y.T, flow.sum(y, 0)),
        lambda x, y: flow.var(x, 1).sum() * flow.std(y),
        lambda x, y: flow.prod(x, 0) @ y,
        lambda x, y: flow.cumprod(x, 1) + flow.cumsum(y, 0)[0, 0],
        lambda x, y: flow.cat([x, y.T], 0) ** 2,
        lambda x, y: flow.stack([x, y.T]).amax(0),
        lambda x, y: flow.pow(x.abs(), y.T.abs()),
        lambda x, y: flow.atan2(x, y.T),
        lambda x, y: x[:, 1:] * y.T[:, :-1],
        lambda x, y: flow.sort(x, 1)[0] * flow.topk(y, 2, 0)[0].sum(),
        lambda x, y: flow.where(x > 0.1, x * x, y.T),
    ],
)
def test_first_and_second_derivatives_of_several_arguments(function: Any) -> None:
    random = np.random.default_rng(3)
    x, y = leaf(random.normal(size=(2, 3)) + 0.05), leaf(random.normal(size=(3, 2)))
    assert flow.gradcheck(function, [x, y])
    weights = flow.tensor(random.normal(size=function(x, y).shape))

    def gradients(a: flow.Tensor, b: flow.Tensor) -> list[flow.Tensor]:
        return list(flow.grad((function(a, b) * weights).sum(), [a, b], create_graph=True))

    assert flow.gradcheck(gradients, [x, y], atol=1e-4)


def test_a_third_derivative() -> None:
    x = leaf(2.0)
    first = flow.grad(x**4, x, create_graph=True)[0]
    second = flow.grad(first, x, create_graph=True)[0]
    assert flow.grad(second, x)[0].item() == pytest.approx(48)


# ------------------------------------------------------------------------------------------------ recording


def test_what_requires_a_gradient() -> None:
    x, y = leaf([1.0, 2.0]), flow.tensor([3.0, 4.0], dtype="float64")
    assert (x.requires_grad, x.is_leaf, x.grad_fn, x.grad) == (True, True, None, None)
    assert (y.requires_grad, y.is_leaf) == (False, True)
    z = x * y
    assert (z.requires_grad, z.is_leaf, z.grad_fn) == (True, False, "mul")
    assert not (y * y).requires_grad
    assert not (z > 0).requires_grad
    assert not z.detach().requires_grad
    assert z.detach().shares_memory_with(z)


def test_gradients_are_added_up_in_leaves() -> None:
    x = leaf([1.0, 2.0])
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5, 5]
    kept = x.grad
    x.grad = None
    assert x.grad is None
    (x * 3).sum().backward()
    assert (x.grad.tolist(), kept.tolist()) == ([3, 3], [5, 5])


def test_a_tensor_that_is_used_twice_gets_both_gradients() -> None:
    x = leaf([2.0])
    y = x * x
    (y * y + y * x).sum().backward()
    assert x.grad.tolist() == [4 * 8 + 3 * 4]


def test_a_graph_is_freed_unless_retained() -> None:
    x = leaf([2.0])
    y = (x * x).exp()
    y.backward(retain_graph=True)
    y.backward()
    raises(
        flow.InvalidArgument,
        "backward: what the gradient of exp needs was freed by an earlier backward pass, which needs the argument "
        "retain_graph=True",
        y.backward,
    )


def test_backward_needs_a_gradient_for_several_elements() -> None:
    x = leaf([1.0, 2.0])
    raises(
        flow.InvalidArgument,
        "backward: a tensor of shape [2] needs a gradient of this shape; only one element has the default 1",
        (x * 2).backward,
    )
    raises(
        flow.ShapeError,
        "backward: a gradient of shape [3] does not fit a tensor of shape [2]",
        lambda: (x * 2).backward(flow.ones([3])),
    )
    raises(
        flow.InvalidArgument,
        "backward: a tensor of shape [] does not require a gradient: it was made while calls were not recorded "
        "(no_grad), or of tensors that do not require one",
        lambda: flow.tensor(1.0).backward(),
    )


def test_modes() -> None:
    x = leaf([1.0])
    with flow.no_grad():
        assert not (x * 2).requires_grad
        with flow.enable_grad():
            assert (x * 2).requires_grad
        assert not flow.is_grad_enabled()
    assert flow.is_grad_enabled()

    @flow.no_grad()
    def constant(y: flow.Tensor) -> flow.Tensor:
        return y * 2

    assert not constant(x).requires_grad
    with flow.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    with flow.inference_mode():
        assert not (x * 2).requires_grad
    with pytest.raises(ZeroDivisionError), flow.no_grad():
        1 / 0  # noqa: B018
    assert (x * 2).requires_grad


def test_modes_decorate_functions_of_all_kinds() -> None:
    recorded = flow.is_grad_enabled

    @flow.no_grad
    def plain(self: int, *, function: int = 2) -> tuple[bool, int]:
        return recorded(), self + function

    @flow.no_grad
    def steps(received: list[Any]) -> Iterator[bool]:
        with flow.enable_grad():
            received.append((yield recorded()))
            yield recorded()
        try:
            yield recorded()
        except KeyError:
            received.append(recorded())
        try:
            yield recorded()
        finally:
            received.append(recorded())

    @flow.inference_mode
    def nothing() -> bool:
        return recorded()

    assert plain(1, function=3) == (False, 4)
    assert not nothing()
    assert flow.no_grad(flow.enable_grad(recorded))()
    assert inspect.isgeneratorfunction(steps)
    received: list[Any] = []
    running: Any = steps(received)
    assert next(running)
    with flow.no_grad():
        assert running.send("sent")
    assert [recorded(), next(running), running.throw(KeyError()), recorded()] == [True, False, False, True]
    running.close()
    assert received == ["sent", False, False]
    text = "no_grad: function must be a function, got the class Tensor"
    raises(flow.TypeMismatch, text, lambda: flow.no_grad(flow.Tensor))


def test_modes_decorate_coroutines() -> None:
    recorded = flow.is_grad_enabled

    @flow.no_grad
    async def constant() -> list[bool]:
        found = [recorded()]
        for _ in range(3):
            await asyncio.sleep(0)
            found.append(recorded())
        return found

    @flow.no_grad
    async def items() -> AsyncIterator[bool]:
        for _ in range(2):
            await asyncio.sleep(0)
            yield recorded()

    async def other() -> list[bool]:
        found = [recorded()]
        for _ in range(3):
            await asyncio.sleep(0)
            found.append(recorded())
        return found + [item or not recorded() async for item in items()]

    async def both() -> list[list[bool]]:
        return await asyncio.gather(constant(), other(), constant())

    assert asyncio.run(both()) == [[False] * 4, [True] * 4 + [False] * 2, [False] * 4]


def test_a_view_that_is_made_without_recording_is_a_constant() -> None:
    x = leaf([1.0, 2.0])
    changed = x * 1
    changed.mul_(2)
    for y in (x, x * 1, changed):
        for view in (lambda y: y[0], lambda y: y.unsqueeze(0), lambda y: y.expand([2, 2])):
            with flow.no_grad():
                constant = view(y)
            assert not constant.requires_grad
            assert not (constant * 2).requires_grad
            assert view(y).requires_grad


def test_a_mode_belongs_to_a_thread() -> None:
    x, found = leaf([1.0]), []
    with flow.no_grad():
        thread = threading.Thread(target=lambda: found.append((x * 2).requires_grad))
        thread.start()
        thread.join()
    assert found == [True]


def test_only_floating_point_tensors_require_gradients() -> None:
    raises(
        flow.DTypeError,
        "requires_grad: only floating-point and complex tensors have gradients, got int64",
        lambda: flow.tensor([1]).requires_grad_(),
    )


def test_retained_gradients() -> None:
    x = leaf([1.0, 2.0])
    y = x * 3
    y.retain_grad()
    assert y.retains_grad
    (y * y).sum().backward()
    assert (y.grad.tolist(), x.grad.tolist()) == ([6, 12], [18, 36])


def test_a_retained_gradient_is_that_of_the_present_value() -> None:
    """It was that of the value before a change in place."""
    for module in (flow, torch):
        x = module.tensor([1.0, 2.0]).requires_grad_()
        y = x * 1
        y.retain_grad()
        y.mul_(3)
        y[:1].mul_(5)
        (y * 7).sum().backward()
        assert (y.grad.tolist(), x.grad.tolist()) == ([7, 7], [105, 21])
    y = leaf([1.0, 2.0]) * 1
    part = y[:1]
    part.retain_grad()
    part.mul_(5)
    (y * 7).sum().backward()
    assert part.grad.tolist() == [7]
    z = leaf([2.0]) * 1
    z.retain_grad()
    (z * 7).sum().backward(retain_graph=True)
    z.mul_(2)
    (z * 3).sum().backward()
    assert z.grad.tolist() == [10]  # of both values, each at its time


def test_gradients_have_the_dtype_of_their_tensor() -> None:
    x, y = leaf([1.0, 2.0], "float32"), leaf([3.0, 4.0], "float64")
    (x * y).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (flow.float32, flow.float64)
    half = leaf([1.0, 2.0], "float16")
    (half.exp() * 2).sum().backward()
    assert half.grad.dtype == flow.float16


# ------------------------------------------------------------------------------------------------ changes in place


def test_a_leaf_cannot_be_changed_in_place() -> None:
    x = leaf([1.0, 2.0])
    text = "requires a gradient, so it cannot be changed in place while calls are recorded"
    raises(flow.InvalidArgument, f"add_: a leaf {text}", lambda: x.add_(1))
    raises(flow.InvalidArgument, f"mul_: a view of a leaf {text}", lambda: x[0].mul_(2))
    with flow.no_grad():
        x.add_(1)
    assert x.tolist() == [2, 3]


def test_a_change_in_place_is_part_of_the_history() -> None:
    x = leaf([1.0, 2.0])
    y = x * 1
    y.mul_(y)
    y.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [6, 12]


def test_a_saved_tensor_that_was_changed_is_an_error_that_names_both_calls() -> None:
    x = leaf([1.0, 2.0])
    y = x * 2
    z = y.exp() * y
    y.add_(1)
    with pytest.raises(flow.InvalidArgument) as found:
        z.sum().backward()
    text = str(found.value)
    assert "the gradient of mul reads" in text
    assert "was changed by add" in text


def test_writes_to_views_change_the_base() -> None:
    x, w = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([10.0, 20.0])
    y = x * 1
    y[0] = w
    y[1].mul_(5)
    (y * flow.tensor([[1.0, 2.0], [3.0, 4.0]], dtype="float64")).sum().backward()
    assert x.grad.tolist() == [[0, 0], [15, 20]]
    assert w.grad.tolist() == [1, 2]


def test_a_view_sees_writes_to_its_base() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    view = y[1:]
    y.mul_(4)
    (view * view).sum().backward()
    assert x.grad.tolist() == [0, 64, 96]


def test_a_base_without_a_gradient_gets_one_from_a_write() -> None:
    base, w = flow.zeros([3], dtype="float64"), leaf(2.0)
    view = base[1:]
    base[2] = w * 3
    assert base.requires_grad
    (view * 5).sum().backward()
    assert w.grad.item() == 15


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_with_writes_match_pytorch(seed: int) -> None:
    random = np.random.default_rng(seed)

    def program(module: Any, x: Any, w: Any) -> Any:
        choices = np.random.default_rng(seed)
        y = x * 1
        views = [y]
        for _ in range(8):
            source = views[choices.integers(len(views))]
            action = choices.integers(6)
            if action == 0 and len(source.shape) > 1:
                views.append(source[int(choices.integers(source.shape[0]))])
            elif action == 1 and source.shape and source.shape[0] > 1:
                views.append(source[1:])
            elif action == 2:
                source.mul_(w)
            elif action == 3:
                source.add_(source.detach() * 0 + w * w)
            elif action == 4 and len(source.shape) > 1:
                views.append(module.transpose(source, 0, 1))
            else:
                source.copy_(source * 0.5 + w) if module is torch else source.mul_(0.5).add_(w)
        return sum((each * each).sum() for each in [y, views[-1]])

    numbers, factor = random.normal(size=(3, 4)), 1.3
    x, w = torch.tensor(numbers, requires_grad=True), torch.tensor(factor, dtype=torch.float64, requires_grad=True)
    program(torch, x, w).backward()
    ours, our_w = leaf(numbers), leaf(factor)
    program(flow, ours, our_w).backward()
    np.testing.assert_allclose(array(ours.grad), x.grad.numpy(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(array(our_w.grad), w.grad.numpy(), rtol=1e-9)


def test_out_has_no_gradient() -> None:
    x = leaf([1.0])
    with pytest.raises(flow.InvalidArgument, match="a call that writes to a tensor of the caller has no gradient"):
        flow.exp(x, out=flow.zeros([1], dtype="float64"))


# ------------------------------------------------------------------------------------------------ functions


def test_grad_of_functions() -> None:
    x, y = flow.tensor([1.0, 2.0]), flow.tensor([3.0, 4.0])
    assert flow.grad(lambda a: (a * a).sum())(x).tolist() == [2, 4]
    value_, gradients = flow.value_and_grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, y)
    assert (value_.item(), [g.tolist() for g in gradients]) == (11, [[3, 4], [1, 2]])
    assert not x.requires_grad
    second = flow.grad(lambda a: flow.grad(lambda b: (b**3).sum())(a).sum())(x)
    assert second.tolist() == [6, 12]


def test_grad_of_inputs() -> None:
    x, y, z = leaf([1.0]), leaf([2.0]), leaf([3.0])
    inner = x * y
    found = flow.grad((inner * inner).sum(), [x, inner])
    assert ([each.tolist() for each in found], x.grad) == ([[8], [4]], None)
    text = "grad: outputs do not depend on input 1; allow_unused=True gives None for it"
    raises(flow.InvalidArgument, text, lambda: flow.grad((x * 2).sum(), [x, z]))
    assert flow.grad((x * 2).sum(), [x, z], allow_unused=True)[1] is None


def test_vjp_jacobian_hessian() -> None:
    x = flow.tensor([1.0, 2.0, 3.0], dtype="float64")
    value_, pull = flow.vjp(lambda a: a * a, x)
    assert (value_.tolist(), pull(flow.ones([3], dtype="float64")).tolist()) == ([1, 4, 9], [2, 4, 6])
    assert flow.jacobian(lambda a: a * a, x).tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    assert flow.hessian(lambda a: (a**3).sum(), x).tolist() == [[6, 0, 0], [0, 12, 0], [0, 0, 18]]
    both = flow.hessian(lambda a, b: (a * b).sum(), [x, x])
    assert both[0][1].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert flow.jacobian(lambda a: flow.zeros([2]), x).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    "inner",
    [
        lambda f, y: flow.grad(f)(y),
        lambda f, y: flow.value_and_grad(f)(y)[1],
        lambda f, y: flow.vjp(f, y)[1](),
        lambda f, y: flow.jacobian(f, y, create_graph=True),
    ],
    ids=["grad", "value_and_grad", "vjp", "jacobian"],
)
def test_nested_derivatives(inner: Any) -> None:
    """An inner derivative must not include what the function computes from the outer variable itself."""
    five = flow.tensor(5.0, dtype="float64")
    # d/dx [x * d/dy (x + y)] = 1, and d/dx [d/dy (x * x * y)] = 2x, at a y of its own or at y = x
    assert flow.grad(lambda x: x * inner(lambda y: x + y, x))(five).item() == 1
    assert flow.grad(lambda x: inner(lambda y: x * x * y, five * 1))(five).item() == 10
    assert flow.grad(lambda x: inner(lambda y: x * y * y, x))(five).item() == 20  # of 2 * x * x
    assert flow.jacobian(lambda x: inner(lambda y: x * x * y, five), five).item() == 10


def test_nested_second_derivatives() -> None:
    five = flow.tensor(5.0, dtype="float64")
    # d/dx [d2/dy2 (x * y * y * y) at y = x] = d/dx [6 * x * x]
    assert flow.grad(lambda x: flow.hessian(lambda y: x * y**3, x, create_graph=True))(five).item() == 60
    assert flow.hessian(lambda x: x * flow.grad(lambda y: x * y * y)(x), five).item() == 60  # of 2 * x * x * x


def test_a_vjp_of_a_vjp() -> None:
    value_, pull = flow.vjp(lambda y: y * y, flow.tensor(5.0, dtype="float64"))
    assert not value_.requires_grad
    assert not pull().requires_grad
    assert flow.grad(lambda g: pull(g))(flow.ones([], dtype="float64")).item() == 10


def test_a_captured_tensor_that_requires_a_gradient_gets_one() -> None:
    w = leaf(3.0)
    value_, gradient = flow.value_and_grad(lambda x: w * x * x)(flow.tensor(2.0, dtype="float64"))
    assert (value_.item(), gradient.item(), gradient.requires_grad) == (12, 12, True)
    assert flow.grad(gradient, [w])[0].item() == 4
    with flow.no_grad():
        assert not flow.grad(lambda x: w * x * x)(w).requires_grad


def test_hooks() -> None:
    x = leaf([1.0, 2.0])
    seen: list[Any] = []
    y = x * 2
    hook = y.register_hook(lambda grad: seen.append(grad.tolist()))
    x.register_hook(lambda grad: grad * 10)
    y.sum().backward(retain_graph=True)
    assert (seen, x.grad.tolist()) == ([[1, 1]], [20, 20])
    hook.remove()
    y.sum().backward()
    assert len(seen) == 1

    def failing(grad: flow.Tensor) -> None:
        raise KeyError("from the hook")

    z = leaf([1.0])
    z.register_hook(failing)
    with pytest.raises(KeyError, match="from the hook"):
        (z * 2).sum().backward()

    w = leaf([1.0])
    with w.register_hook(lambda grad: "none"), pytest.raises(flow.TypeMismatch) as caught:  # type: ignore[arg-type, return-value]
        (w * 2).sum().backward()
    assert str(caught.value) == "register_hook: a hook must return Tensor or None, got str"
    (w * 2).sum().backward()  # the end of the block has removed the hook
    assert w.grad.tolist() == [2]


class Cube(flow.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: flow.Tensor, factor: float) -> flow.Tensor:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * x * factor

    @staticmethod
    def backward(ctx: Any, grad: flow.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x * ctx.factor, None


def test_functions_with_gradients_of_their_own() -> None:
    x = leaf([2.0, 3.0])
    y = Cube.apply(x, 2.0)
    assert y.grad_fn == "Cube"
    (y * 1).sum().backward()
    assert x.grad.tolist() == [24, 54]
    assert flow.gradcheck(lambda a: Cube.apply(a, 2.0), leaf([0.5, 1.5]))
    assert flow.hessian(lambda a: Cube.apply(a, 1.0).sum(), flow.tensor([2.0])).tolist() == [[12]]


def test_a_function_that_returns_too_few_gradients_is_an_error() -> None:
    class Wrong(flow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: flow.Tensor, y: flow.Tensor) -> flow.Tensor:
            return x * y

        @staticmethod
        def backward(ctx: Any, grad: flow.Tensor) -> Any:
            return grad

    with pytest.raises(flow.InvalidArgument, match="Wrong: backward must return a gradient or None for each of 2"):
        Wrong.apply(leaf([1.0]), leaf([2.0])).backward()


def test_checkpoint() -> None:
    calls = []

    def layer(a: flow.Tensor, b: flow.Tensor) -> flow.Tensor:
        calls.append(1)
        return (a * b).exp()

    x, y = leaf([0.1, 0.2]), leaf([0.3, 0.4])
    flow.checkpoint(layer, x, y).sum().backward()
    want = flow.grad((x * y).exp().sum(), [x, y])
    assert len(calls) == 2
    assert x.grad.tolist() == pytest.approx(want[0].tolist())
    assert y.grad.tolist() == pytest.approx(want[1].tolist())


def test_functions_that_return_what_was_there_before() -> None:
    x, other = leaf([1.0, 2.0]), leaf([3.0, 4.0])

    class Other(flow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: flow.Tensor) -> flow.Tensor:
            return other

        @staticmethod
        def backward(ctx: Any, grad: flow.Tensor) -> flow.Tensor:
            return grad * 5

    class Marked(flow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: flow.Tensor) -> Any:
            ctx.mark_non_differentiable(x)
            return x, x * 2

    for function in (Other.apply, lambda x: flow.checkpoint(lambda _: other, x)):
        y = function(x)
        assert y is not other
        assert other.is_leaf
        y.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    assert other.grad.tolist() == [1.0, 1.0]
    assert [each.requires_grad for each in Marked.apply(x)] == [False, True]
    text = "mark_non_differentiable: tensors must be Tensor, got int"
    raises(flow.TypeMismatch, text, lambda: flow.autograd.Context().mark_non_differentiable(3))


def test_gradients_of_constants_are_zeros() -> None:
    x, three = flow.tensor([1.0, 2.0], dtype="float32"), flow.tensor(3.0)
    functions: list[Callable[[flow.Tensor], flow.Tensor]] = [
        lambda x: three,
        lambda x: x.argmax(),
        flow.no_grad(lambda x: x.sum()),
    ]
    for function in functions:
        found = [
            flow.grad(function)(x),
            flow.value_and_grad(function)(x)[1],
            flow.vjp(function, x)[1](),
            flow.jacobian(function, x),
            *flow.hessian(function, x),
        ]
        assert all(each.tolist() == [0.0, 0.0] and each.dtype == flow.float32 for each in found)
    _, pull = flow.vjp(lambda x: (three, x * 2), x)
    assert pull([None, flow.ones(2)]).tolist() == [2.0, 2.0]
    text = "value_and_grad: a tensor of shape [2] needs a gradient of this shape; only one element has the default 1"
    raises(flow.InvalidArgument, text, lambda: flow.value_and_grad(lambda x: flow.ones(2))(x))
    text = "vjp: a gradient of shape [3] does not fit a tensor of shape []"
    raises(flow.ShapeError, text, lambda: flow.vjp(lambda x: three, x)[1](flow.ones(3)))


def test_a_checkpoint_draws_the_same_numbers_again() -> None:
    """The function was called again with other random numbers: the mask of a dropout was another one."""
    x = flow.ones([1000]).requires_grad_()
    flow.manual_seed(3)
    y = flow.checkpoint(lambda a: flow.dropout(a, 0.5) * flow.rand(1000), x)
    flow.rand(5)
    state = flow.get_rng_state()
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert flow.get_rng_state() == state

    def failing(a: flow.Tensor) -> flow.Tensor:
        if flow.is_grad_enabled():
            raise KeyError("the second time")
        return flow.dropout(a, 0.5)

    y = flow.checkpoint(failing, x)
    state = flow.get_rng_state()
    with pytest.raises(KeyError):
        y.sum().backward()
    assert flow.get_rng_state() == state


def test_gradcheck_finds_a_wrong_gradient() -> None:
    class Wrong(flow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: flow.Tensor) -> flow.Tensor:
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: flow.Tensor) -> Any:
            return grad

    x = leaf([3.0])
    assert not flow.gradcheck(Wrong.apply, x, raise_exception=False)
    with pytest.raises(flow.InvalidArgument, match="the gradient of result 0 for input 0 differs by up to 5"):
        flow.gradcheck(Wrong.apply, x)


# ------------------------------------------------------------------------------------------------ copies


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_of_a_leaf_is_a_leaf(copied: Any) -> None:
    """It was the result of a recorded call, whose gradient went to the original, or required none."""
    x = leaf([1.0, 2.0])
    (x * 3).sum().backward()
    y = copied(x)
    assert (y.is_leaf, y.requires_grad, y.tolist(), y.dtype) == (True, True, [1, 2], flow.float64)
    (y * 5).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([3, 3], [8, 8] if copied is copy.deepcopy else [5, 5])
    with flow.no_grad():
        y.add_(1)
    assert x.tolist() == [1, 2]
    assert not copied(x.detach()).requires_grad
    model = copied({"w": x, "same": x})
    assert model["w"] is model["same"]


def test_a_result_of_a_recorded_call_has_no_deep_copy() -> None:
    y = leaf([1.0]) * 2
    raises(
        flow.InvalidArgument,
        "copy: the tensor must be a leaf, got the result of a recorded call (mul), whose history has no copy; use "
        "clone, or detach it first",
        lambda: copy.deepcopy(y),
    )
    assert copy.deepcopy(y.detach()).tolist() == [2]


# ------------------------------------------------------------------------------------------------ complex numbers


def test_complex_gradients_follow_pytorch() -> None:
    numbers = np.array([1 + 2j, -0.5 + 0.3j]), np.array([0.7 - 1j, 2 + 0.1j])
    want = [torch.tensor(each, requires_grad=True) for each in numbers]
    ours = [flow.tensor(each).requires_grad_() for each in numbers]

    def program(module: Any, x: Any, y: Any) -> Any:
        z = x * y + module.conj(x) * 2 - y
        parts = module.view_as_real(z) if module is flow else torch.view_as_real(z.resolve_conj())
        return (parts * parts).sum() + (module.real(x) * module.imag(y)).sum()

    program(torch, *want).backward()
    program(flow, *ours).backward()
    for found, expected in zip(ours, want, strict=True):
        np.testing.assert_allclose(array(found.grad), expected.grad.numpy(), rtol=1e-12)


def test_the_gradient_of_a_view_as_real_may_have_any_layout() -> None:
    """That of a sum is expanded, that of a slice may begin at an odd position: neither has a complex view."""
    values = np.array([1 + 2j, -3.5j])
    for program, expected in (
        (lambda parts: parts.sum(), [1 + 1j, 1 + 1j]),
        (lambda parts: (flow.cat([flow.zeros(1, dtype="float64"), parts.flatten()]) * 3).sum(), [3 + 3j, 3 + 3j]),
        (lambda parts: (parts.T * flow.tensor([[1.0, 2.0], [3.0, 4.0]])).sum(), [1 + 3j, 2 + 4j]),
    ):
        z = flow.tensor(values).requires_grad_()
        program(flow.view_as_real(z)).backward()
        assert z.grad.tolist() == expected


# ------------------------------------------------------------------------------------------------ lifetimes


def test_a_long_chain_needs_no_deep_stack() -> None:
    x = leaf([1.0])
    y = x
    for _ in range(200_000):
        y = y + 1
    y.sum().backward()
    assert x.grad.tolist() == [1]
    y = x
    for _ in range(200_000):
        y = y * 1
    del y


def test_nothing_keeps_a_graph_alive() -> None:
    gc.collect()
    before = flow.memory_stats()["tensors"]
    for _ in range(3):
        x = leaf(np.ones(1000))
        y = x.exp()
        y.retain_grad()
        hook_owner = (y * y).sum()
        y.register_hook(lambda grad: grad)
        hook_owner.backward()
        del x, y, hook_owner
    gc.collect()
    assert flow.memory_stats()["tensors"] == before


def test_a_function_and_what_it_keeps_are_freed() -> None:
    class Kept:
        pass

    class Keeps(flow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: flow.Tensor) -> flow.Tensor:
            ctx.kept = Kept()
            alive.append(weakref.ref(ctx.kept))
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: flow.Tensor) -> Any:
            return grad * 2

    alive: list[Any] = []
    y = Keeps.apply(leaf([1.0]))
    assert alive[0]() is not None
    y.backward()
    gc.collect()
    assert alive[0]() is None


def test_passes_on_several_threads_add_to_one_leaf() -> None:
    x = leaf(np.zeros(100))

    def work() -> None:
        for _ in range(50):
            (x * 1).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(x.grad.tolist()) == {200.0}


def test_anomalies_name_their_call() -> None:
    x = leaf([0.0, 1.0])
    (x.log() * 0).sum().backward()  # no error: the gradient is just NaN
    assert np.isnan(x.grad.tolist()[0])
    text = "backward: the gradient of log for its operand of shape [2] has a NaN; the result of the call has shape [2]"
    with pytest.raises(flow.InvalidArgument) as caught, flow.autograd.detect_anomaly():
        (x.log() * 0).sum().backward()
    assert str(caught.value) == text
    assert flow.get_option("detect_anomaly") == 0
    with flow.autograd.detect_anomaly():
        (x + 1).log().sum().backward(create_graph=True)


def test_exporting_a_tensor_between_the_passes() -> None:
    x, w = flow.ones([2]), leaf([1.0, 2.0])
    y = (x.cast(flow.float64) * w).sum()
    x.numpy()
    w.detach().numpy()
    np.from_dlpack(x)
    assert flow.grad(y, [w])[0].tolist() == [1.0, 1.0]


def test_running_moments_of_batch_norm() -> None:
    values = np.random.default_rng(0).normal(1.0, 2.0, (6, 3, 4))
    ours = [flow.zeros([3], dtype=flow.float64), flow.ones([3], dtype=flow.float64)]
    theirs = [torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)]
    for step in range(3):
        x, y = flow.tensor(values + step).requires_grad_(), torch.tensor(values + step)
        found = flow.batch_norm(x, *ours, training=True, momentum=0.25)
        found.sum().backward()
        expected = torch.nn.functional.batch_norm(y, *theirs, training=True, momentum=0.25)
        np.testing.assert_allclose(found.detach().numpy(), expected.numpy(), 1e-10, 1e-12)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-12)
    flow.batch_norm(flow.tensor(values), *ours)
    np.testing.assert_allclose(ours[0].numpy(), theirs[0].numpy(), 1e-12)


def test_second_derivatives_of_networks() -> None:
    """Compares gradients of gradients with PyTorch's, of operators whose first gradient is a program of its own."""
    random = np.random.default_rng(0).normal
    functional = torch.nn.functional
    cases: list[tuple[Any, Any, list[tuple[int, ...]]]] = [
        (
            lambda x, w, b: flow.conv2d(x, w, b, stride=2, padding=1),
            lambda x, w, b: functional.conv2d(x, w, b, stride=2, padding=1),
            [(2, 3, 5, 6), (4, 3, 3, 2), (4,)],
        ),
        (
            lambda x, w: flow.conv_transpose2d(x, w, stride=2, padding=1),
            lambda x, w: functional.conv_transpose2d(x, w, stride=2, padding=1),
            [(2, 3, 5, 6), (3, 4, 3, 2)],
        ),
        (
            lambda x, w, b: flow.layer_norm(x, [5], w, b),
            lambda x, w, b: functional.layer_norm(x, [5], w, b),
            [(4, 5), (5,), (5,)],
        ),
        (
            lambda x, w, b: flow.batch_norm(x, None, None, w, b, training=True),
            lambda x, w, b: functional.batch_norm(x, None, None, w, b, training=True),
            [(4, 3, 2), (3,), (3,)],
        ),
        (lambda x: flow.max_pool2d(x, 2), lambda x: functional.max_pool2d(x, 2), [(2, 3, 6, 6)]),
        (
            lambda q, k, v: flow.scaled_dot_product_attention(q, k, v, is_causal=True),
            lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
            [(1, 2, 4, 3), (1, 2, 4, 3), (1, 2, 4, 5)],
        ),
        (lambda x: flow.unfold(x, 1, 3, 2), lambda x: x.unfold(1, 3, 2), [(3, 9)]),
        (
            lambda x: flow.as_strided(x.t()[1:], [3, 2], [2, 1], 1),
            lambda x: torch.as_strided(x.t()[1:], [3, 2], [2, 1], 1),
            [(4, 5)],
        ),
        (lambda x: flow.logsumexp(x, 1), lambda x: torch.logsumexp(x, 1), [(3, 4)]),
    ]
    for ours, theirs, shapes in cases:
        arrays = [random(size=shape) for shape in shapes]
        xs = [flow.tensor(each).requires_grad_() for each in arrays]
        ts = [torch.tensor(each, requires_grad=True) for each in arrays]
        first = flow.grad((ours(*xs) ** 2).sum(), xs, create_graph=True)
        other = torch.autograd.grad((theirs(*ts) ** 2).sum(), ts, create_graph=True)
        found = flow.grad(functools.reduce(operator.add, [(each**3).sum() for each in first]), xs)
        expected = torch.autograd.grad(sum((each**3).sum() for each in other), ts)
        for one, another in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.numpy(), another.numpy(), 1e-8, 1e-8)


def test_values_without_a_branch_are_refused_while_calls_are_recorded() -> None:
    with pytest.raises(flow.InvalidArgument, match="norm: p must be 'fro', got 'nuc'"):
        flow.norm(leaf([1.0, 2.0]), "nuc")


def test_gradients_of_moves_between_devices() -> None:
    x, y = leaf([1.0, 2.0]), flow.ones(2, dtype="float64", device="far:0").requires_grad_()
    ((x.to("far:0") * y).to(x) * x).sum().backward()
    assert (x.grad.tolist(), str(x.grad.device)) == ([2.0, 4.0], "cpu:0")
    assert (y.grad.tolist(), str(y.grad.device)) == ([1.0, 4.0], "far:0")
    moved = flow.ones(2).type_as(y)
    assert (str(moved.device), str(moved.dtype)) == ("far:0", "float64")


def calls_in_turn(*results: Any) -> Any:
    """Returns a function that returns another result at each call."""
    left = iter(results)
    return lambda x: next(left)(x)


class NumberAsGradient(flow.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: flow.Tensor) -> flow.Tensor:
        ctx.save_for_backward(None)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: flow.Tensor) -> Any:
        return 3


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (flow.InvalidArgument, "grad: argnums names argument 1 twice",
         lambda x: flow.grad(flow.mul, argnums=[1, -1])(x, x)),
        (flow.InvalidArgument, "value_and_grad: argnums must have at least one number",
         lambda x: flow.value_and_grad(flow.sum, [])),
        (flow.TypeMismatch, "value_and_grad: argnums must be int or a list of int, got bool",
         lambda x: flow.value_and_grad(flow.sum, True)),
        (flow.TypeMismatch, "value_and_grad: argnums[1] must be int, got str",
         lambda x: flow.value_and_grad(flow.sum, [0, "a"])),
        (flow.IndexOutOfRange, "value_and_grad: argnums has -2, but there are 1 arguments",
         lambda x: flow.value_and_grad(flow.sum, -2)(x)),
        (flow.TypeMismatch, "value_and_grad: a gradient needs a Tensor argument, got float",
         lambda x: flow.value_and_grad(flow.sum)(3.0)),
        (flow.TypeMismatch, "value_and_grad: the function must return Tensor, got tuple",
         lambda x: flow.value_and_grad(lambda each: (each, each))(x)),
        (flow.TypeMismatch, "vjp: the function must return Tensor or a list of tensors, got None",
         lambda x: flow.vjp(lambda each: None, x)),
        (flow.TypeMismatch, "vjp: the function must return Tensor or a list of tensors, got a tuple with int",
         lambda x: flow.vjp(lambda each: (each, 3), x)),
        (flow.TypeMismatch, "grad: missing argument inputs", lambda x: flow.grad(x)),
        (flow.InvalidArgument, "grad: inputs must have at least one tensor", lambda x: flow.grad(x.sum(), [])),
        (flow.TypeMismatch, "grad: inputs[0] must be Tensor, got None", lambda x: flow.grad(x.sum(), [None])),
        (flow.TypeMismatch, "backward: tensors[1] must be Tensor, got int",
         lambda x: flow.autograd.backward([x.sum(), 3])),
        (flow.TypeMismatch, "backward: grad_tensors[0] must be Tensor or None, got str",
         lambda x: flow.autograd.backward([x], ["a"])),
        (flow.TypeMismatch, "jacobian: create_graph must be bool, got str",
         lambda x: flow.jacobian(flow.sum, x, create_graph="a")),
        (flow.TypeMismatch, "grad: allow_unused must be bool, got int",
         lambda x: flow.grad(x.sum(), x, allow_unused=1)),
        (flow.TypeMismatch, "requires_grad: must be bool, got str", lambda x: setattr(x, "requires_grad", "a")),
        (flow.TypeMismatch, "set_grad_enabled: mode must be bool, got int", lambda x: flow.set_grad_enabled(1)),
        (flow.TypeMismatch, "no_grad: function must be callable, got int", lambda x: flow.no_grad()(3)),
        (flow.TypeMismatch, "NumberAsGradient: backward must return Tensor or None, got int",
         lambda x: NumberAsGradient.apply(x).sum().backward()),
        (flow.TypeMismatch, "checkpoint: the function must return Tensor or a list of tensors, got int",
         lambda x: flow.checkpoint(lambda each: 3, x)),
        (flow.InvalidArgument, "checkpoint: the function returned 2 tensors, and 1 when it was called again",
         lambda x: flow.checkpoint(calls_in_turn(lambda a: (a * a, a), lambda a: a * a), x)[0].sum().backward()),
        (flow.TypeMismatch, "checkpoint: the function must return Tensor or a list of tensors, got None",
         lambda x: flow.checkpoint(calls_in_turn(lambda a: a * a, lambda a: None), x).sum().backward()),
    ],
)  # fmt: skip
def test_wrong_arguments_of_functions_of_gradients(error: type[flow.Error], text: str, call: Any) -> None:
    raises(error, text, lambda: call(leaf([1.0, 2.0])))


def test_forms_of_what_functions_return() -> None:
    x = leaf([1.0, 2.0])
    found = flow.checkpoint(lambda each: [each * each, each], x)
    assert isinstance(found, list)
    (found[0].sum() + found[1].sum()).backward()
    assert x.grad.tolist() == [3, 5]
    (squares, total), _ = flow.vjp(lambda each: (each * each, each.sum()), flow.ones(2))
    assert (squares.requires_grad, total.requires_grad) == (False, False)
    assert flow.hessian(lambda each: flow.tensor(3.0), flow.ones(2)).tolist() == [[0, 0], [0, 0]]
    assert flow.value_and_grad(lambda a, b: (a * b * b).sum(), argnums=-1)(x, x)[1].tolist() == [2, 8]
    assert flow.gradcheck(lambda each: each * 2, leaf([]))
