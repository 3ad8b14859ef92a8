"""Gradients of functions, gradient modes, checkpoints and functions with gradients of their own.

>>> import oneflow_py as flow
>>> x = flow.tensor([1.0, 2.0]).requires_grad_()
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

from oneflow_py import _native as native
from oneflow_py._native import HookHandle as HookHandle
from oneflow_py._native import IndexOutOfRange, InvalidArgument, ShapeError, Tensor, TypeMismatch, Unsupported
from oneflow_py.modes import check_callable, in_mode

_F = TypeVar("_F", bound=Callable[..., Any])

# ------------------------------------------------------------------------------------------------ modes


class set_grad_enabled:
    """Switches recording on or off: at once, and back at the end of a `with` block."""

    def __init__(self, mode: bool) -> None:
        _flags("set_grad_enabled", mode=mode)
        self._before = native.is_grad_enabled()
        self._mode = mode
        native._set_grad_enabled(self._mode)

    def __enter__(self) -> None:
        native._set_grad_enabled(self._mode)

    def __exit__(self, *_: object) -> None:
        native._set_grad_enabled(self._before)

    def __call__(self, function: _F) -> _F:
        """Returns a function whose calls run in this mode."""
        native._set_grad_enabled(self._before)
        return in_mode("set_grad_enabled", function, self._mode)


class _Mode:
    """A mode for a `with` block, or for the calls of a function that it decorates."""

    def __init__(self, name: str, recording: bool) -> None:
        self._name = name
        self._recording = recording
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(native.is_grad_enabled())
        native._set_grad_enabled(self._recording)

    def __exit__(self, *_: object) -> None:
        native._set_grad_enabled(self._before.pop())

    def __call__(self, function: _F) -> _F:
        """Returns a function whose calls run in this mode."""
        return in_mode(self._name, function, self._recording)


_MISSING: Any = object()


def _mode(name: str, recording: bool, function: Any) -> Any:
    return _Mode(name, recording) if function is _MISSING else in_mode(name, function, recording)


@overload
def no_grad() -> _Mode: ...
@overload
def no_grad(function: _F) -> _F: ...
def no_grad(function: Any = _MISSING) -> Any:
    """Calls in it are not recorded: `with flow.no_grad():`, or `@flow.no_grad` for those of a function."""
    return _mode("no_grad", False, function)


@overload
def enable_grad() -> _Mode: ...
@overload
def enable_grad(function: _F) -> _F: ...
def enable_grad(function: Any = _MISSING) -> Any:
    """Calls in it are recorded, also within `no_grad`."""
    return _mode("enable_grad", True, function)


@overload
def inference_mode() -> _Mode: ...
@overload
def inference_mode(function: _F) -> _F: ...
def inference_mode(function: Any = _MISSING) -> Any:
    """Calls in it are not recorded; the same as `no_grad`."""
    return _mode("inference_mode", False, function)


# ------------------------------------------------------------------------------------------------ gradients


def _as_list(caller: str, name: str, value: object, *, optional: bool = False) -> list[Any]:
    """Returns a tensor or a list of tensors as a list. With `optional`, items may be None."""
    if isinstance(value, Tensor):
        return [value]
    if not isinstance(value, (list, tuple)):
        raise TypeMismatch(f"{caller}: {name} must be Tensor or a list of tensors, got {native._type_name(value)}")
    for i, each in enumerate(value):
        if not isinstance(each, Tensor) and not (optional and each is None):
            expected = "Tensor or None" if optional else "Tensor"
            raise TypeMismatch(f"{caller}: {name}[{i}] must be {expected}, got {native._type_name(each)}")
    return list(value)


def _inputs(caller: str, value: object) -> list[Tensor]:
    """Returns a tensor or a list of tensors as a list."""
    found = _as_list(caller, "inputs", value)
    if not found:
        raise InvalidArgument(f"{caller}: inputs must have at least one tensor")
    return found


def _flags(caller: str, **values: object) -> None:
    for name, value in values.items():
        if not isinstance(value, bool):
            raise TypeMismatch(f"{caller}: {name} must be bool, got {native._type_name(value)}")


def _value(caller: str, value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeMismatch(f"{caller}: the function must return Tensor, got {native._type_name(value)}")
    return value


def _values(caller: str, value: object) -> list[Tensor]:
    """Returns what a function returned, one tensor or several, as a list."""
    is_list = isinstance(value, (list, tuple))
    items: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
    for each in items:
        if not isinstance(each, Tensor):
            found = (
                f"a {native._type_name(value)} with {native._type_name(each)}" if is_list else native._type_name(value)
            )
            raise TypeMismatch(f"{caller}: the function must return Tensor or a list of tensors, got {found}")
    return items


def _like(value: Any, items: list[Any]) -> Any:
    """Returns what a function returned, one value or several in a list or tuple, with other values."""
    if isinstance(value, (list, tuple)):
        return items if isinstance(value, list) else getattr(type(value), "_make", tuple)(items)
    return items[0]


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Adds the gradients of the sum of `tensors` to all leaves that they depend on.

    `grad_tensors` are the gradients of the tensors, 1 by default.
    """
    outputs = _as_list("backward", "tensors", tensors)
    grads = _grads("backward", "grad_tensors", grad_tensors, outputs)
    retains = _retains("backward", retain_graph, create_graph)
    native._backward(outputs, grads, None, retains, create_graph)


