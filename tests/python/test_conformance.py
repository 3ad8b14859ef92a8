"""Replays tests/generated/vectors: every operator in every form, layout and dtype, against its oracle's results."""

from __future__ import annotations

import base64
import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import array, decode

FOLDER = Path(__file__).parents[1] / "generated" / "vectors"
FILES = sorted(FOLDER.glob("*.json"))


def tensor(spec: dict[str, Any]) -> flow.Tensor:
    """A tensor in the layout of the vector, made without any operator where NumPy has the dtype."""
    data, dtype = base64.b64decode(spec["data"]), spec["dtype"]
    if dtype == "bfloat16":
        rebuild = flow._native._rebuild_tensor
        if not data:
            return rebuild(data, dtype, spec["sizes"], "cpu")
        flat = rebuild(data, dtype, (len(data) // 2,), "cpu")
        return flow.as_strided(flat, spec["sizes"], spec["strides"], spec["offset"])
    flat = np.frombuffer(bytearray(data), dtype)
    strides = [stride * flat.itemsize for stride in spec["strides"]]
    return flow.from_numpy(np.lib.stride_tricks.as_strided(flat[spec["offset"] :], spec["sizes"], strides))


def value(spec: Any) -> Any:
    match spec:
        case {"tensor": inner}:
            return tensor(inner)
        case {"tensors": members}:
            return [None if each is None else tensor(each) for each in members]
        case {"real": text}:
            return float(text)
        case {"integer": text}:
            return int(text)
        case {"devices": names}:
            return names
        case {"dtype": name}:
            return getattr(flow, name)
    return spec


def call(function: str, case: dict[str, Any]) -> tuple[flow.Tensor, ...]:
    arguments = {name: value(spec) for name, spec in case["arguments"].items()}
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
    results = functools.reduce(getattr, name.split("."), owner)(**arguments)
    results = results if isinstance(results, tuple) else (results,)
    if form == "in_place":
        assert all(found is given for found, given in zip(results, replaced or [owner], strict=True))
    if form == "out":
        assert all(found is given for found, given in zip(results, out, strict=True))
    return results


def problem(function: str, case: dict[str, Any]) -> str | None:
    """What is wrong with a case, or None."""
    try:
        results = call(function, case)
    except flow.Error as error:
        return f"{type(error).__name__}: {error}"
    for found, expected in zip(results, case["results"], strict=True):
        shape = (found.dtype.name, list(found.shape))
        if shape != (expected["dtype"], expected["sizes"]):
            return f"got {shape}, expected {expected['dtype'], expected['sizes']}"
        want = decode(base64.b64decode(expected["data"]), expected["dtype"], tuple(expected["sizes"]))
        with np.errstate(invalid="ignore"):
            close = np.isclose(array(found), want, case["relative"], case["absolute"], equal_nan=True)
        if not close.all():
            return f"got {array(found)[~close][:4]}, expected {want[~close][:4]}"
    return None


def test_there_are_vectors() -> None:
    assert FILES, f"no vectors in {FOLDER}: make vectors"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vectors(path: Path) -> None:
    content = json.loads(path.read_text())
    problems = []
    for case in content["cases"]:
        if (found := problem(content["function"], case)) is not None:
            problems.append(f"{case['name']} ({case['form']}): {found}")
    assert not problems, f"{len(problems)} of {len(content['cases'])}\n" + "\n".join(problems[:20])
