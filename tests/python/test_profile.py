"""Tests profiles: what they record, their errors, and that traces follow the rules of Chrome's format."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import oneflow_py as flow


def record() -> flow.Profile:
    """The tests of all languages record these calls, and expect the same of them."""
    x, w = flow.ones(2, 3), flow.ones(3, 4)
    with flow.profile() as p:
        flow.softmax(flow.matmul(x, w), dim=0)
        flow.sum(x, dim=1)
    return p


def test_entries_have_the_properties_of_calls() -> None:
    entries = record().entries
    user = [entry for entry in entries if entry.parent is None]
    assert [entry.name for entry in user] == ["matmul", "softmax", "sum"]
    product, softmax, total = user
    assert (product.shapes, product.dtypes) == (((2, 3), (3, 4)), (flow.float32, flow.float32))
    assert (product.result_shapes, product.result_dtypes) == (((2, 4),), (flow.float32,))
    assert (product.flops, product.bytes, product.memory) == (48, 104, 32)
    assert (product.caller, product.device, product.thread, product.failed) == ("matmul", flow.device("cpu"), 0, False)
    assert product.device_time is None
    assert 0 <= product.start <= softmax.start <= total.start
    assert 0 < product.self_time <= product.host_time < 60
    position = entries.index(softmax)
    parts = [entry for entry in entries if entry.parent == position]
    assert parts
    assert {entry.caller for entry in parts} == {"softmax"}
    assert softmax.self_time == pytest.approx(softmax.host_time - sum(entry.host_time for entry in parts))
    assert total.flops == 0


def test_table_has_a_line_per_operator() -> None:
    p = record()
    head, *lines, last = p.table().splitlines()
    assert head.split() == ["operator", "calls", "total", "self", "mean", "memory", "rate"]
    assert {"matmul", "softmax", "sum"} <= {line.split()[0] for line in lines}
    assert last.startswith(f"{len(p.entries)} calls on 1 thread in ")
    assert str(p) == p.table()
    assert repr(p) == f"<profile of {len(p.entries)} calls>"


def check_trace(text: str) -> list[dict[str, Any]]:
    """Checks the rules of the Trace Event Format for metadata and complete events. Returns the latter."""
    trace = json.loads(text)
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    complete = []
    for event in trace["traceEvents"]:
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event["name"], str)
        assert isinstance(event["args"], dict)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)
            continue
        assert event["ph"] == "X"
        assert isinstance(event["cat"], str)
        assert event["ts"] >= 0
        assert event["dur"] >= 0
        complete.append(event)
    named = {event["tid"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert {event["tid"] for event in complete} <= named
    for tid in named:
        check_nesting([event for event in complete if event["tid"] == tid])
    return complete


def check_nesting(events: list[dict[str, Any]]) -> None:
    """Checks that no two events of a track overlap in part. Times have three digits after the point."""
    ends: list[float] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        while ends and ends[-1] <= event["ts"] + 1e-6:
            ends.pop()
        end = event["ts"] + event["dur"]
        assert not ends or end <= ends[-1] + 1e-3
        ends.append(end)


def test_traces_follow_the_rules(tmp_path: Path) -> None:
    p = record()
    events = check_trace(p.trace())
    assert [event["name"] for event in events] == [entry.name for entry in p.entries]
    product = next(event for event in events if event["name"] == "matmul")
    assert product["args"]["operands"] == "float32[2, 3], float32[3, 4]"
    assert product["args"]["operations"] == 48
    p.save(tmp_path / "trace.json")
    assert (tmp_path / "trace.json").read_text() == p.trace()
    with pytest.raises(FileNotFoundError):
        p.save(tmp_path / "missing" / "trace.json")


def test_traces_have_a_track_per_thread() -> None:
    x = flow.ones(2)
    with flow.profile() as p:
        -x  # noqa: B018
        threads = [threading.Thread(target=lambda: x + x) for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
    assert [(event["name"], event["tid"]) for event in check_trace(p.trace())] == [("neg", 1), ("add", 2), ("add", 3)]
    assert [entry.thread for entry in p.entries] == [0, 1, 2]


def test_profiles_follow_each_other() -> None:
    first, second = record(), record()
    assert len(first.entries) == len(second.entries)
    with first:
        flow.ones(1)
    assert [entry.name for entry in first.entries] == ["ones"]


def test_one_profile_runs_at_a_time() -> None:
    with flow.profile() as p:
        with pytest.raises(
            flow.InvalidArgument, match=r"^profile: a profile is running; it must end before the next one begins$"
        ):
            flow.profile().__enter__()
        with pytest.raises(flow.InvalidArgument, match=r"^profile: it must end before it is read$"):
            p.table()
        assert p.entries == []
    assert p.entries == []
    with pytest.raises(flow.InvalidArgument, match=r"^profile: it has not begun$"):
        flow.profile().table()


def test_errors_end_the_profile() -> None:
    p = flow.profile()
    with pytest.raises(flow.ShapeError), p:
        flow.ones(2) + flow.ones(3)
    assert [(entry.name, entry.failed) for entry in p.entries] == [("ones", False), ("ones", False), ("add", True)]
    record()


def test_an_error_of_the_end_is_raised_unless_the_block_has_failed() -> None:
    with pytest.raises(flow.InvalidArgument, match="profile"), flow.profile() as p:
        p.__exit__(None, None, None)
    with pytest.raises(KeyError), flow.profile() as p:
        raise KeyError(p.__exit__(None, None, None))


def test_arguments_that_are_too_many() -> None:
    text = "^profile: takes at most 0 positional arguments, got 1$"
    with pytest.raises(flow.TypeMismatch, match=text):
        flow.profile(3)  # type: ignore[call-arg]


def test_programs_do_not_create_profiles() -> None:
    with pytest.raises(flow.TypeMismatch, match=r"^Profile: profiles are made by profile\(\.\.\.\)$"):
        flow.Profile()


def test_profiles_end_with_their_object() -> None:
    p = flow.profile()
    p.__enter__()
    del p
    record()


def test_a_process_may_end_while_a_profile_runs() -> None:
    program = "import oneflow_py as flow; p = flow.profile(); p.__enter__(); flow.ones(2)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