def _grads(caller: str, name: str, grads: Any, outputs: list[Any]) -> list[Any]:
    found = [None] * len(outputs) if grads is None else _as_list(caller, name, grads, optional=True)
    if len(found) != len(outputs):
        counts = f"{len(outputs)} tensors, got {len(found)}"
        raise InvalidArgument(f"{caller}: {name} must have a gradient for each of {counts}")
    return found


def _retains(caller: str, retain_graph: bool | None, create_graph: bool) -> bool:
    retains = create_graph if retain_graph is None else retain_graph
    _flags(caller, retain_graph=retains, create_graph=create_graph)
    return retains


def grad(
    outputs: Tensor | Sequence[Tensor] | Callable[..., Any],
    inputs: Tensor | Sequence[Tensor] | None = None,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    *,
    argnums: int | Sequence[int] = 0,
) -> Any:
    """Returns the gradients of the sum of `outputs` for `inputs`, as a tuple; for a function, that of its gradient.

    `flow.grad(f)(x)` is the gradient of the scalar `f(x)` for the argument number `argnums`, or a tuple for several.

    Raises InvalidArgument for an input that the outputs do not depend on, unless `allow_unused`: it then has None.
    """
    if callable(outputs):
        function = _with_gradient("grad", outputs, argnums)
        return functools.wraps(outputs)(lambda *args, **keywords: function(*args, **keywords)[1])
    if inputs is None:
        raise TypeMismatch("grad: missing argument inputs")
    tensors, wanted = _as_list("grad", "outputs", outputs), _inputs("grad", inputs)
    grads = _grads("grad", "grad_outputs", grad_outputs, tensors)
    _flags("grad", allow_unused=allow_unused)
    found = native._backward(tensors, grads, wanted, _retains("grad", retain_graph, create_graph), create_graph)
    if not allow_unused:
        for position, each in enumerate(found):
            if each is None:
                raise InvalidArgument(
                    f"grad: outputs do not depend on input {position}; allow_unused=True gives None for it"
                )
    return tuple(found)


