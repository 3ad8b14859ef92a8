"""Tests streams and events as objects."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Callable

import pytest

import oneflow_py as flow

# A test device that works asynchronously.
DEVICE = "accel:0"


def test_a_block_chooses_a_stream() -> None:
    stream = flow.Stream(DEVICE)
    assert str(stream.device) == DEVICE
    before = flow.current_stream(DEVICE)
    assert before == flow.default_stream(DEVICE) != stream
    with stream as entered:
        assert entered is stream
        assert flow.current_stream(DEVICE) == stream
        with flow.Stream(DEVICE) as inner:
            assert flow.current_stream(DEVICE) == inner
        assert flow.current_stream(DEVICE) == stream
        x = flow.ones(1000, device=DEVICE) + 1
    assert flow.current_stream(DEVICE) == before
    before.wait_stream(stream)
    assert x.sum().item() == 2000
    stream.synchronize()
    assert stream.query()


def test_events_order_streams() -> None:
    stream, default = flow.Stream(DEVICE), flow.default_stream(DEVICE)
    with stream:
        x = flow.full([100], 3, device=DEVICE)
    event = stream.record_event()
    assert stream.record_event(event) is not None
    default.wait_event(event)
    assert (x * 2).sum().item() == 600
    event.synchronize()
    assert event.query()
    start, end = flow.Event(DEVICE, enable_timing=True), flow.Event(DEVICE, enable_timing=True)
    start.record()
    x.add_(1)
    end.record(default)
    end.synchronize()
    end.wait(stream)
    assert start.elapsed_time(end) >= 0


def test_a_thread_has_streams_of_its_own() -> None:
    stream, seen = flow.Stream(DEVICE), []
    flow.set_current_stream(stream)
    try:
        thread = threading.Thread(target=lambda: seen.append(flow.current_stream(DEVICE)))
        thread.start()
        thread.join()
        assert seen == [flow.default_stream(DEVICE)]
    finally:
        flow.set_current_stream(flow.default_stream(DEVICE))


def test_equality() -> None:
    stream = flow.Stream(DEVICE)
    with stream:
        other = flow.current_stream(DEVICE)
    assert other == stream
    assert hash(other) == hash(stream)
    assert stream != flow.Stream(DEVICE)
    assert stream != stream.id
    assert len({stream, other}) == 1


def test_a_stream_that_is_current_outlives_its_object() -> None:
    before = flow.current_stream(DEVICE)
    flow.set_current_stream(flow.Stream(DEVICE))
    gc.collect()
    assert flow.ones(3, device=DEVICE).sum().item() == 3
    flow.set_current_stream(before)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: flow.Stream("cpu"), flow.Unsupported, "Stream: cpu:0 has only its default stream"),
        (lambda: flow.Event("cpu"), flow.Unsupported, "Event: "),
        (lambda: flow.set_current_stream(3), flow.TypeMismatch, "set_current_stream: stream must be Stream, got int"),
        (lambda: flow.Stream(DEVICE).wait_event(None), flow.TypeMismatch, "wait_event: event must be Event, got None"),
        (lambda: flow.Stream("moon"), flow.DeviceError, "Stream: there is no device 'moon'"),
        (lambda: flow.Event(DEVICE).record(flow.default_stream("cpu")), flow.Error, "record: "),
        (
            lambda: flow.Event(DEVICE).elapsed_time(flow.Event(DEVICE)),
            flow.InvalidArgument,
            "elapsed_time: ",
        ),
        (lambda: copy.copy(flow.Stream(DEVICE)), TypeError, ""),
        (lambda: pickle.dumps(flow.Event(DEVICE)), TypeError, ""),
    ],
)
def test_errors(call: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(text)
