"""Tests creation of tensors, their attributes, conversions to Python values, printing, settings and memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import oneflow_py as flow
from tests.python.support import DTYPES, array, raises, raw
from tests.vectors.rounding import rounded_once


@pytest.mark.parametrize(
    "data",
    [1, 1.5, True, [], [[]], [[], []], [1, 2], [1, 2.5], [True, 2], [True, False], ((1, 2), [3, 4]), range(4),
     [[[1.0]]], [float("nan"), float("inf"), -float("inf")], 2**62],
)  # fmt: skip
def test_data_as_in_pytorch(data: Any) -> None:
    found, expected = flow.tensor(data), torch.tensor(data)
    assert found.dtype.name == str(expected.dtype).removeprefix("torch.")
    assert found.shape == tuple(expected.shape)
    np.testing.assert_array_equal(array(found), expected.numpy())


@pytest.mark.parametrize(
    "data",
    [np.float64(1), [np.float32(1), np.float32(2)], [np.int32(1)], np.int8(3), [np.ones(2), np.ones(2)], np.bool_(True),
     [np.bool_(True), 1], np.float16(0.5), [[np.int16(1)], [2]]],
)  # fmt: skip
def test_numpy_data_as_in_pytorch(data: Any) -> None:
    found, expected = flow.tensor(data), torch.tensor(np.array(data) if isinstance(data, list) else data)
    if not (isinstance(data, list) and isinstance(data[0], (list, np.bool_))):
        assert found.dtype.name == str(expected.dtype).removeprefix("torch.")
    np.testing.assert_array_equal(array(found), expected.numpy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype: str) -> None:
    for given in (dtype, getattr(flow, dtype)):
        x = flow.tensor([[0, 1], [1, 0]], dtype=given)
        assert x.dtype is getattr(flow, dtype)
        assert x.dtype == dtype
        assert x.tolist() == [[0, 1], [1, 0]]
        assert x.itemsize == x.element_size() == getattr(torch, dtype).itemsize
        assert x.nbytes == 4 * x.itemsize


def test_half_precision_is_rounded_once() -> None:
    values = [1 / 3, 65504.0, 65519.9, 2049.0, 1 + 2**-11 + 2**-30, 5.96e-8, 1e-9, -0.0]
    for name in ("float16", "bfloat16"):
        found = array(flow.tensor(values, dtype=name))
        exact = torch.tensor(values, dtype=torch.float64)
        expected = rounded_once(exact, getattr(torch, name)).to(torch.float32).numpy()
        np.testing.assert_array_equal(found.astype(np.float32), expected)


def test_bytes_of_a_buffer() -> None:
    x = flow.tensor(bytearray(b"abc"))
    assert (x.tolist(), x.dtype) == ([97, 98, 99], flow.uint8)


def test_python_types_are_dtypes() -> None:
    assert [flow.zeros(1, dtype=each).dtype.name for each in (float, int, bool)] == ["float64", "int64", "bool"]


def test_a_tensor_of_tensors() -> None:
    x = flow.tensor([flow.tensor([1, 2], dtype=flow.int32), flow.tensor([3, 4], dtype=flow.int32)])
    assert (x.tolist(), x.dtype) == ([[1, 2], [3, 4]], flow.int32)
    y = flow.tensor(x)
    y[0] = 0
    assert x.tolist() == [[1, 2], [3, 4]]


def test_large_integers() -> None:
    assert flow.tensor(2**64 - 1, dtype=flow.uint64).item() == 2**64 - 1
    assert flow.tensor([-(2**63), 2**63 - 1]).tolist() == [-(2**63), 2**63 - 1]
    raises(
        flow.InvalidArgument, "tensor: data must fit into int64, got 9223372036854775808", lambda: flow.tensor(2**63)
    )
    raises(
        flow.InvalidArgument, "tensor: data must fit into 64 bits, got a larger integer", lambda: flow.tensor([2**64])
    )


def test_bad_data() -> None:
    recursive: list[Any] = []
    recursive.append(recursive)
    cases = [
        (
            flow.ShapeError,
            "tensor: data[1] must be a list of length 1, like the ones before it, got a list of length 2",
            [[1], [2, 3]],
        ),
        (
            flow.ShapeError,
            "tensor: data[1] must be a list of length 1, like the ones before it, got a number",
            [[1], 2],
        ),
        (
            flow.ShapeError,
            "tensor: data[1] must be a number, like the ones before it, got a list of length 1",
            [1, [2]],
        ),
        (flow.TypeMismatch, "tensor: data[1] must be a number or a list, got str", [1, "a"]),
        (flow.TypeMismatch, "tensor: data must be a number or a list, got None", None),
        (flow.TypeMismatch, "tensor: data must be a number or a list, got set", {1}),
        (flow.TypeMismatch, "tensor: data must be a number or a list, got bytes", b"abc"),
        (flow.TypeMismatch, "tensor: data must be a number or a list, got dict", {}),
        (flow.ShapeError, "tensor: data must have at most 32 dimensions", recursive),
    ]
    for error, text, data in cases:
        raises(error, text, lambda data=data: flow.tensor(data))
    for data, dtype, got in [([300], "uint8", "300"), ([-1], "uint16", "-1"), ([1e10], "int32", "10000000000.0")]:
        text = f"tensor: data must fit into {dtype}, got {got}"
        raises(flow.InvalidArgument, text, lambda data=data, dtype=dtype: flow.tensor(data, dtype=dtype))
    raises(
        flow.InvalidArgument,
        "tensor: data must fit into int64, got nan",
        lambda: flow.tensor([math.nan], dtype="int64"),
    )


def test_data_that_changes_while_it_is_read() -> None:
    class Treacherous:
        def __init__(self, owner: list[Any]) -> None:
            self.owner = owner

        def __len__(self) -> int:
            self.owner.clear()
            return 1

        def __getitem__(self, position: int) -> int:
            if position:
                raise IndexError
            return 1

    owner: list[Any] = []
    owner += [Treacherous(owner) for _ in range(3)]
    assert flow.tensor(owner).shape == (3, 1)


def test_attributes() -> None:
    x = flow.zeros(2, 3, dtype=flow.float64)
    assert (x.shape, x.ndim, x.dim(), x.numel(), x.size(), x.size(-1), x.stride(), x.stride(0)) == (
        (2, 3), 2, 2, 6, (2, 3), 3, (3, 1), 3,
    )  # fmt: skip
    assert x.T.shape == (3, 2)
    assert x.mT.shape == (3, 2)
    assert x.T.shares_memory_with(x)
    assert x.is_contiguous()
    assert not x.T.is_contiguous()
    assert x[1:].storage_offset() == 3
    assert x.data_ptr() + 24 == x[1:].data_ptr()
    assert (x.device, x.device.type, x.device.index) == ("cpu:0", "cpu", 0)
    assert x.is_floating_point()
    before = x._version
    x.add_(1)
    assert x._version > before
    raises(
        flow.IndexOutOfRange,
        "size: dim must be between -2 and 1 for a tensor with 2 dimensions, got 2",
        lambda: x.size(2),
    )
    raises(flow.ShapeError, "mT: input must have at least 2 dimensions, got 1", lambda: flow.zeros(2).mT)
    with pytest.raises(AttributeError):
        x.shape = (3, 2)


def test_python_values() -> None:
    assert (flow.tensor(1.5).item(), flow.tensor([[7]]).item(), flow.tensor(True).item()) == (1.5, 7, True)
    assert (float(flow.tensor(2)), int(flow.tensor(2.7)), bool(flow.tensor(0)), hex(flow.tensor(255))) == (
        2.0, 2, False, "0xff",
    )  # fmt: skip
    assert [10, 20, 30][flow.tensor(1)] == 20
    assert f"{flow.tensor(1.23456):.2f}" == "1.23"
    with pytest.raises(flow.Error):
        flow.zeros(2).item()
    with pytest.raises(flow.Error):
        flow.zeros(0).item()
    with pytest.raises(flow.TypeMismatch, match="index: input must be a tensor with one integer"):
        hex(flow.tensor(1.0))
    text = "bool: a tensor with 2 elements is neither true nor false; use any() or all()"
    raises(flow.InvalidArgument, text, lambda: bool(flow.zeros(2)))


def test_equality_and_hash() -> None:
    x, y = flow.tensor([1, 2]), flow.tensor([1, 2])
    assert (x == y).tolist() == [True, True]
    assert (x != 2).tolist() == [True, False]
    assert (x == "a") is False
    assert (x != None) is True  # noqa: E711
    assert len({x, y, x}) == 2
    assert flow.float32 == "float32"
    assert flow.float32 != "float64"
    assert flow.float32 != flow.float64
    assert x.equal(y)
    assert not x.equal(y.cast(flow.int32))
    assert not flow.tensor(math.nan).equal(flow.tensor(math.nan))
    assert hash(flow.float32) == hash("float32")
    assert flow.device("cpu") == flow.device("cpu:0") == "cpu:0"
    assert len({flow.device("cpu"), flow.device("cpu:0")}) == 1


def test_operators_defer_to_other_types() -> None:
    class Stranger:
        def __radd__(self, other: Any) -> str:
            return "asked"

    assert flow.zeros(1) + Stranger() == "asked"
    for operand in ("a", None, ["a"], np.array("a"), {1: 2}):
        with pytest.raises(TypeError):
            flow.zeros(1) + operand
        with pytest.raises(TypeError):
            operand + flow.zeros(1)
    for result in (flow.ones(2) + np.array([1.0, 2.0]), np.array([1.0, 2.0]) + flow.ones(2)):
        assert (result.tolist(), result.dtype) == ([2, 3], flow.float64)
    assert (flow.ones(2, 2) @ np.ones((2, 1), np.float32)).tolist() == [[2], [2]]
    with pytest.raises(TypeError):
        flow.zeros(2) @ 2
    with pytest.raises(TypeError):
        pow(flow.zeros(2), 2, 3)
    assert (np.float64(2) * flow.ones(2)).tolist() == [2, 2]
    assert (2 - flow.ones(2)).tolist() == [1, 1]
    assert (2 ** flow.tensor([3.0])).tolist() == [8]
    assert (+flow.ones(1)).tolist() == [1]


def test_lists_of_views_share_memory() -> None:
    x = flow.arange(6).reshape(2, 3)
    first, second = x.unbind()
    assert isinstance(x.unbind(), tuple)
    first.fill_(9)
    x.split([1, 2], dim=1)[1].mul_(2)
    assert x.tolist() == [[9, 18, 18], [3, 8, 10]]
    assert second.tolist() == [3, 8, 10]
    assert [part.shape for part in flow.chunk(x, 2, dim=-1)] == [(2, 2), (2, 1)]
    with pytest.raises(flow.InvalidArgument, match="unbind: gives at most 16777216 tensors"):
        flow.zeros(1).expand(2**40).unbind()


def test_in_place_operators() -> None:
    x = flow.ones(2)
    same = x
    x += 1
    x *= flow.tensor([2, 3])
    x -= 1
    x /= 2
    assert same is x
    assert x.tolist() == [1.5, 2.5]
    y = flow.tensor([1])
    with pytest.raises(flow.Error):
        y += 0.5


@pytest.mark.parametrize(
    ("data", "dtype", "text"),
    [
        ([1.0, 2.5], None, "tensor([1.0000, 2.5000])"),
        ([[1, 2], [3, 4]], None, "tensor([[1, 2],\n        [3, 4]])"),
        ([True, False], None, "tensor([ True, False])"),
        (1.0, "float64", "tensor(1., dtype=float64)"),
        ([1, 2], "uint8", "tensor([1, 2], dtype=uint8)"),
        ([], None, "tensor([])"),
        ([[], []], "int32", "tensor([], size=(2, 0), dtype=int32)"),
        ([float("nan"), float("inf"), 1], None, "tensor([nan, inf,  1.])"),
    ],
)
def test_printing(data: Any, dtype: str | None, text: str) -> None:
    assert repr(flow.tensor(data, dtype=dtype)) == text
    assert str(flow.tensor(data, dtype=dtype)) == text


def test_printing_options() -> None:
    x = flow.tensor([1.23456789, 2.0])
    try:
        flow.set_printoptions(precision=2)
        assert repr(x) == "tensor([1.23, 2.00])"
        flow.set_printoptions(threshold=5, edgeitems=1)
        assert "..." in repr(flow.arange(100))
    finally:
        flow.set_printoptions(precision=4, threshold=1000, edgeitems=3)
    text = "set_printoptions: precision must be between 0 and 17, got 99"
    raises(flow.InvalidArgument, text, lambda: flow.set_printoptions(precision=99))
    long = repr(flow.zeros(3, 30, dtype=flow.float64))
    assert max(len(line) for line in long.splitlines()) <= 80


def test_random_state() -> None:
    flow.manual_seed(7)
    state = flow.get_rng_state()
    first = raw(flow.rand(10)), raw(flow.randn(3, 3))
    flow.set_rng_state(state)
    assert (raw(flow.rand(10)), raw(flow.randn(3, 3))) == first
    assert flow.initial_seed() == 7
    flow.manual_seed(-1)
    assert flow.initial_seed() == 2**64 - 1
    raises(flow.TypeMismatch, "manual_seed: seed must be int, got str", lambda: flow.manual_seed("a"))
    raises(
        flow.InvalidArgument,
        "manual_seed: seed must fit into 64 bits, got a larger integer",
        lambda: flow.manual_seed(2**64),
    )
    with pytest.raises(flow.TypeMismatch):
        flow.set_rng_state(3)


def test_settings() -> None:
    threads = flow.get_num_threads()
    try:
        flow.set_num_threads(1)
        assert flow.get_num_threads() == 1
        text = "set_num_threads: num_threads must be between 1 and 1024, got 0"
        raises(flow.InvalidArgument, text, lambda: flow.set_num_threads(0))
        raises(flow.TypeMismatch, "set_num_threads: threads must be int, got str", lambda: flow.set_num_threads("2"))
    finally:
        flow.set_num_threads(threads)
    try:
        flow.set_default_dtype(flow.float64)
        assert flow.tensor(1.0).dtype == flow.get_default_dtype() == flow.float64
        assert repr(flow.tensor(1.0)) == "tensor(1.)"
        with pytest.raises(flow.Error):
            flow.set_default_dtype(flow.int64)
    finally:
        flow.set_default_dtype(flow.float32)
    assert flow.promote_types(flow.int64, "float16") == flow.float16
    text = "promote_types: uint16 and int8 have no common dtype"
    raises(flow.DTypeError, text, lambda: flow.promote_types("uint16", "int8"))
    assert flow.devices()[0] == flow.get_default_device() == "cpu:0"
    assert flow.device(flow.get_default_device()).compute_units >= 1
    with pytest.raises(flow.DeviceError):
        flow.device("nonsense:7")
    flow.synchronize()
    flow.set_deterministic(True)
    assert flow.is_deterministic()
    flow.set_deterministic(False)
    flow.reset_fallbacks()
    assert flow.fallbacks() == {}


def test_memory() -> None:
    before = flow.memory_stats()
    x = flow.zeros(1 << 20)
    during = flow.memory_stats()
    assert during["in_use"] >= before["in_use"] + x.nbytes
    assert during["tensors"] >= before["tensors"] + 1
    del x
    assert flow.memory_stats()["in_use"] <= before["in_use"]
    cached = flow.memory_stats()["cached"]
    flow.empty_cache()
    assert flow.memory_stats()["cached"] <= cached - (1 << 22)
    try:
        flow.set_memory_limit(flow.memory_stats()["in_use"] + 1000)
        with pytest.raises(flow.OutOfMemory):
            flow.zeros(1 << 20)
    finally:
        flow.set_memory_limit(0)
    with pytest.raises(flow.OutOfMemory):
        flow.zeros(1 << 50)
    with pytest.raises(MemoryError):
        flow.zeros(1 << 50)