def value_and_grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Returns a function that returns the value of `function`, and its gradient for the argument number `argnums`.

    The value must be a tensor with one element. Several numbers give a tuple of gradients. Both are recorded if the
    function depends on a tensor that requires a gradient.
    """
    return _with_gradient("value_and_grad", function, argnums)


def _with_gradient(caller: str, function: Callable[..., Any], argnums: object) -> Callable[..., Any]:
    check_callable(caller, function)
    numbers = _argument_numbers(caller, argnums)

    @functools.wraps(function)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        positions = _positions(caller, numbers, len(args))
        is_recording = native.is_grad_enabled()
        with enable_grad():
            inputs = [_variable(caller, args[position], is_recording) for position in positions]
            given = list(args)
            for position, variable in zip(positions, inputs, strict=True):
                given[position] = variable
            value = _value(caller, function(*given, **keywords))
            records = is_recording and native._depends_on_others([value], inputs)
            grads = _gradients(caller, [value], [None], inputs, records, records)
        return value if records else value.detach(), grads if isinstance(argnums, (list, tuple)) else grads[0]

    return wrapper


def _argument_numbers(caller: str, argnums: Any) -> list[int]:
    """Returns a number or a list of numbers as a list."""
    is_list = isinstance(argnums, (list, tuple))
    found = []
    for i, each in enumerate(argnums if is_list else (argnums,)):
        if isinstance(each, bool) or not hasattr(type(each), "__index__") or isinstance(each, Tensor):
            expected = f"argnums[{i}] must be int" if is_list else "argnums must be int or a list of int"
            raise TypeMismatch(f"{caller}: {expected}, got {native._type_name(each)}")
        found.append(operator.index(each))
    if not found:
        raise InvalidArgument(f"{caller}: argnums must have at least one number")
    return found


def _positions(caller: str, numbers: list[int], count: int) -> list[int]:
    """Returns the positions of arguments, of which there are `count`; negative numbers count from the end."""
    found: list[int] = []
    for number in numbers:
        if not -count <= number < count:
            raise IndexOutOfRange(f"{caller}: argnums has {number}, but there are {count} arguments")
        if number % count in found:
            raise InvalidArgument(f"{caller}: argnums names argument {number % count} twice")
        found.append(number % count)
    return found


def _variable(caller: str, value: Tensor, keeps_history: bool) -> Tensor:
    """Returns a tensor over the same memory, whose gradient is not that of `value` itself.

    With `keeps_history`, it depends on `value`.
    """
    if not isinstance(value, Tensor):
        raise TypeMismatch(f"{caller}: a gradient needs a Tensor argument, got {native._type_name(value)}")
    return native._independent_variable(value, keeps_history)


def _gradients(
    caller: str, outputs: list[Tensor], grads: list[Any], inputs: list[Tensor], retain_graph: bool, create_graph: bool
) -> tuple[Tensor, ...]:
    """Returns the gradients of inputs, zeros where the outputs do not depend on one. Outputs may be constants."""
    found = native._backward(outputs, grads, inputs, retain_graph, create_graph, caller)
    return tuple(native.zeros_like(x) if each is None else each for x, each in zip(inputs, found, strict=True))


def vjp(function: Callable[..., Any], *inputs: Tensor) -> tuple[Any, Callable[..., Any]]:
    """Returns the value of `function(*inputs)`, and a function from a gradient of the value to those of the inputs."""
    check_callable("vjp", function)
    is_recording = native.is_grad_enabled()
    variables = [_variable("vjp", each, is_recording) for each in inputs]
    with enable_grad():
        value = function(*variables)
    outputs = _values("vjp", value)
    records = is_recording and native._depends_on_others(outputs, variables)

    def pull(gradient: Any = None) -> Any:
        given = _grads("vjp", "gradient", gradient, outputs)
        is_variable = records or any(each is not None and each.requires_grad for each in given)
        creates = is_variable and native.is_grad_enabled()
        grads = _gradients("vjp", outputs, given, variables, True, creates)
        return grads[0] if len(grads) == 1 else grads

    return value if records else _like(value, [each.detach() for each in outputs]), pull


def jacobian(function: Callable[..., Tensor], inputs: Tensor | Sequence[Tensor], create_graph: bool = False) -> Any:
    """Returns the derivatives of every element of `function(*inputs)`, of shape value.shape + input.shape.

    Several inputs give a tuple. `create_graph` records the computation of the derivatives.
    """
    check_callable("jacobian", function)
    single = isinstance(inputs, Tensor)
    _flags("jacobian", create_graph=create_graph)
    variables = [_variable("jacobian", each, create_graph) for each in _inputs("jacobian", inputs)]
    with enable_grad():
        value = _value("jacobian", function(*variables))
        rows: list[list[Tensor]] = [[] for _ in variables]
        if value.requires_grad:
            flat = native.reshape(value, [-1])
            for i in range(flat.shape[0]):
                found = _gradients("jacobian", [flat[i]], [None], variables, True, create_graph)
                for row, each in zip(rows, found, strict=True):
                    row.append(each)
    results = []
    for row, x in zip(rows, variables, strict=True):
        shape = [*value.shape, *x.shape]
        zeros = native.zeros(shape, dtype=x.dtype, device=x.device)
        results.append(native.reshape(native.stack(row), shape) if row else zeros)
    return results[0] if single else tuple(results)


def hessian(function: Callable[..., Tensor], inputs: Tensor | Sequence[Tensor], create_graph: bool = False) -> Any:
    """Returns the second derivatives of the scalar `function(*inputs)`; several inputs give a tuple of tuples."""
    single = isinstance(inputs, Tensor)
    check_callable("hessian", function)
    given = _inputs("hessian", inputs)
    _flags("hessian", create_graph=create_graph)

    def first(position: int) -> Callable[..., Tensor]:
        def gradient(*args: Tensor) -> Tensor:
            value = _value("hessian", function(*args))
            if value.numel() != 1:
                raise ShapeError(f"hessian: the function must return one element, got shape {list(value.shape)}")
            return _gradients("hessian", [value], [None], [args[position]], True, True)[0]

        return gradient

    rows = tuple(jacobian(first(i), given, create_graph=create_graph) for i in range(len(given)))
    return rows[0][0] if single else rows


# ------------------------------------------------------------------------------------------------ functions


class Context:
    """What `forward` keeps for `backward`."""

    def __init__(self) -> None:
        self._saved: list[tuple[Tensor | None, int]] = []
        self._constant: list[Tensor] = []
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors, which must not be changed in place before `backward` reads them."""
        for each in tensors:
            if not isinstance(each, Tensor) and each is not None:
                raise TypeMismatch(f"save_for_backward: tensors must be Tensor or None, got {native._type_name(each)}")
        self._saved = [(each, each._version if each is not None else 0) for each in tensors]

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """Returns the kept tensors. Raises InvalidArgument if one was changed in place."""
        for tensor, version in self._saved:
            if tensor is not None and tensor._version != version:
                raise InvalidArgument(
                    f"saved_tensors: a tensor of shape {list(tensor.shape)} was changed in place: it is at version "
                    f"{tensor._version}, but was saved at version {version}"
                )
        return tuple(tensor for tensor, _ in self._saved)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Says that results have no gradient."""
        for each in tensors:
            if not isinstance(each, Tensor):
                found = native._type_name(each)
                raise TypeMismatch(f"mark_non_differentiable: tensors must be Tensor, got {found}")
        self._constant.extend(tensors)


class Function:
    """A function with a gradient of its own: subclasses define `forward` and `backward` as static methods.

    `forward(ctx, *args)` computes the result, without recording; `backward(ctx, *grads)` returns a gradient or None for
    each argument. Call it by `apply(*args)`.
    """

    @staticmethod
    def forward(ctx: Context, *args: Any) -> Any:
        """Returns the result: a tensor, or a tuple or list of which the tensors have gradients."""
        raise Unsupported("a Function must define forward")

    @staticmethod
    def backward(ctx: Context, *grads: Tensor) -> Any:
        """Returns the gradient of each argument, or None, for the gradients of the results."""
        raise Unsupported("a Function must define backward")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Calls `forward`, and records the call."""
        if cls.forward is Function.forward:
            raise Unsupported(f"{cls.__name__}: a Function must define forward")
        context = Context()
        positions = [i for i, each in enumerate(args) if isinstance(each, Tensor)]
        inputs = [args[i] for i in positions]
        context.needs_input_grad = tuple(isinstance(each, Tensor) and each.requires_grad for each in args)
        with no_grad():
            results = cls.forward(context, *args)
        outputs = list(results) if isinstance(results, (tuple, list)) else [results]
        constant = [any(each is marked for marked in context._constant) for each in outputs]
        # A tensor that was there before, such as an argument, becomes another one, whose history is this call.
        outputs = [
            native.as_strided(each.detach(), each.shape, each.stride(), each.storage_offset())
            if isinstance(each, Tensor) and (each.requires_grad or any(each is a for a in inputs))
            else each
            for each in outputs
        ]
        differentiable = [
            each for each, marked in zip(outputs, constant, strict=True) if isinstance(each, Tensor) and not marked
        ]

        def backward(grads: list[Tensor], wanted: list[bool]) -> list[Tensor | None]:
            if cls.backward is Function.backward:
                raise Unsupported(f"{cls.__name__}: a Function must define backward")
            found = cls.backward(context, *grads)
            gradients = list(found) if isinstance(found, (tuple, list)) else [found]
            if len(gradients) != len(args):
                raise InvalidArgument(
                    f"{cls.__name__}: backward must return a gradient or None for each of {len(args)} arguments, "
                    f"got {len(gradients)}"
                )
            for each in (gradients[i] for i in positions):
                if not isinstance(each, Tensor) and each is not None:
                    got = native._type_name(each)
                    raise TypeMismatch(f"{cls.__name__}: backward must return Tensor or None, got {got}")
            return [gradients[i] for i in positions]

        native._record_function(cls.__name__, inputs, differentiable, backward)
        return _like(results, outputs)


