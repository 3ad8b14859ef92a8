"""Tests loading the ONNX files of tests/data/onnx, as the other languages do, and damaged ones."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

import oneflow_py as flow
from tests.python.support import raises

FOLDER = Path(__file__).parents[1] / "data" / "onnx"
CASES = json.loads((FOLDER / "cases.json").read_text())


def path(case: dict[str, Any]) -> str:
    return str(FOLDER / f"{case['file']}.onnx")


def size_range(bounds: list[int]) -> range:
    minimum, maximum, step = bounds
    return range(minimum, 2**63 if maximum is None else maximum + 1, step)


def options(case: dict[str, Any]) -> dict[str, Any]:
    sizes = {name: size_range(size) if isinstance(size, list) else size for name, size in case.get("with", {}).items()}
    return {"sizes": sizes, "values": case.get("values", {})}


@pytest.mark.parametrize("case", CASES["loads"], ids=lambda case: case["file"])
def test_a_model_loads(case: dict[str, Any], tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = flow.onnx.load(path(case), **options(case))
    assert graph.note == case.get("note", "")
    assert [str(each.message) for each in caught] == [f"load: {graph.note}"] * (graph.note != "")
    assert {each.name: list(each.shape) for each in graph.inputs} == case["shapes"]
    assert [list(each.shape) for each in graph.outputs] == list(case["outputs"].values())
    assert graph.sizes == {name: size_range(bounds) for name, bounds in case["sizes"].items()}
    assert list(graph.constants) == case["constants"]
    inputs = {name: flow.tensor(data, dtype=flow.float32) for name, data in case["inputs"].items()}
    graph.save(tmp_path / "model.flow")
    for each in (graph, flow.graph.load(tmp_path / "model.flow")):
        results = each(**inputs)
        if isinstance(results, dict):
            assert list(results) == list(case["outputs"])
            assert {name: tensor.tolist() for name, tensor in results.items()} == case["gives"]
        else:
            assert results.tolist() == case["gives"]


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["file"])
def test_a_model_is_refused(case: dict[str, Any]) -> None:
    text = case["says"].replace("FOLDER", str(FOLDER))
    raises(getattr(flow, case["raises"]), text, lambda: flow.onnx.load(path(case), **options(case)))


def test_values_can_be_tensors_and_paths_objects() -> None:
    shape = flow.tensor([6, -1])
    graph = flow.onnx.load(FOLDER / "reshape.onnx", values={"shape": shape})
    shape.fill_(1)
    assert graph(flow.zeros(2, 3)).shape == (6, 1)


def refuses(text: str, **arguments: Any) -> None:
    raises(flow.TypeMismatch, text, lambda: flow.onnx.load("layer.onnx", **arguments))


def test_wrong_arguments() -> None:
    refuses("load: sizes must be dict or None, got int", sizes=3)
    refuses("load: values must be dict or None, got list", values=[1])
    for size in (0, -1, 1.5, True, b"3", range(3, 3), range(9, 3, -1)):
        wanted = "a positive int, a range that is not empty, or the name of a size"
        text = f"load: sizes['batch'] must be {wanted}, got {size!a}"
        refuses(text, sizes={"batch": size})
    with pytest.raises(flow.TypeMismatch):
        flow.onnx.load(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["layer", "two_outputs", "branch", "function", "external", "reshape"])
def test_damaged_files_raise_errors(name: str, tmp_path: Path) -> None:
    whole = (FOLDER / f"{name}.onnx").read_bytes()
    (tmp_path / "weights.bin").write_bytes((FOLDER / "weights.bin").read_bytes())
    draw = random.Random(name)
    damaged = [whole[:length] for length in range(len(whole))]
    for _ in range(300):
        changed = bytearray(whole)
        for _ in range(draw.choice((1, 1, 2, 8))):
            changed[draw.randrange(len(whole))] = draw.randrange(256)
        damaged.append(bytes(changed))
    texts = []
    for contents in damaged:
        (tmp_path / "model.onnx").write_bytes(contents)
        try:
            flow.onnx.load(tmp_path / "model.onnx")
        except flow.InternalError:
            raise
        except flow.Error as error:
            texts.append(str(error))
    assert len(texts) > len(whole) / 2
    assert all(text.startswith("load: ") for text in texts)


def test_files_are_as_the_script_writes_them() -> None:
    pytest.importorskip("onnx")
    from tests.onnx_files import files

    assert {each.name: each.read_bytes() for each in FOLDER.iterdir() if each.suffix != ".json"} == files()
