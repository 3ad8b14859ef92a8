"""Compares operators with PyTorch, for drawn shapes, dtypes and memory layouts."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oneflow_py as flow
from tests.python.strategies import SHAPES, Twins, broadcast_pairs, twins
from tests.python.support import ARITHMETIC, assert_same

warnings.filterwarnings("ignore")
few = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
FLOATING = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
SOME = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def compare(found: Any, expected: Any, note: object = "") -> None:
    """Calls both and compares their results. If PyTorch raises, oneflow must raise, too."""
    try:
        want = expected()
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, ZeroDivisionError):
        with pytest.raises(flow.Error):
            found()
        return
    got = found()
    if isinstance(want, torch.Tensor):
        assert_same(got, want, note)
    else:
        assert len(got) == len(want)
        for one_got, one_want in zip(got, want, strict=True):
            assert_same(one_got, one_want, note)


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"])
@few
@given(pair=broadcast_pairs())
def test_binary(name: str, pair: tuple[Twins, Twins]) -> None:
    a, b = pair
    compare(lambda: getattr(flow, name)(a.flow, b.flow), lambda: getattr(torch, name)(a.torch, b.torch), (a, b))


@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("float64", "float32"), ("int32", "int64")], ids="-".join)
@few
@given(data=st.data(), sizes=st.lists(st.integers(2, 40), min_size=3, max_size=4).filter(lambda s: prod(s) > 9_000))
def test_operands_in_several_orders(dtypes: tuple[str, str], data: st.DataObject, sizes: list[int]) -> None:
    """Each operand and the result have their own order of dimensions in memory; one operand may be broadcast."""

    def draw(dtype: str, most_repeated: int) -> torch.Tensor:
        order = data.draw(st.permutations(range(len(sizes))))
        repeated = data.draw(st.sets(st.integers(0, len(sizes) - 1), max_size=most_repeated))
        shape = [1 if d in repeated else sizes[d] for d in order]
        values = torch.arange(1, prod(shape) + 1).reshape(shape) % 1_009
        return values.to(getattr(torch, dtype)).permute([order.index(d) for d in range(len(sizes))])

    a, b, other = draw(dtypes[0], 0), draw(dtypes[1], 2), torch.zeros(sizes, dtype=torch.float64)
    x, y = flow.from_dlpack(a), flow.from_dlpack(b)
    assert_same(flow.mul(x, y), a * b)
    if a.dtype.is_floating_point:
        assert_same(flow.exp(flow.mul(x, -0.001)).add(y), torch.exp(a * -0.001) + b)
    order = data.draw(st.permutations(range(len(sizes))))
    out = flow.from_dlpack(other.permute(order).contiguous()).permute([order.index(d) for d in range(len(sizes))])
    flow.sub(x, y, out=out)
    assert_same(out, (a - b).to(torch.float64))


@pytest.mark.parametrize("name", ["sub", "div", "pow", "atan2"])
@few
@given(pair=broadcast_pairs(FLOATING))
def test_binary_floating(name: str, pair: tuple[Twins, Twins]) -> None:
    a, b = pair
    compare(lambda: getattr(flow, name)(a.flow, b.flow), lambda: getattr(torch, name)(a.torch, b.torch), (a, b))


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
@few
@given(pair=broadcast_pairs(("bool", *INTEGERS)))
def test_bitwise(name: str, pair: tuple[Twins, Twins]) -> None:
    a, b = pair
    compare(lambda: getattr(flow, name)(a.flow, b.flow), lambda: getattr(torch, name)(a.torch, b.torch), (a, b))


@pytest.mark.parametrize("name", ["__add__", "__mul__", "__truediv__", "__radd__", "__rmul__", "__eq__", "__lt__"])
@few
@given(x=twins(), number=st.sampled_from([2, -1, 0.5, 3.0, True]))
def test_numbers_are_weak(name: str, x: Twins, number: float) -> None:
    if x.torch.dtype == torch.uint8 and number == -1:
        number = 1  # -1 is out of range for uint8
    compare(lambda: getattr(x.flow, name)(number), lambda: getattr(x.torch, name)(number), (x, number))


@pytest.mark.parametrize("name", ["exp", "sqrt", "tanh", "sigmoid", "relu", "floor", "ceil", "trunc", "round", "erf"])
@few
@given(x=twins(FLOATING))
def test_unary_floating(name: str, x: Twins) -> None:
    compare(lambda: getattr(flow, name)(x.flow), lambda: getattr(torch, name)(x.torch), x)


@pytest.mark.parametrize("name", ["abs", "neg", "sign", "square", "isnan", "logical_not"])
@few
@given(x=twins([d for d in ARITHMETIC if d != "bool"]))
def test_unary(name: str, x: Twins) -> None:
    compare(lambda: getattr(flow, name)(x.flow), lambda: getattr(torch, name)(x.torch), x)


@few
@given(pair=broadcast_pairs(("float32", "int64")), condition=twins(("bool",), st.just(())))
def test_where(pair: tuple[Twins, Twins], condition: Twins) -> None:
    a, b = pair
    compare(
        lambda: flow.where(condition.flow, a.flow, b.flow), lambda: torch.where(condition.torch, a.torch, b.torch), pair
    )


@few
@given(x=twins(("float32", "int32", "float64")), target=st.sampled_from(ARITHMETIC))
def test_cast(x: Twins, target: str) -> None:
    if target == "uint8":
        x = Twins(x.flow.abs(), x.torch.abs())  # casts of negative floats to unsigned are undefined in PyTorch
    compare(lambda: x.flow.cast(target), lambda: x.torch.to(getattr(torch, target)), x)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "all", "any"])
@few
@given(data=st.data(), x=twins(("float32", "float64"), SOME), keepdim=st.booleans())
def test_reductions(name: str, data: st.DataObject, x: Twins, keepdim: bool) -> None:
    rank = x.torch.dim()
    dims = data.draw(st.lists(st.integers(-rank, rank - 1), min_size=1, unique_by=lambda d: d % rank))
    compare(
        lambda: getattr(flow, name)(x.flow, dims, keepdim),
        lambda: getattr(torch, name)(x.torch, dims, keepdim),
        (x, dims),
    )


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argmin"])
@few
@given(x=twins([d for d in ARITHMETIC if d not in ("bool", "float16", "bfloat16")]))
def test_full_reductions(name: str, x: Twins) -> None:
    compare(lambda: getattr(flow, name)(x.flow), lambda: getattr(torch, name)(x.torch), x)


@pytest.mark.parametrize("name", ["max", "min", "sort", "cumsum", "cumprod", "softmax", "argmax"])
@few
@given(data=st.data(), x=twins(("float32", "float64")))
def test_along_a_dimension(name: str, data: st.DataObject, x: Twins) -> None:
    dim = data.draw(st.integers(-5, 4))
    if name == "max" or name == "min":  # oneflow gives the first index of equal elements, PyTorch any
        compare(lambda: getattr(flow, name)(x.flow, dim).values, lambda: getattr(torch, name)(x.torch, dim).values, x)
    elif name == "sort":
        compare(lambda: flow.sort(x.flow, dim, stable=True), lambda: torch.sort(x.torch, dim=dim, stable=True), x)
    elif name == "argmax":
        distinct = torch.arange(x.torch.numel(), dtype=torch.float32).reshape(x.torch.shape)
        compare(lambda: flow.argmax(flow.from_dlpack(distinct), dim), lambda: torch.argmax(distinct, dim), x)
    elif name != "softmax" or x.torch.numel() > 0:  # a softmax over no elements is an error, see docs/semantics.md
        compare(lambda: getattr(flow, name)(x.flow, dim), lambda: getattr(torch, name)(x.torch, dim), (x, dim))


@few
@given(data=st.data(), x=twins())
def test_views(data: st.DataObject, x: Twins) -> None:
    rank = x.torch.dim()
    order = data.draw(st.permutations(range(rank)))
    compare(lambda: x.flow.permute(order), lambda: x.torch.permute(order), (x, order))
    dim = data.draw(st.integers(-rank - 2, rank + 1))
    compare(lambda: x.flow.unsqueeze(dim), lambda: x.torch.unsqueeze(dim), (x, dim))
    compare(lambda: x.flow.squeeze(), lambda: x.torch.squeeze(), x)
    compare(lambda: x.flow.flatten(), lambda: x.torch.flatten(), x)
    compare(lambda: x.flow.reshape(-1), lambda: x.torch.reshape(-1), x)
    if rank >= 2:
        first, second = data.draw(st.integers(-rank, rank - 1)), data.draw(st.integers(-rank, rank - 1))
        compare(lambda: x.flow.transpose(first, second), lambda: x.torch.transpose(first, second), x)
        compare(lambda: x.flow.diagonal(1, 0, 1), lambda: x.torch.diagonal(1, 0, 1), x)


@few
@given(data=st.data(), shape=SHAPES)
def test_reshape(data: st.DataObject, shape: tuple[int, ...]) -> None:
    x = torch.arange(int(torch.Size(shape).numel()), dtype=torch.float32).reshape(shape)
    target = data.draw(SHAPES | st.permutations(shape))
    compare(lambda: flow.from_dlpack(x).reshape(list(target)), lambda: x.reshape(tuple(target)), (shape, target))


@few
@given(data=st.data(), x=twins(shapes=SOME), count=st.integers(1, 3))
def test_joining(data: st.DataObject, x: Twins, count: int) -> None:
    dim = data.draw(st.integers(-x.torch.dim(), x.torch.dim() - 1))
    compare(lambda: flow.cat([x.flow] * count, dim), lambda: torch.cat([x.torch] * count, dim), x)
    compare(lambda: flow.stack([x.flow] * count, dim), lambda: torch.stack([x.torch] * count, dim), x)


@few
@given(data=st.data(), x=twins(("float64", "int64"), SOME))
def test_selecting(data: st.DataObject, x: Twins) -> None:
    rank = x.torch.dim()
    dim = data.draw(st.integers(-rank, rank - 1))
    size = x.torch.shape[dim]
    index = torch.tensor(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=6)))
    compare(
        lambda: flow.index_select(x.flow, dim, flow.from_dlpack(index)),
        lambda: torch.index_select(x.torch, dim, index),
        x,
    )
    compare(lambda: flow.flip(x.flow, [dim]), lambda: torch.flip(x.torch, [dim]), x)
    compare(lambda: flow.roll(x.flow, [2], [dim]), lambda: torch.roll(x.torch, [2], [dim]), x)
    compare(lambda: flow.nonzero(x.flow), lambda: torch.nonzero(x.torch), x)
    mask = x.torch > 0
    compare(lambda: flow.masked_select(x.flow, x.flow > 0), lambda: torch.masked_select(x.torch, mask), x)


@few
@given(
    data=st.data(), dtype=st.sampled_from(["float32", "float64", "int64"]), sizes=st.tuples(*[st.integers(0, 6)] * 4)
)
def test_matrix_products(data: st.DataObject, dtype: str, sizes: tuple[int, int, int, int]) -> None:
    batch, rows, inner, columns = sizes
    a = data.draw(twins((dtype,), st.just((batch, rows, inner))))
    b = data.draw(twins((dtype,), st.just((inner, columns))))
    compare(lambda: a.flow @ b.flow, lambda: a.torch @ b.torch, (a, b))
    compare(
        lambda: flow.einsum("brk,kc->bcr", a.flow, b.flow),
        lambda: torch.einsum("brk,kc->bcr", a.torch, b.torch),
        (a, b),
    )


@few
@given(pair=broadcast_pairs(("float32", "float64", "int64", "bool")))
def test_in_place_and_out(pair: tuple[Twins, Twins]) -> None:
    a, b = pair
    target, want = a.flow.clone(), a.torch.clone()

    def in_place() -> flow.Tensor:
        result = target.add_(b.flow)
        assert result is target
        return result

    compare(in_place, lambda: want.add_(b.torch), pair)
    expected = torch.add(a.torch, b.torch)
    out = flow.zeros(list(expected.shape), dtype=str(expected.dtype).removeprefix("torch."))
    assert flow.add(a.flow, b.flow, out=out) is out
    assert_same(out, expected)