@contextlib.contextmanager
def _random_state(state: tuple[int, int]) -> Iterator[None]:
    """Lets random operators draw again what they drew from a state of the default generator on."""
    before = native.get_rng_state()
    native.set_rng_state(state)
    try:
        yield
    finally:
        native.set_rng_state(before)


class _Checkpoint(Function):
    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.function, *ctx.inputs = args
        ctx.random_state = native.get_rng_state()
        results = ctx.function(*ctx.inputs)
        ctx.count = len(_values("checkpoint", results))
        return results

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        wanted = [isinstance(each, Tensor) and each.requires_grad for each in ctx.inputs]

        def run_again(variable_of: Callable[[Tensor], Tensor]) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
            """Returns the variables in place of arguments, the results that depend on them, and their gradients."""
            inputs = [variable_of(each) if own else each for each, own in zip(ctx.inputs, wanted, strict=True)]
            with enable_grad(), _random_state(ctx.random_state):
                results = ctx.function(*inputs)
            outputs = _values("checkpoint", results)
            if len(outputs) != ctx.count:
                counts = f"{ctx.count} tensors, and {len(outputs)} when it was called again"
                raise InvalidArgument(f"checkpoint: the function returned {counts}")
            kept = [i for i, each in enumerate(outputs) if each.requires_grad]
            variables = [each for each, own in zip(inputs, wanted, strict=True) if own]
            return variables, [outputs[i] for i in kept], [grads[i] for i in kept]

        leaves, outputs, given = run_again(lambda each: each.detach().requires_grad_())
        # The pass also adds to leaves that the function refers to without taking them as arguments.
        backward(outputs, given)
        found = [each.grad for each in leaves]
        if native.is_grad_enabled():
            # The pass is recorded: what it finds depends on the arguments.
            variables, outputs, given = run_again(lambda each: native._independent_variable(each, True))
            found = list(grad(outputs, variables, given, create_graph=True, allow_unused=True))
        return (None, *(found.pop(0) if own else None for own in wanted))


