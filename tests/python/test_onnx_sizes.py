"""Loads ONNX models whose sizes vary: what follows from sizes, and what is tried where not all sizes work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

import oneflow_py as flow
from tests.onnx_files import constant, graph, model, node, value
from tests.python.support import raises

X = value("x", ["w"])
WIDTH = [node("Shape", ["x"], ["shape"]), node("Squeeze", ["shape"], ["width"])]
ZERO, ONE, EIGHTY = (constant(name, number, np.int64) for name, number in (("zero", 0), ("one", 1), ("eighty", 80)))


def load(made: onnx.ModelProto, folder: Path, **options: Any) -> flow.graph.Graph:
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    return flow.onnx.load(folder / "model.onnx", **options)


# Nodes that make a tensor of the width of x, whose size is then used.
WIDE = {
    "range": [node("Range", ["zero", "width", "one"], ["wide"])],
    "constant": [node("ConstantOfShape", ["shape"], ["wide"])],
    "expanded": [node("Expand", ["one", "shape"], ["wide"])],
    "tiled": [node("Tile", ["ones", "shape"], ["wide"])],
    "padded": [
        node("Sub", ["shape", "ones"], ["more"]),
        node("Concat", ["zeros", "more"], ["pads"], axis=0),
        node("Pad", ["ones", "pads"], ["wide"]),
    ],
    "joined": [
        node("Range", ["one", "width", "one"], ["most"]),
        node("Concat", ["most", "ones"], ["wide"], axis=0),
    ],
    "sliced": [node("Range", ["zero", "twice", "one"], ["long"]), node("Slice", ["long", "zeros", "shape"], ["wide"])],
    "gathered": [node("Range", ["zero", "width", "one"], ["places"]), node("Gather", ["table", "places"], ["wide"])],
}
SIZED = {"shape": [node("Shape", ["wide"], ["size"])], "size": [node("Size", ["wide"], ["size"])]}


@pytest.mark.parametrize("sized", SIZED)
@pytest.mark.parametrize("wide", WIDE)
def test_the_size_of_a_value_that_follows_from_sizes(wide: str, sized: str, tmp_path: Path) -> None:
    """It was taken for a constant, that of the first sizes that are tried."""
    nodes = [*WIDTH, node("Add", ["width", "width"], ["twice"]), *WIDE[wide], *SIZED[sized]]
    nodes += [node("Reshape", ["size", "ones"], ["target"]), node("Cast", ["target"], ["real"], to=TensorProto.FLOAT)]
    nodes += [node("Expand", ["half", "target"], ["halves"]), node("Mul", ["x", "real"], ["y"])]
    nodes += [node("Add", ["y", "halves"], ["z"])]
    constants = [ZERO, ONE, constant("ones", [1], np.int64), constant("zeros", [0], np.int64), constant("half", 0.5)]
    found = load(model(nodes, [X], ["z"], [*constants, constant("table", range(2000))]), tmp_path)
    assert [list(each.shape) for each in found.outputs] == [["w"]]
    for width in (1, 64, 96):
        assert found(flow.ones(width)).tolist() == [width + 0.5] * width


def loop(*nodes: onnx.NodeProto) -> onnx.GraphProto:
    """Returns the body of a loop whose state is a number."""
    inputs = [value("i", [], TensorProto.INT64), value("goes_on", [], TensorProto.BOOL), value("n", [])]
    return graph([node("Identity", ["goes_on"], ["on"]), *nodes], inputs, ["on", "next"])


COUNTED = node("Loop", ["width", "", "zero_state"], ["n"], body=loop(node("Add", ["n", "half"], ["next"])))
BRANCHES = {
    f"{name}_branch": graph([node("Identity", [number], [name])], [], [name])
    for name, number in (("then", "half"), ("else", "zero_state"))
}
DECISIONS = {
    "Loop": [COUNTED],
    "If": [node("Greater", ["width", "eighty"], ["is_wide"]), node("If", ["is_wide"], ["n"], **BRANCHES)],
}


@pytest.mark.parametrize(("kind", "values"), [("Loop", {64: 32, 96: 48}), ("If", {64: 0, 96: 0.5})])
def test_what_decides_on_nodes_must_not_vary(kind: str, values: dict[int, float], tmp_path: Path) -> None:
    """The steps, or the branch, were those of the first sizes that are tried."""
    constants = [EIGHTY, constant("half", 0.5), constant("zero_state", 0)]
    # The state is a constant before it meets x.
    nodes = [*WIDTH, *DECISIONS[kind], node("Mul", ["n", "half"], ["m"]), node("Add", ["x", "m"], ["y"])]
    made = model(nodes, [X], ["y"], constants)
    for width, found in values.items():
        assert load(made, tmp_path, sizes={"w": width})(flow.zeros(width)).tolist() == [found / 2] * width
    text = f"load: node 'n' ({kind}, opset 18): which nodes run depends on sizes that vary"
    raises(flow.InvalidArgument, text, lambda: load(made, tmp_path, sizes={"w": range(1, 1000)}))


MODES = [
    {"mode": "cubic", "coordinate_transformation_mode": "half_pixel"},
    {"mode": "cubic", "coordinate_transformation_mode": "align_corners", "cubic_coeff_a": -0.5},
    {"mode": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel", "exclude_outside": 1},
    {"mode": "cubic", "coordinate_transformation_mode": "half_pixel", "antialias": 1},
    {"mode": "linear", "coordinate_transformation_mode": "half_pixel", "antialias": 1},
    {"mode": "linear", "coordinate_transformation_mode": "asymmetric"},
    {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"},
    *(
        {"mode": "nearest", "coordinate_transformation_mode": "half_pixel", "nearest_mode": mode}
        for mode in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    ),
]


@pytest.mark.parametrize("options", MODES, ids=lambda options: "-".join(map(str, options.values())))
@pytest.mark.parametrize("target", ["scales", "sizes"])
def test_resizing_with_sizes_that_vary(target: str, options: dict[str, Any], tmp_path: Path) -> None:
    """The weights were tables, which hold for one size; looking for such a size took minutes and gigabytes."""
    inputs = ["x", "", "scales"] if target == "scales" else ["x", "", "", "sizes"]
    nodes = [node("Resize", inputs, ["y"], **options)]
    constants = [constant("scales", [1, 1, 2, 0.5])]
    if target == "sizes":
        nodes = [node("Shape", ["x"], ["shape"]), node("Mul", ["shape", "factors"], ["long"]),
                 node("Div", ["long", "divisors"], ["sizes"]), *nodes]  # fmt: skip
        constants = [constant("factors", [1, 1, 2, 1], np.int64), constant("divisors", [1, 1, 1, 3], np.int64)]
    made = model(nodes, [value("x", [1, 2, "h", "w"])], ["y"], constants)
    found = load(made, tmp_path)
    assert list(found.sizes) == ["h", "w"]
    flow.manual_seed(1)
    for height, width in ((8, 12), (37, 23)):
        x = flow.randn(1, 2, height, width)
        expected = load(made, tmp_path, sizes={"h": height, "w": width})(x)
        np.testing.assert_allclose(found(x).numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_a_constant_of_the_graph_is_made_once(tmp_path: Path) -> None:
    """A table was made in each of the runs that find out what varies, and all of them were kept."""
    nodes = [node("Resize", ["x", "", "", "sizes"], ["y"], mode="cubic", axes=[2, 3])]
    sizes = constant("sizes", [1024, 1024], np.int64)
    made = model(nodes, [value("x", ["n", 1, 256, 256])], ["y"], [sizes])
    flow.reset_peak_memory_stats("cpu")
    before = flow.memory_stats("cpu")["in_use"]
    found = load(made, tmp_path)
    assert flow.memory_stats("cpu")["peak_in_use"] - before < 32 << 20
    assert found(flow.ones(2, 1, 256, 256)).shape == (2, 1, 1024, 1024)


def test_a_batch_of_one_is_tried_first(tmp_path: Path) -> None:
    """Sizes of up to 4096 were tried, and then c = 16."""
    nodes = [node("Reshape", ["x", "shape"], ["square"]), node("Expand", ["square", "more"], ["y"])]
    nodes = [node("Shape", ["more_x"], ["more"]), *nodes]
    inputs = [value("x", ["batch", 4]), value("more_x", [3, "c", 2, 2])]
    made = model(nodes, inputs, ["y"], [constant("shape", [1, 2, 2], np.int64)])
    note = (
        "the model does not work for all sizes, and was loaded with batch = 1; `sizes` of load says which ones it "
        "should have"
    )
    with pytest.warns(UserWarning, match=f"^load: {note}$"):
        found = load(made, tmp_path)
    assert found.note == note
    assert found.optimize().note == note
    assert list(found.sizes) == ["c"]
    more = flow.ones(3, 5, 2, 2)
    assert found(flow.ones(1, 4), more).shape == (3, 5, 2, 2)
    text = f"run: dimension 0 of input 'x' must be 1, got shape [2, 4]; {note}"
    raises(flow.ShapeError, text, lambda: found(flow.ones(2, 4), more))
    assert load(made, tmp_path, sizes={"batch": 1}).note == ""


def test_an_error_that_sizes_cannot_cause_names_none(tmp_path: Path) -> None:
    made = model([node("Add", ["x", "missing"], ["y"])], [value("x", ["n", "m"])], ["y"])
    text = "load: node 'y' (Add, opset 18): its input 'missing' is not the result of a node before"
    raises(flow.InvalidArgument, text, lambda: load(made, tmp_path))


def test_sizes_that_are_equal(tmp_path: Path) -> None:
    nodes = [node("Add", ["a", "b"], ["y"])]
    made = model(nodes, [value("a", ["n"]), value("b", ["k", "m"]), value("c", ["l"])], ["y"])
    found = load(made, tmp_path, sizes={"m": "l", "l": "n", "n": range(2, 9)})
    assert {each.name: each.shape for each in found.inputs} == {"a": ("n",), "b": ("k", "n"), "c": ("n",)}
    assert found.sizes["n"] == range(2, 9)
    refused = [
        ({"m": "rows"}, "load: sizes: the model has no open size 'rows'; it has n, k, m, l"),
        ({"m": "n", "n": "m"}, "load: sizes: 'n' is said to be equal to itself"),
        ({"m": "m"}, "load: sizes: 'm' is said to be equal to itself"),
    ]
    for sizes, text in refused:
        raises(flow.InvalidArgument, text, lambda sizes=sizes: load(made, tmp_path, sizes=sizes))


def test_cropping_to_a_size(tmp_path: Path) -> None:
    """What is cropped was that of large sizes, also where a small one has to be padded."""
    target = constant("target", [4], np.int64)
    made = model([node("CenterCropPad", ["x", "target"], ["y"])], [X], ["y"], [target])
    assert load(made, tmp_path, sizes={"w": 3})(flow.tensor([1.0, 2.0, 3.0])).tolist() == [1, 2, 3, 0]
    assert load(made, tmp_path, sizes={"w": 6})(flow.arange(6.0)).tolist() == [1, 2, 3, 4]
    text = "load: node 'y' (CenterCropPad, opset 18): which nodes run depends on sizes that vary"
    raises(flow.InvalidArgument, text, lambda: load(made, tmp_path, sizes={"w": range(1, 1000)}))
    less = [node("Shape", ["x"], ["shape"]), node("Sub", ["shape", "two"], ["target"])]
    made = model([*less, node("CenterCropPad", ["x", "target"], ["y"])], [X], ["y"], [constant("two", [2], np.int64)])
    found = load(made, tmp_path)
    for width in (4, 96):
        assert found(flow.arange(float(width))).tolist() == list(range(1, width - 1))
