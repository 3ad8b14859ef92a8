"""Tests errors of asynchronous work: they name the operator that enqueued it and follow its data to other devices."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

import oneflow_py as flow
from tests.python.support import raises

TEXT = "the kernel was told to find bad data"


@pytest.fixture(autouse=True)
def sound_devices() -> Iterator[None]:
    yield
    flow.set_option("accel_fail_kernels", 0)
    for device in ("accel:0", "accel:1"):
        with contextlib.suppress(flow.Error):  # an error that the test left
            flow.synchronize(device)


def bad() -> flow.Tensor:
    """Returns a tensor on the first device, whose kernel reports bad data."""
    x = flow.ones(4, device="accel:0")
    flow.set_option("accel_fail_kernels:0", 1)
    return -x


@pytest.mark.parametrize(
    "move",
    [
        lambda x: x.to("accel:1"),
        lambda x: flow.ones(4, device="accel:1").copy_(x),
        lambda x: flow.comm.local.broadcast(x, ["accel:0", "accel:1"])[1],
        lambda x: flow.comm.local.all_gather([x, flow.ones(4, device="accel:1")])[1],
        lambda x: flow.comm.local.all_reduce([x, flow.ones(4, device="accel:1")], op="prod")[1],
        lambda x: x.to("accel:1").to("accel:0").to("accel:1"),
    ],
    ids=["to", "copy_", "broadcast", "all_gather", "all_reduce", "there and back"],
)
def test_the_destination_of_a_copy_raises_the_error(move: Callable[[flow.Tensor], flow.Tensor]) -> None:
    moved = move(bad()) * 2
    raises(flow.InvalidArgument, f"neg: {TEXT}", moved.tolist)
    flow.synchronize("accel:1")
    flow.synchronize("accel:0")  # the error is raised once


def test_the_source_of_a_copy_may_raise_the_error_first() -> None:
    moved = bad().to("accel:1")
    raises(flow.InvalidArgument, f"neg: {TEXT}", lambda: flow.synchronize("accel:0"))
    flow.synchronize("accel:1")
    assert moved.shape == (4,)


def test_devices_without_the_data_do_not_raise_the_error() -> None:
    x = flow.ones(4, device="accel:1")
    y = x.to("accel:0")  # in the other direction: the source has no error
    z = bad() * y
    assert x.tolist() == [1, 1, 1, 1]
    raises(flow.InvalidArgument, f"neg: {TEXT}", z.tolist)


@pytest.mark.parametrize("to", ["cpu", "far"])
def test_a_copy_to_another_device_type_raises_the_error(to: str) -> None:
    raises(flow.InvalidArgument, f"neg: {TEXT}", lambda: bad().to(to))
    flow.synchronize("accel:0")


def test_indexing_raises_the_error_of_earlier_work() -> None:
    x, y = flow.ones(4, device="accel:0"), bad()
    raises(flow.InvalidArgument, f"neg: {TEXT}", lambda: x[[0, 2]])
    y = bad()
    raises(flow.InvalidArgument, f"neg: {TEXT}", lambda: x.__setitem__([0, 2], y[:2]))
    assert x.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("comm.local.all_reduce", lambda xs: flow.comm.local.all_reduce(xs, op="prod")),
        ("comm.local.all_reduce", lambda xs: flow.comm.local.all_reduce_(xs, op="prod")),
        ("comm.local.reduce_scatter", lambda xs: flow.comm.local.reduce_scatter(xs, op="prod")),
        ("comm.local.reduce", lambda xs: [flow.comm.local.reduce(xs, op="prod")]),
        ("comm.local.gather", lambda xs: [flow.comm.local.gather(xs, dim=1)]),
        ("comm.local.all_gather", lambda xs: flow.comm.local.all_gather(xs, dim=1)),
        ("comm.local.all_to_all", lambda xs: flow.comm.local.all_to_all(xs, concat_dim=1)),
    ],
)
def test_a_collective_names_itself_in_errors(name: str, call: Callable[[list[flow.Tensor]], list[flow.Tensor]]) -> None:
    xs = [flow.ones([4, 4], device=f"accel:{rank}") for rank in range(2)]
    flow.set_option("accel_fail_kernels:0", 1)
    results = call(xs)
    assert flow.get_option("accel_fail_kernels:0") == 0
    raises(flow.InvalidArgument, f"{name}: {TEXT}", results[0].tolist)
