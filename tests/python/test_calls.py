"""Tests calls of operators: keywords, overloads, out=, in-place forms, and the errors of invalid arguments."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import raises

X = flow.tensor([[1.0, 2.0], [3.0, 4.0]])


def test_ways_to_pass_arguments() -> None:
    expected = [[3.0], [7.0]]
    for found in (
        flow.sum(X, 1, True),
        flow.sum(X, dim=1, keepdim=True),
        flow.sum(keepdim=True, dim=[1], input=X),
        X.sum(1, keepdim=True),
        X.sum(dim=(1,), keepdim=True),
        flow.Tensor.sum(X, 1, True),
        flow.sum(X, dim=np.int64(1), keepdim=np.True_),
    ):
        assert found.tolist() == expected


def test_items_of_trailing_lists_as_separate_arguments() -> None:
    assert X.permute(1, 0).tolist() == X.permute([1, 0]).tolist() == X.permute((1, 0)).tolist()
    assert flow.permute(X, 1, 0).shape == (2, 2)
    assert flow.zeros(2, 3).shape == flow.zeros([2, 3]).shape == flow.zeros((2, 3)).shape == (2, 3)
    assert flow.zeros(3).shape == flow.zeros([3]).shape == (3,)
    assert flow.zeros([]).shape == ()
    assert X.reshape(-1).shape == X.reshape([4]).shape == (4,)
    assert flow.einsum("ij,jk->ik", X, X).tolist() == flow.einsum("ij,jk->ik", [X, X]).tolist()


def test_overloads() -> None:
    assert flow.max(X).item() == 4
    values, indices = flow.max(X, 1)
    assert (values.tolist(), indices.tolist()) == ([2, 4], [1, 1])
    named = X.max(dim=0)
    assert (named.values.tolist(), named.indices.tolist(), type(named).__name__) == ([3, 4], [1, 1], "ValuesIndices")
    assert flow.max(X, flow.tensor(2.5)).tolist() == [[2.5, 2.5], [3, 4]]
    assert flow.arange(3).tolist() == [0, 1, 2]
    assert flow.arange(1, 3).tolist() == [1, 2]
    assert flow.arange(end=2, start=1).tolist() == [1]


def test_out() -> None:
    out = flow.zeros(2, 2)
    assert flow.add(X, 1, out=out) is out
    assert out.tolist() == [[2, 3], [4, 5]]
    assert flow.add(X, 1, out=None).tolist() == [[2, 3], [4, 5]]
    values, indices = flow.zeros(2), flow.zeros(2, dtype=flow.int64)
    found = flow.max(X, 0, out=(values, indices))
    assert found.values is values
    assert found.indices is indices
    with pytest.raises(flow.ShapeError):
        flow.add(X, 1, out=flow.zeros(3))
    with pytest.raises(flow.DTypeError):
        flow.add(X, 1, out=flow.zeros(2, 2, dtype=flow.int64))
    raises(flow.TypeMismatch, "add: out must be Tensor, got list", lambda: flow.add(X, 1, out=[out]))
    text = "max: out must be tuple of 2 Tensors, got Tensor"
    raises(flow.TypeMismatch, text, lambda: flow.max(X, 0, out=values))
    raises(flow.TypeMismatch, "add_: unknown argument out", lambda: flow.zeros(2).add_(1, out=out))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: flow.sum(), "sum: missing argument input"),
        (lambda: X.permute(), "permute: missing argument dims"),
        (lambda: flow.sum(X, dims=1), "sum: unknown argument dims; did you mean dim?"),
        (lambda: flow.sum(X, nonsense=1), "sum: unknown argument nonsense"),
        (lambda: flow.sum(X, 1, True, 4), "sum: takes at most 3 positional arguments, got 4; pass dtype by name"),
        (lambda: X.sum(1, True, 4), "sum: takes at most 2 positional arguments, got 3; pass dtype by name"),
        (lambda: X.exp(1), "exp: takes at most 0 positional arguments, got 1"),
        (lambda: flow.sum(X, 1, dim=1), "sum: argument dim given twice"),
        (lambda: X.sum(input=X), "sum: argument input given twice"),
        (lambda: flow.sum(X, keepdim="yes"), "sum: keepdim must be bool, got str"),
        (lambda: flow.sum(X, keepdim=1), "sum: keepdim must be bool, got int"),
        (lambda: flow.sum(X, dim=True), "sum: dim must be list of ints, got bool"),
        (lambda: flow.sum(X, dim=1.0), "sum: dim must be list of ints, got float"),
        (lambda: flow.sum(X, dim=[0, "a"]), "sum: dim[1] must be int, got str"),
        (lambda: flow.sum("a"), "sum: input must be Tensor, got str"),
        (lambda: flow.sum({1: 2}), "sum: input must be Tensor, got dict"),
        (lambda: flow.sum(None), "sum: input must be Tensor, got None"),
        (lambda: flow.add(X, "a"), "add: other must be Tensor or number, got str"),
        (lambda: flow.add(X, ["a"]), "add: other[0] must be a number or a list, got str"),
        (lambda: flow.cat([X, "a"]), "cat: tensors[1] must be Tensor, got str"),
        (lambda: flow.sum(X, axes=1), "sum: unknown argument axes"),
        (lambda: flow.sum(X, 1, axis=1), "sum: argument dim given twice"),
        (lambda: flow.zeros(2, requires_grad=1), "zeros: requires_grad must be bool, got int"),
        (lambda: flow.cat(5), "cat: tensors must be list of Tensors, got int"),
        (lambda: flow.zeros(2, dtype=3), "zeros: dtype must be dtype, got int"),
        (lambda: flow.zeros(2, device=3), "zeros: device must be device, got int"),
        (lambda: flow.gelu(X, approximate=1), "gelu: approximate must be str, got int"),
        (lambda: flow.max(X, dims=1), "max: unknown argument dims; did you mean dim?"),
        (lambda: flow.max(X, keepdim=True), "max: missing argument dim"),
        (lambda: flow.tensordot(X, X, dims_input=[1]), "tensordot: missing argument dims_other"),
        (lambda: flow.max(X, 1, dim=1), "max: argument dim given twice"),
        (lambda: flow.sum(X, outt=X), "sum: unknown argument outt; did you mean out?"),
        # the error is that of the overload that has `device`
        (lambda: flow.to(X, device="cpu", where=True), "to: unknown argument where"),
        (lambda: flow.max(X, "a"), "max: dim must be int, got str"),
        (lambda: flow.Tensor.sum("a"), "sum: input must be Tensor, got str"),
        (lambda: flow.Tensor.add_(3, X), "add_: input must be Tensor, got int"),
        (lambda: flow.Tensor.sum(), "sum: missing argument input"),
        (lambda: flow.index_put_(X, None, X), "index_put_: indices must be list of Tensors, got None"),
    ],
)  # fmt: skip
def test_type_errors(call: Any, text: str) -> None:
    raises(flow.TypeMismatch, text, call)


def test_value_errors() -> None:
    raises(flow.InvalidArgument, "add: other must fit into 64 bits, got a larger integer", lambda: flow.add(X, 2**64))
    raises(flow.InvalidArgument, "add: other must fit into 64 bits, got a larger integer", lambda: X + 2**64)
    raises(flow.InvalidArgument, "sum: dim must fit into 64 bits, got a larger integer", lambda: flow.sum(X, 2**64))
    raises(
        flow.InvalidArgument,
        "zeros: dtype must be the name of a dtype, got 'float99'",
        lambda: flow.zeros(1, dtype="float99"),
    )
    raises(
        flow.InvalidArgument,
        "zeros: dtype must not have a null byte",
        lambda: flow.zeros(1, dtype="int32\0"),
    )
    raises(
        flow.InvalidArgument,
        "zeros: device must not have a null byte",
        lambda: flow.zeros(1, device="cpu\0"),
    )
    raises(
        flow.InvalidArgument,
        "gelu: approximate must be valid Unicode, got a lone surrogate",
        lambda: flow.gelu(X, approximate="\ud800"),
    )
    with pytest.raises(flow.DeviceError, match="zeros: there is no device 'nowhere'"):
        flow.zeros(1, device="nowhere")
    with pytest.raises(flow.InvalidArgument):
        flow.zeros(1, dtype="float32\0x")
    with pytest.raises(flow.Error):
        flow.zeros(1, device="cpu\0x")
    with pytest.raises(flow.ShapeError):
        flow.zeros([2**40, 2**40])
    with pytest.raises(flow.ShapeError):
        flow.zeros([1] * 33)
    with pytest.raises(flow.ShapeError):
        flow.zeros(-1)
    with pytest.raises(flow.TypeMismatch, match="unknown argument"):
        flow.sum(X, **{"\ud800": 1})


def test_errors_are_subclasses_of_python_errors() -> None:
    pairs = [
        (flow.InvalidArgument, ValueError), (flow.TypeMismatch, TypeError), (flow.ShapeError, ValueError),
        (flow.DTypeError, TypeError), (flow.IndexOutOfRange, IndexError), (flow.DeviceError, RuntimeError),
        (flow.OutOfMemory, MemoryError), (flow.Unsupported, NotImplementedError),
        (flow.CommunicationError, RuntimeError), (flow.InternalError, RuntimeError),
        (flow.FileError, OSError),
    ]  # fmt: skip
    for error, base in pairs:
        assert issubclass(error, base)
        assert issubclass(error, flow.Error)
        assert error.__module__ == "oneflow_py"


def test_arguments_whose_conversion_runs_code() -> None:
    class Raises:
        def __index__(self) -> int:
            raise ZeroDivisionError("from __index__")

    with pytest.raises(ZeroDivisionError):
        flow.zeros(Raises())
    with pytest.raises(ZeroDivisionError):
        flow.zeros([1, Raises()])

    tensors = [flow.ones(1000) for _ in range(3)]

    class Clears:
        def __index__(self) -> int:
            tensors.clear()
            return 0

    assert flow.cat(tensors, Clears()).shape == (3000,)
    sizes: list[Any] = [2, 3]

    class Shrinks:
        def __index__(self) -> int:
            sizes.clear()
            return 4

    sizes.append(Shrinks())
    assert flow.zeros(sizes).shape == (2, 3, 4)


@pytest.mark.parametrize(
    "argument", [None, True, 1, -1, 2**63 - 1, -(2**63), 1.5, float("nan"), "", "a", [], [[]], {}, X, object]
)
def test_no_argument_ends_the_process(argument: Any) -> None:
    """Every function, with the same unusual value for all arguments, returns or raises, but does not crash."""
    public = [
        getattr(owner, name)
        for owner, names in ((flow, flow.__all__), (flow.comm.local, dir(flow.comm.local)))
        for name in names
    ]
    functions = [each for each in public if type(each).__name__ == "Operator"]
    assert len(functions) > 60
    for function in functions:
        for count in range(4):
            for call in (lambda: function(*[argument] * count), lambda: function(X, *[argument] * count)):  # noqa: B023
                try:
                    call()
                    continue
                except flow.Error as error:
                    raised = error
                assert type(raised) is not flow.InternalError, (function, count, str(raised))
                assert str(raised).replace("\n", " ").isprintable(), (function, str(raised))


def test_functions_look_like_functions() -> None:
    assert str(inspect.signature(flow.sum)) == "(input, dim=None, keepdim=False, *, dtype=None, out=None)"
    assert str(inspect.signature(flow.Tensor.sum)) == "(self, /, dim=None, keepdim=False, *, dtype=None, out=None)"
    assert str(inspect.signature(X.sum)) == "(dim=None, keepdim=False, *, dtype=None, out=None)"
    assert str(inspect.signature(X.mul_)) == "(other)"
    assert str(inspect.signature(flow.max)) == "(*args, **kwargs)"
    assert str(inspect.signature(flow.tensor)) == "(data, *, dtype=None, device=None, requires_grad=False)"
    assert (flow.sum.__name__, flow.sum.__qualname__, flow.sum.__module__) == ("sum", "sum", "oneflow_py")
    assert flow.Tensor.add_.__qualname__ == "Tensor.add_"
    assert repr(flow.sum) == "<function oneflow_py.sum>"
    assert inspect.isroutine(flow.sum)

    class Holder:
        activation = flow.relu

    assert Holder().activation(flow.tensor([-1.0])).tolist() == [0]
