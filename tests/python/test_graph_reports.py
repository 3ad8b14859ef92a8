"""Tests the cost and the picture of graphs: the cases of tests/data/graphs, as in the other languages, and more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import oneflow_py as flow
from tests.python.support import raises

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads((DATA / "graphs" / "cases.json").read_text())
SVG = "{http://www.w3.org/2000/svg}"


def load(name: str) -> flow.graph.Graph:
    return flow.onnx.load(str(DATA / "onnx" / f"{name}.onnx"))


def cost_of(function: Callable[..., Any], *inputs: flow.Tensor) -> flow.graph.Cost:
    return flow.graph.capture(function, inputs).cost()


# ------------------------------------------------------------------------------------------------ cost


@pytest.mark.parametrize("case", CASES["costs"], ids=lambda case: case["file"])
def test_the_cost_of_a_model(case: dict[str, Any]) -> None:
    cost = load(case["file"]).cost(**case["sizes"])
    assert list(cost[:3]) == case["total"]
    assert (cost.constant_bytes, cost.peak_bytes) == (case["constants"], case["peak"])
    assert [list(each) for each in cost.operators] == case["operators"]


def test_a_cost_prints_as_a_table() -> None:
    assert str(load("layer").cost(batch=3)).splitlines() == CASES["table"]


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["text"])
def test_sizes_are_checked(case: dict[str, Any]) -> None:
    raises(getattr(flow, case["class"]), case["text"], lambda: load("layer").cost(**case["sizes"]))


def test_a_size_must_be_an_integer() -> None:
    raises(flow.TypeMismatch, "cost: batch must be int, got str", lambda: load("layer").cost(batch="3"))
    text = "cost: batch must fit into 64 bits, got a larger integer"
    raises(flow.InvalidArgument, text, lambda: load("layer").cost(batch=2**70))


def test_sizes_that_overflow_are_an_error() -> None:
    with pytest.raises(flow.ShapeError, match="cost: "):
        load("layer").cost(batch=2**62)


def test_contractions_count_two_operations_per_combination() -> None:
    a, b = flow.ones(3, 4, 5), flow.ones(5, 6)
    assert cost_of(lambda x, y: x @ y, a, b).operations == 2 * 3 * 4 * 5 * 6
    image, weight = flow.ones(2, 3, 8, 8), flow.ones(4, 3, 3, 3)
    cost = cost_of(lambda x, w: flow.conv2d(x, w), image, weight)
    assert cost.operations == 2 * (2 * 4 * 6 * 6) * (3 * 3 * 3)
    # The windows overlap, but no element is read twice.
    assert (cost.bytes_read, cost.bytes_written) == (4 * (image.numel() + weight.numel()), 4 * 2 * 4 * 6 * 6)


def test_expressions_count_their_operators_per_element() -> None:
    x = flow.ones(10, 7)
    assert cost_of(lambda x: x + 1, x).operations == 70
    assert cost_of(lambda x: flow.sum(x, dim=1), x).operations == 70
    assert cost_of(lambda x: x[:, :1] * x, x).operations == 70


def test_composites_count_what_their_bodies_do() -> None:
    x = flow.ones(4, 5)
    found = cost_of(lambda x: flow.var(x, dim=1).sqrt(), x)
    assert [each.name for each in found.operators] == ["var", "sqrt"]
    one = cost_of(lambda x: flow.softmax(x, dim=1), x)
    assert one.operations > 3 * 20
    assert (one.bytes_read, one.bytes_written) == (80, 80)  # the device has a kernel for all of it


def test_views_cost_nothing() -> None:
    cost = cost_of(lambda x: x.transpose(0, 1).reshape(-1).unsqueeze(0), flow.ones(4, 1))
    assert (cost.operations, cost.bytes_read, cost.bytes_written, cost.peak_bytes) == (0, 0, 0, 0)


def test_an_expanded_operand_is_read_once() -> None:
    assert cost_of(lambda x: x.expand(100, 5) + 1, flow.ones(1, 5)).bytes_read == 20


def test_lookups_read_what_they_select() -> None:
    table = flow.ones(1000, 8)
    cost = cost_of(lambda i: flow.embedding(i, table), flow.tensor([1, 2, 3]))
    assert (cost.bytes_read, cost.bytes_written) == (3 * 8 + 3 * 8 * 4, 3 * 8 * 4)
    assert cost.constant_bytes == 1000 * 8 * 4


def test_values_give_back_their_memory() -> None:
    x = flow.ones(100)
    assert cost_of(lambda x: ((x + 1) * 2 - 3).exp(), x).peak_bytes == 400
    assert cost_of(lambda x: (x + 1) * (x + 2), x).peak_bytes == 800
    assert cost_of(lambda x: flow.cumsum(flow.cumsum(flow.cumsum(x, 0), 0), 0), x).peak_bytes == 800
    kept = cost_of(lambda x: flow.sum((x + 1).reshape(10, 10).transpose(0, 1), dim=0), x)
    assert kept.peak_bytes == 400 + 40


def test_writes_in_place_and_complex_numbers_count() -> None:
    def update(x: flow.Tensor) -> flow.Tensor:
        total = x * 2
        total.add_(x)
        return total

    assert cost_of(update, flow.ones(6)).operations == 12
    z = flow.complex(flow.ones(2, 2), flow.ones(2, 2))
    assert cost_of(lambda a: a @ a, z).operations == 2 * 8
    assert cost_of(lambda a: a * a, z).operations > 0


def test_a_cost_within_a_capture_records_nothing() -> None:
    inner = load("layer")

    def function(x: flow.Tensor) -> flow.Tensor:
        assert inner.cost(batch=1).operations == 16
        return x + 1

    assert len(str(flow.graph.capture(function, flow.ones(2))).splitlines()) == 6


# ------------------------------------------------------------------------------------------------ picture


def texts_of(graph: flow.graph.Graph) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(graph.picture()).iter(f"{SVG}text")]


def test_the_picture_of_a_model() -> None:
    graph = load("layer")
    assert graph.picture() == (DATA / "graphs" / "layer.svg").read_text()
    assert graph._repr_svg_() == graph.picture()


def test_a_picture_shows_calls_with_their_attributes_and_constants() -> None:
    weight = flow.ones(4, 3, 3, 3)
    graph = flow.graph.capture(
        lambda x: flow.conv2d(x, weight, stride=2), flow.ones(1, 3, 9, 9), dynamic={"batch"}, weights={"kernel": weight}
    )
    texts = texts_of(graph)
    for expected in ("conv2d", "weight float32[4, 3, 3, 3]", "stride=[2]", "%0 float32[batch, 3, 9, 9]"):
        assert expected in texts, texts
    assert "padding=0" not in texts
    assert "kernel" in graph.picture()


def test_names_are_escaped() -> None:
    name = '<a href="x">&\'\x01\u200b]]>'
    graph = flow.graph.capture(lambda x: {name: x + 1}, flow.ones(1))
    assert any('<a href="x">&' in text for text in texts_of(graph))


def test_states_constants_and_lists_are_drawn() -> None:
    total, fixed = flow.zeros(2), flow.ones(3)

    def step(x: flow.Tensor) -> list[flow.Tensor]:
        total.add_(x)
        return [fixed, *flow.split(x, 1)]

    root = ElementTree.fromstring(flow.graph.capture(step, flow.ones(2)).picture())
    kinds = [each.get("class") for each in root.iter(f"{SVG}g")]
    assert [kinds.count(kind) for kind in ("input", "output", "state", "constant")] == [1, 3, 1, 1]


def test_boxes_do_not_overlap() -> None:
    def function(x: flow.Tensor) -> flow.Tensor:
        values = [x]
        for i in range(40):
            values.append(flow.relu(values[-1] + values[(i * 7) % len(values)]) * values[i // 2])
        return flow.cat(values)

    graph = flow.graph.capture(function, flow.ones(3))
    assert graph.picture() == graph.picture()
    boxes = [
        tuple(int(rect.get(key, "")) for key in ("x", "y", "width", "height"))
        for group in ElementTree.fromstring(graph.picture()).iter(f"{SVG}g")
        for rect in group.iter(f"{SVG}rect")
    ]
    assert len(boxes) == len(re.findall(r"^(?:%|input |output )", str(graph), re.MULTILINE))
    for i, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:i]:
            is_beside = x + width <= other_x or other_x + other_width <= x
            assert is_beside or y + height <= other_y or other_y + other_height <= y
