"""Replays tests/generated/vectors: compares every operator in every form and dtype with the results of its oracle.

Runs on the first device of every available type. docs/reference/vectors.md says which cases are replayed.

A plugin that provides no devices is reported as skipped, with its reason. The operators that fell back to the host are
written to fallbacks/<type>.json in the build folder.
"""

from __future__ import annotations

import base64
import functools
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import array, decode, first_devices

TESTS = Path(__file__).parents[1]
FILES = sorted((TESTS / "generated" / "vectors").glob("*.json"))
BUILD = Path(os.environ.get("OF_BUILD", TESTS.parent / "build"))
KNOWN = json.loads((TESTS / "devices.json").read_text())
DEVICES = first_devices()
MISSING = [pytest.param(None, id=Path(path).stem, marks=pytest.mark.skip(reason)) for path, reason in
           flow.rejected_plugins().items()]  # fmt: skip


def is_replayed(case: dict[str, Any], device: str = DEVICES[0]) -> bool:
    """Returns whether ONEFLOW_VECTORS (docs/reference/vectors.md) includes the case. The first device is the host."""
    included = os.environ.get("ONEFLOW_VECTORS", "0/1")
    sample = case["sample"]
    if sample == "host":
        sample = device == DEVICES[0]
    if included == "all" or isinstance(sample, bool):
        return included == "all" or sample
    index, count = map(int, included.split("/"))
    return int(sample) % count == index


def allowed(device: str) -> dict[str, Any]:
    found: dict[str, Any] = KNOWN["types"].get(flow.device(device).type, {})
    return found


@pytest.fixture(scope="module", params=[*DEVICES, *MISSING])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Makes the device under test the default device, and records which of its operators fall back to the host."""
    earlier = flow.get_default_device()
    flow.set_default_device(request.param)
    FALLEN_BACK.clear()
    try:
        yield request.param
    finally:
        flow.set_default_device(earlier)
        folder = BUILD / "fallbacks"
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(dict(sorted(FALLEN_BACK.items())), indent=2)
        (folder / f"{flow.device(request.param).type}.json").write_text(text + "\n")


FALLEN_BACK: Counter[str] = Counter()  # number of fallbacks of the device under test by operator


def tensor(spec: dict[str, Any], device: str) -> flow.Tensor:
    """Copies the storage of a vector to the device unchanged, and returns a view of it with the vector's strides."""
    data, dtype = base64.b64decode(spec["data"]), spec["dtype"]
    count = len(data) // getattr(flow, dtype).itemsize
    flat = flow._native._rebuild_tensor(data, dtype, (count,), device)
    return flow.as_strided(flat, spec["sizes"], spec["strides"], spec["offset"] if 0 not in spec["sizes"] else 0)


def value(spec: Any, device: str) -> Any:
    match spec:
        case {"tensor": inner}:
            return tensor(inner, device)
        case {"tensors": items}:
            return [None if each is None else tensor(each, device) for each in items]
        case {"real": text}:
            return float(text)
        case {"integer": text}:
            return int(text)
        case {"device": _}:
            return device
        case {"devices": names}:
            return [device] * len(names)
        case {"dtype": name}:
            return getattr(flow, name)
    return spec


def call(function: str, case: dict[str, Any], device: str) -> tuple[flow.Tensor, ...]:
    arguments = {name: value(spec, device) for name, spec in case["arguments"].items()}
    form = case["form"]
    if form == "out":
        out = tuple(flow.ones(each["sizes"], dtype=each["dtype"]) for each in case["results"])
        arguments["out"] = out if len(out) > 1 else out[0]
    replaced = arguments.get("tensors") if form == "in_place" else None
    if replaced is not None:
        owner, name = flow, f"{function}_"
    elif form in ("method", "in_place"):
        owner, name = arguments.pop("input"), function if form == "method" else f"{function}_"
    else:
        owner, name = flow, function
    flow.reset_fallbacks()
    found = functools.reduce(getattr, name.split("."), owner)
    results = found if isinstance(found, flow.Tensor) else found(**arguments)  # a tensor: the method is an attribute
    FALLEN_BACK.update(flow.fallbacks())
    results = tuple(results) if isinstance(results, (tuple, list)) else (results,)
    if form == "in_place":
        assert all(found is given for found, given in zip(results, replaced or [owner], strict=True))
    if form == "out":
        assert all(found is given for found, given in zip(results, out, strict=True))
    return results


def problem(function: str, case: dict[str, Any], device: str) -> str | None:
    """Runs a case. Returns a description of the failure, or None."""
    try:
        results = call(function, case, device)
    except flow.Error as error:
        return f"{type(error).__name__}: {error}"
    factor = allowed(device).get("tolerance", 1)
    for found, expected in zip(results, case["results"], strict=True):
        shape = (found.dtype.name, list(found.shape), found.device.name)
        wanted = (expected["dtype"], expected["sizes"], device)
        if shape != wanted:
            return f"got {shape}, expected {wanted}"
        want = decode(base64.b64decode(expected["data"]), expected["dtype"], tuple(expected["sizes"]))
        with np.errstate(invalid="ignore"):
            close = np.isclose(array(found), want, factor * case["relative"], factor * case["absolute"], equal_nan=True)
        if not close.all():
            return f"got {array(found)[~close][:4]}, expected {want[~close][:4]}"
    return None


def test_vectors_exist() -> None:
    assert FILES, "no vectors; run make vectors"


def test_the_test_plugins_are_loaded() -> None:
    named = [Path(path) for path in os.environ.get("ONEFLOW_DEVICE_PATH", "").split(":") if path]
    rejected = {path: reason for path, reason in flow.rejected_plugins().items() if Path(path) in named}
    assert not rejected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vectors(device: str, path: Path) -> None:
    content = json.loads(path.read_text())
    reason = KNOWN["host_only"].get(content["op"])
    if reason is not None and "host_accessible" not in flow.device(device).capabilities:
        pytest.skip(reason)
    problems = []
    cases = [case for case in content["cases"] if is_replayed(case, device)]
    assert cases
    for case in cases:
        if (found := problem(content["function"], case, device)) is not None:
            problems.append(f"{case['name']} ({case['form']}): {found}")
    assert not problems, f"{len(problems)} of {len(cases)}\n" + "\n".join(problems[:20])


def test_fallbacks_stay_within_what_is_allowed(device: str) -> None:
    most = allowed(device).get("most_fallbacks", len(FILES))
    assert len(FALLEN_BACK) <= most, sorted(FALLEN_BACK)
