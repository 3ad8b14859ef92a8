"""Tests that need a GPU: asynchronous errors, options, matrix products in every layout, and several threads and devices
at once. The conformance vectors of all operators are run by tests/python/test_conformance.py."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import oneflow_py as flow

LIBRARY = ctypes.CDLL("liboneflow.so.0")  # for options, which no front end has a function for
COUNT = sum(device.type == "cuda" for device in flow.devices())
REASON = next((text for path, text in flow.rejected_plugins().items() if "cuda" in path), "the plugin was not built")
pytestmark = pytest.mark.skipif(COUNT == 0, reason=REASON)


def near(found: flow.Tensor, expected: flow.Tensor, tolerance: float) -> bool:
    """Returns whether the largest difference is within `tolerance`, relative to the largest expected element or 1."""
    difference = flow.abs(found.to("cpu").to("float64") - expected.to("cpu").to("float64"))
    return float(flow.max(difference).item()) <= tolerance * max(1.0, float(flow.max(flow.abs(expected)).item()))


def test_an_index_out_of_range_is_reported_at_synchronisation_and_names_the_operator() -> None:
    x = flow.arange(8, device="cuda")
    bad = flow.tensor([3, 9], device="cuda")
    result = x[bad]
    with pytest.raises(flow.IndexOutOfRange, match="index: index 9 is out of range for dimension 0 of size 8"):
        flow.synchronize("cuda:0")
    flow.synchronize("cuda:0")  # the error is reported only once
    assert result.shape == (2,)
    assert (x + 1).tolist() == list(range(1, 9))


def test_a_division_by_zero_names_the_operator() -> None:
    quotients = flow.tensor([1, 2], device="cuda") // flow.tensor([1, 0], device="cuda")
    with pytest.raises(flow.InvalidArgument, match="floor_divide: division by zero"):
        quotients.tolist()


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12), ("float16", 2e-3), ("bfloat16", 2e-2)]
)
@pytest.mark.parametrize("layout", ["plain", "left", "right", "both", "column", "batch", "bias"])
def test_products(dtype: str, tolerance: float, layout: str) -> None:
    shapes = {"column": ((70, 50), (50, 1)), "batch": ((3, 70, 50), (3, 50, 90)), "bias": ((70, 50), (90, 50))}
    left, right = shapes.get(layout, ((70, 50), (50, 90)))
    a, b = flow.randn(*left).to(dtype), flow.randn(*right).to(dtype)
    bias = flow.randn(90).to(dtype)
    there = [x.to("cuda") for x in (a, b, bias)]

    def product(a: flow.Tensor, b: flow.Tensor, bias: flow.Tensor) -> flow.Tensor:
        if layout == "bias":
            return flow.linear(a, b, bias)
        if layout in ("left", "both"):
            a = a.transpose(-1, -2).clone().transpose(-1, -2)
        if layout in ("right", "both"):
            b = b.transpose(-1, -2).clone().transpose(-1, -2)
        return a @ b

    expected = product(*(x.to("float64") for x in (a, b, bias)))
    assert near(product(*there), expected, tolerance)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12), ("float16", 2e-3), ("bfloat16", 2e-2)]
)
@pytest.mark.parametrize("channels", [64, 63])  # with 63, the products of a batch are poorly aligned
def test_batches_with_interleaved_dimensions(dtype: str, tolerance: float, channels: int) -> None:
    q, k = (flow.randn(5, size, 6, channels).to(dtype) for size in (40, 50))

    def scores(q: flow.Tensor, k: flow.Tensor) -> flow.Tensor:
        return flow.einsum("bqhd,bkhd->bhqk", q, k)

    expected = scores(q.to("float64"), k.to("float64"))
    for _ in range(2):  # the second call reuses the plan of the first one
        assert near(scores(q.to("cuda"), k.to("cuda")), expected, tolerance)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("sizes", [(64, 128, 96), (65, 127, 97), (1, 256, 512)], ids=str)
@pytest.mark.parametrize("layout", ["plain", "right", "both"])
def test_products_of_bytes_wrap_around(layout: str, sizes: tuple[int, int, int], dtype: str) -> None:
    rows, depth, columns = sizes
    a, b = (flow.randint(-128, 128, shape).to(dtype) for shape in ((3, rows, depth), (3, depth, columns)))

    def product(a: flow.Tensor, b: flow.Tensor) -> flow.Tensor:
        if layout == "both":
            a = a.transpose(-1, -2).clone().transpose(-1, -2)
        if layout in ("right", "both"):
            b = b.transpose(-1, -2).clone().transpose(-1, -2)
        return a @ b

    assert product(a.to("cuda"), b.to("cuda")).to("cpu").equal(product(a, b))


def test_tf32_is_an_option() -> None:
    a, b = (flow.randn(512, 512, device="cuda") for _ in range(2))
    exact = a @ b
    assert LIBRARY.of_set_option(b"cuda_allow_tf32", ctypes.c_int64(1)) == 0
    try:
        rounded = a @ b
    finally:
        LIBRARY.of_set_option(b"cuda_allow_tf32", ctypes.c_int64(0))
    assert near(rounded, exact.to("cpu"), 1e-2)
    assert (a @ b).tolist() == exact.tolist()


def test_copies_of_page_locked_memory() -> None:
    x = flow.randn(1 << 20)
    assert x.pin_memory().to("cuda").to("cpu").tolist() == x.tolist()


def test_threads_share_the_device() -> None:
    results: list[list[int]] = [[] for _ in range(8)]

    def work(k: int) -> None:
        x = flow.full((1 << 16,), k, device="cuda")
        for _ in range(100):
            x = x + 1
        results[k] = [int(flow.max(x).item()), int(flow.min(x).item())]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[k + 100, k + 100] for k in range(8)]


def test_a_forked_process_raises_device_error() -> None:
    flow.ones(4, device="cuda").tolist()
    process = os.fork()
    if process == 0:
        try:
            flow.ones(4, device="cuda").tolist()
        except flow.DeviceError as error:
            os._exit(0 if "forked" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


@pytest.mark.skipif(COUNT < 2, reason="needs two GPUs")
def test_copies_between_devices_keep_their_order() -> None:
    x = flow.zeros(1 << 22, device="cuda:0")
    for _ in range(20):
        x = (x + 1).to("cuda:1") + 1
        x = x.to("cuda:0")
    assert float(flow.min(x).item()) == float(flow.max(x).item()) == 40


RANK = """
import oneflow_py as flow

rank = flow.comm.rank()
x = flow.full([1000], rank + 1.0, device=f"cuda:{min(rank, COUNT - 1)}")
print(flow.comm.all_reduce(x)[-1].item(), flow.comm.all_gather(x).shape[0])
"""


def test_two_processes(tmp_path: Path) -> None:
    """They exchange tensors by NCCL, if it is there and each has a GPU of its own, and else through the host."""
    job = {"ONEFLOW_WORLD_SIZE": "2", "ONEFLOW_MEETING": f"file:{tmp_path}", "ONEFLOW_SECRET": "test"}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK.replace("COUNT", str(COUNT))],
            env={**os.environ, **job, "ONEFLOW_RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for each in ranks:
        assert each.communicate(timeout=300)[0] == "3.0 2000\n"