_Checkpoint.__name__ = "checkpoint"  # the name of the recorded call


def checkpoint(function: Callable[..., Any], *args: Any) -> Any:
    """Returns `function(*args)`, of which nothing is kept for the backward pass: that calls the function again.

    The function must return a tensor or a tuple of tensors, and the same for the same arguments. What it draws from the
    default generator is drawn again.
    """
    check_callable("checkpoint", function)
    return _Checkpoint.apply(function, *args)


# ------------------------------------------------------------------------------------------------ checks


class detect_anomaly:
    """Makes backward passes in a `with` block fail at the call whose gradient has a NaN, and name it.

    This holds for the whole process. Each step of a pass then waits for its results.
    """

    def __enter__(self) -> None:
        self._before = native.get_option("detect_anomaly")
        native.set_option("detect_anomaly", True)

    def __exit__(self, *_: object) -> None:
        native.set_option("detect_anomaly", self._before)


def gradcheck(
    function: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compares the gradients of a function of float64 tensors with central differences of its values.

    Raises InvalidArgument for a difference above `atol + rtol * |difference quotient|`, or returns False.
    """
    check_callable("gradcheck", function)
    for name, number in (("eps", eps), ("atol", atol), ("rtol", rtol)):
        if not isinstance(number, (int, float)):
            raise TypeMismatch(f"gradcheck: {name} must be float, got {native._type_name(number)}")
    given = _inputs("gradcheck", inputs)
    for i, each in enumerate(given):
        if each.requires_grad and str(each.dtype) != "float64":
            raise TypeMismatch(f"gradcheck: input {i} must be float64 for accurate differences, got {each.dtype}")
    wanted = [i for i, each in enumerate(given) if each.requires_grad and each.numel() > 0]
    with enable_grad():
        outputs = _values("gradcheck", function(*given))
    for k in range(len(outputs)):
        for i in wanted:
            found = jacobian(lambda *args, k=k: _values("gradcheck", function(*args))[k], given)[i]
            expected = _differences(function, given, i, k, eps)
            difference = native.abs(native.reshape(found, expected.shape) - expected)
            if not bool(native.all(difference <= atol + rtol * native.abs(expected))):
                if not raise_exception:
                    return False
                raise InvalidArgument(
                    f"gradcheck: the gradient of result {k} for input {i} differs by up to "
                    f"{native.max(difference).item():g}\ngradient: {native.reshape(found, expected.shape)}\n"
                    f"differences: {expected}"
                )
    return True


def _differences(function: Callable[..., Any], given: list[Tensor], i: int, k: int, eps: float) -> Tensor:
    columns = []
    for j in range(given[i].numel()):
        values = []
        for step in (eps, -eps):
            moved = [native.clone(each.detach()) for each in given]
            flat = native.reshape(moved[i], [-1])
            flat[j] = flat[j] + step
            with enable_grad():  # the function may compute gradients itself
                leaves = [new.requires_grad_(old.requires_grad) for new, old in zip(moved, given, strict=True)]
                value = _values("gradcheck", function(*leaves))[k]
            values.append(native.reshape(value.detach(), [-1]))
        columns.append((values[0] - values[1]) / (2 * eps))
    return native.stack(columns, 1)


# What the package exports directly.
FUNCTIONS: tuple[Callable[..., Any], ...] = (
    checkpoint,
    enable_grad,
    grad,
    gradcheck,
    hessian,
    inference_mode,
    jacobian,
    no_grad,
    set_grad_enabled,
    value_and_grad,
    vjp,
)
