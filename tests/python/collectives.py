"""Compares the collectives with NumPy, over several devices of three types; test_collectives.py provides the devices.

Sums, means and products are compared exactly: the order of the ranks is fixed, and each step is rounded once.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneflow_py as flow
from tests.python.support import NUMPY_DTYPES, array
from tests.python.test_processes import growth

Array = np.ndarray[Any, Any]
Draw = Any

DEVICES = ["cpu:0", "cpu:1", "cpu:2", "cpu:3", "far:0", "far:1", "accel:0", "accel:1"]
settings.register_profile("collectives", deadline=None)
settings.load_profile("collectives")
REDUCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "sum": np.add, "mean": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply,
}  # fmt: skip


def random_array(seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return random.standard_normal(shape).astype(dtype)
    most = min(np.iinfo(dtype).max, 2**63 - 1)  # operators compute uint64 in int64
    return random.integers(np.iinfo(dtype).min, most, shape, dtype=dtype, endpoint=True)


def laid_out(seed: int, x: Array, device: str) -> flow.Tensor:
    """Returns the elements of x on a device with a random memory layout: permuted, and strided in half of the cases."""
    random = np.random.default_rng(seed)
    order = random.permutation(x.ndim)
    stored = x.transpose(order).copy()
    if x.ndim and random.integers(2):
        padded = np.repeat(stored, 2, axis=0)
        return flow.tensor(padded, device=device)[::2].permute(np.argsort(order).tolist())
    return flow.tensor(stored, device=device).permute(np.argsort(order).tolist())


def reduced(arrays: list[Array], op: str) -> Array:
    dtype = arrays[0].dtype
    wide = [x.astype(np.float32) for x in arrays] if dtype == np.float16 else arrays
    with np.errstate(all="ignore"):
        result = functools.reduce(REDUCTIONS[op], wide)
        return np.asarray(result / result.dtype.type(len(arrays)) if op == "mean" else result).astype(dtype)


def same(found: flow.Tensor, expected: Array, device: str) -> None:
    assert (found.device, found.dtype.name, found.shape) == (device, expected.dtype.name, expected.shape)
    np.testing.assert_array_equal(array(found), expected)


@st.composite
def ranks(draw: Draw, least_dims: int = 0) -> tuple[list[Array], list[flow.Tensor], list[str]]:
    shape = tuple(draw(st.lists(st.integers(0, 20), min_size=least_dims, max_size=3)))
    devices = draw(st.lists(st.sampled_from(DEVICES), min_size=1, max_size=5))
    dtype, seed = draw(st.sampled_from(NUMPY_DTYPES)), draw(st.integers(0, 2**16))
    arrays = [random_array(seed + i, shape, dtype) for i in range(len(devices))]
    return (
        arrays,
        [laid_out(seed + i, x, device) for i, (x, device) in enumerate(zip(arrays, devices, strict=True))],
        devices,
    )


def check_reductions(arrays: list[Array], tensors: list[flow.Tensor], devices: list[str], op: str, dim: int) -> None:
    expected = reduced(arrays, op)
    same(flow.comm.local.reduce(tensors, op=op), expected, devices[0])
    same(flow.comm.local.reduce(tensors, op=op, device=devices[-1]), expected, devices[-1])
    for found, device in zip(flow.comm.local.all_reduce(tensors, op=op), devices, strict=True):
        same(found, expected, device)
    if expected.ndim:
        parts = np.array_split(expected, len(devices), dim)
        scattered = flow.comm.local.reduce_scatter(tensors, op=op, dim=dim)
        for found, part, device in zip(scattered, parts, devices, strict=True):
            same(found, part, device)
    for tensor, x, device in zip(tensors, arrays, devices, strict=True):
        same(tensor, x, device)
    for found, tensor, device in zip(flow.comm.local.all_reduce_(tensors, op=op), tensors, devices, strict=True):
        assert found is tensor
        same(tensor, expected, device)


@given(ranks(), st.sampled_from(list(REDUCTIONS)), st.integers(0, 2))
def test_reductions(drawn: tuple[list[Array], list[flow.Tensor], list[str]], op: str, dim: int) -> None:
    arrays, tensors, devices = drawn
    if op == "mean" and arrays[0].dtype.kind != "f":
        with pytest.raises(flow.DTypeError):
            flow.comm.local.all_reduce(tensors, op=op)
        return
    check_reductions(arrays, tensors, devices, op, dim % max(arrays[0].ndim, 1))


@given(ranks(least_dims=1), st.integers(0, 2), st.integers(0, 2))
def test_movements(drawn: tuple[list[Array], list[flow.Tensor], list[str]], dim: int, other: int) -> None:
    arrays, tensors, devices = drawn
    dim, other = dim % arrays[0].ndim, other % arrays[0].ndim
    for found, device in zip(flow.comm.local.broadcast(tensors[0], devices), devices, strict=True):
        same(found, arrays[0], device)
    parts = np.array_split(arrays[0], len(devices), dim)
    scattered = flow.comm.local.scatter(tensors[0], devices, dim=dim)
    for found, part, device in zip(scattered, parts, devices, strict=True):
        same(found, part, device)
    same(flow.comm.local.gather(scattered, dim=dim, device=devices[-1]), arrays[0], devices[-1])
    for found, device in zip(flow.comm.local.all_gather(scattered, dim=dim), devices, strict=True):
        same(found, arrays[0], device)
    cut = [np.array_split(x, len(devices), dim) for x in arrays]
    exchanged = flow.comm.local.all_to_all(tensors, split_dim=dim, concat_dim=other)
    for rank, (found, device) in enumerate(zip(exchanged, devices, strict=True)):
        same(found, np.concatenate([parts[rank] for parts in cut], other), device)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64"])
@pytest.mark.parametrize(
    "devices",
    [
        ["cpu:0", "cpu:1", "cpu:2", "cpu:3"],
        ["cpu:0", "cpu:0", "cpu:1"],
        ["accel:0", "accel:1"],
        ["far:0", "cpu:1", "accel:1"],
    ],
)
def test_large(dtype: str, devices: list[str]) -> None:
    """Reduces tensors of several pieces, whose sizes are not multiples of the piece size or of the thread count."""
    arrays = [random_array(i, (3, 500_009), dtype) for i in range(len(devices))]
    tensors = [flow.tensor(x, device=device) for x, device in zip(arrays, devices, strict=True)]
    check_reductions(arrays, tensors, devices, "prod", 1)
    for found, device in zip(flow.comm.local.broadcast(tensors[0].t(), devices), devices, strict=True):
        same(found, reduced(arrays, "prod").T, device)


def test_results_repeat_with_any_number_of_threads() -> None:
    tensors = [flow.tensor(random_array(i, (1_000_003,), "float32"), device=f"cpu:{i}") for i in range(4)]
    threads = flow.get_num_threads()
    found = []
    for count in (1, 2, 3, 7):
        flow.set_num_threads(count)
        found += [array(each) for each in flow.comm.local.all_reduce(tensors)]
    flow.set_num_threads(threads)
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])


def test_in_place_over_views_and_shared_memory() -> None:
    matrix = flow.arange(6.0).reshape(2, 3)
    flow.comm.local.all_reduce_(matrix[0], matrix[1])
    assert matrix.tolist() == [[3, 5, 7], [3, 5, 7]]
    flow.comm.local.all_reduce_([matrix[:, 0], matrix[:, 2]])
    assert matrix.tolist() == [[10, 5, 10], [10, 5, 10]]
    for shared in ([matrix, matrix], [matrix[:, :2], matrix[:, 1:]]):
        with pytest.raises(flow.InvalidArgument, match="the tensors to write to must not share memory"):
            flow.comm.local.all_reduce_(shared)
    # A rank that cannot be written to must leave the ranks before it unchanged.
    expanded = flow.ones(1, device="accel").expand(3)
    for ones in ([flow.ones(3), flow.ones(3, device="cpu:1"), expanded], [flow.ones(3), flow.ones(1).expand(3)]):
        with pytest.raises(flow.InvalidArgument, match="several elements share memory"):
            flow.comm.local.all_reduce_(ones)
        assert [x.tolist() for x in ones] == [[1, 1, 1]] * len(ones)
    assert matrix.tolist() == [[10, 5, 10], [10, 5, 10]]
    clone = matrix.clone()
    flow.comm.local.all_reduce_(matrix, flow.ones(2, 3))
    assert clone.tolist() == [[10, 5, 10], [10, 5, 10]]


def test_errors_name_the_operator_and_the_rank() -> None:
    x, y = flow.ones(2, device="cpu:1"), flow.ones(3, device="far:0")
    with pytest.raises(
        flow.ShapeError, match=r"^comm.local.all_reduce: tensors\[1\] must have shape \[2\], as tensors\[0\] has"
    ):
        flow.comm.local.all_reduce([x, y])
    with pytest.raises(flow.DeviceError, match=r"^comm.local.broadcast: there is no device 'cpu:9'"):
        flow.comm.local.broadcast(x, ["cpu:0", "cpu:9"])
    with pytest.raises(flow.TypeMismatch, match=r"^comm.local.broadcast: devices must be list of devices, got int$"):
        flow.comm.local.broadcast(x, 3)
    with pytest.raises(flow.DeviceError, match=r"^add: other must be on cpu:1, as input is, got a tensor on far:0$"):
        flow.add(x, y)


def test_a_fault_during_a_collective() -> None:
    """Failed copies and allocations leak no memory, and the next call works."""
    library = ctypes.CDLL(str(Path(flow.__file__).parents[2] / "lib" / "liboneflow.so"))
    tensors = [flow.ones(100_000, device=device) for device in ("cpu:0", "accel:0", "accel:1")]
    flow.comm.local.all_reduce(tensors)
    before = {device: flow.memory_stats(device)["in_use"] for device in DEVICES}
    for option, error in ((b"accel_fail_copies:1", flow.DeviceError), (b"accel_fail_allocations:0", flow.OutOfMemory)):
        flow.empty_cache("accel:0")
        assert library.of_set_option(option, ctypes.c_int64(100)) == 0
        with pytest.raises(error, match=r"^comm.local.all_reduce: "):
            flow.comm.local.all_reduce(tensors)
        assert library.of_set_option(option, ctypes.c_int64(0)) == 0
    assert {device: flow.memory_stats(device)["in_use"] for device in DEVICES} == before
    assert flow.comm.local.all_reduce(tensors)[2].tolist() == [3.0] * 100_000


def test_several_threads_at_once() -> None:
    devices = ["cpu:0", "cpu:1", "accel:0", "far:1"]
    arrays = [random_array(i, (300_007,), "float64") for i in range(4)]
    tensors = [flow.tensor(x, device=device) for x, device in zip(arrays, devices, strict=True)]
    expected = reduced(arrays, "sum")

    def work(_: int) -> bool:
        return all(np.array_equal(array(found), expected) for found in flow.comm.local.all_reduce(tensors))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(24)))


def test_repeated_calls_do_not_leak() -> None:
    tensors = [flow.ones(200_000, device=device) for device in ("cpu:0", "cpu:1", "accel:0", "far:0")]

    def work() -> None:
        flow.comm.local.all_reduce_(tensors, op="max")
        flow.comm.local.all_gather(flow.comm.local.scatter(tensors[0], DEVICES))
        flow.comm.local.broadcast(tensors[1], DEVICES)

    for _ in range(5):
        work()
    live = flow.memory_stats()["tensors"]

    def loop() -> None:
        for _ in range(25):
            work()

    assert growth(loop) < 10 << 20  # one result is 800 KB
    assert flow.memory_stats()["tensors"] == live
