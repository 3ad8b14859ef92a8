"""Loads ONNX models that would take all memory or time, or block: files that are none, and links out of the folder."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto

import oneflow_py as flow
from tests.onnx_files import constant, graph, in_file, model, node, value
from tests.python.support import raises

MIB = 1 << 20
X = value("x", [1])
HUGE = 1 << 32


@pytest.fixture(autouse=True)
def _interrupts_what_blocks() -> Iterator[None]:
    signal.alarm(30)
    yield
    signal.alarm(0)


@pytest.fixture
def _little_memory() -> Iterator[None]:
    limit = flow.memory_stats("cpu")["limit"]
    flow.set_memory_limit(flow.memory_stats("cpu")["in_use"] + 512 * MIB, "cpu")
    yield
    flow.set_memory_limit(limit, "cpu")


def load(made: onnx.ModelProto, folder: Path) -> flow.graph.Graph:
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    return flow.onnx.load(folder / "model.onnx")


def numbers(name: str, *values: float) -> onnx.TensorProto:
    return constant(name, values, np.int64)


SHAPE = numbers("shape", HUGE)
MADE = node("ConstantOfShape", ["shape"], ["huge"])
COLUMN, ROW = constant("column", np.ones((1 << 15, 1))), constant("row", np.ones((1, 1 << 15)))
LAST = numbers("last", 0), numbers("end", HUGE), constant("step", 1, np.int64), constant("start", 0, np.int64)
LONG = constant("long", HUGE, np.int64)
HUGE_MODELS = {
    "ConstantOfShape": ([MADE], [SHAPE]),
    "Expand": ([node("Expand", ["one", "shape"], ["view"]), node("Neg", ["view"], ["huge"])], [SHAPE]),
    "Tile": ([node("Tile", ["ones", "shape"], ["huge"])], [SHAPE]),
    "Range": ([node("Range", ["start", "end0", "step"], ["huge"])], [*LAST, constant("end0", HUGE, np.int64)]),
    "Pad": ([node("Pad", ["ones", "pads"], ["huge"])], [numbers("pads", 0, HUGE)]),
    "Resize": ([node("Resize", ["row", "", "scales"], ["huge"])], [constant("scales", [1 << 15, 1]), ROW]),
    "Add": ([node("Add", ["column", "row"], ["huge"])], [COLUMN, ROW]),
    "MatMul": ([node("MatMul", ["column", "row"], ["huge"])], [COLUMN, ROW]),
    "OneHot": (
        [node("OneHot", ["indices", "depth", "pair"], ["huge"], axis=0)],
        [numbers("indices", *range(16)), constant("depth", HUGE >> 4, np.int64), constant("pair", [0, 1])],
    ),
    "Concat": (
        [node("ConstantOfShape", ["mebi"], ["c0"])]
        + [node("Concat", [f"c{i}"] * 2, [f"c{i + 1}"], axis=0) for i in range(12)]
        + [node("Identity", ["c12"], ["huge"])],
        [numbers("mebi", 1 << 20)],
    ),
    "chain": (
        [node("ConstantOfShape", ["mebi"], ["c0"])]
        + [node("Neg", [f"c{i}"], [f"c{i + 1}"]) for i in range(400)]
        + [node("Identity", ["c400"], ["huge"])],
        [numbers("mebi", 1 << 20)],
    ),
    "RandomNormal": ([node("RandomNormal", [], ["huge"], shape=[HUGE])], []),
    "Gather": (
        [node("Expand", ["start", "shape"], ["places"]), node("Gather", ["ones", "places"], ["huge"])],
        [*LAST, numbers("shape", 1 << 26)],
    ),
    "antialiased": (
        [node("Resize", ["row", "", "", "sizes"], ["huge"], mode="cubic", antialias=1)],
        [numbers("sizes", 1, 1 << 10), ROW],
    ),
    "HannWindow": ([node("HannWindow", ["size"], ["huge"])], [constant("size", 1 << 25, np.int64)]),
}


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("name", HUGE_MODELS)
def test_small_models_of_huge_constants(name: str, tmp_path: Path) -> None:
    """All constants were computed, and kept, while the model was loaded."""
    nodes, constants = HUGE_MODELS[name]
    nodes = [*nodes, node("ReduceMax", ["huge"], ["most"], keepdims=0), node("Cast", ["most"], ["real"], to=1)]
    # Of what follows, several runs compute the sizes, though the huge constant has left no memory.
    nodes += [node("Shape", ["x"], ["size"]), node("Concat", ["few", "size"], ["sizes"], axis=0),
              node("Cast", ["sizes"], ["small"], to=TensorProto.INT32), node("Gather", ["x", "ends"], ["both"]),
              node("Add", ["x", "real"], ["y"]), node("Expand", ["y", "sizes"], ["z"])]  # fmt: skip
    constants = [*constants, constant("one", 1), constant("ones", [1]), numbers("few", 3), numbers("ends", 0, -1)]
    made = model(nodes, [value("x", ["w"])], ["z", "small", "both"], constants)
    flow.reset_peak_memory_stats("cpu")
    before = flow.memory_stats("cpu")["in_use"]
    if name == "HannWindow":
        text = "load: node 'huge' (HannWindow, opset 18): it needs a table of numbers that is too large for this model"
        raises(flow.Unsupported, text, lambda: load(made, tmp_path))
    else:
        assert [each.shape for each in load(made, tmp_path).outputs] == [("3", "w"), ("2",), ("2",)]
    assert flow.memory_stats("cpu")["peak_in_use"] - before < 256 * MIB


@pytest.mark.usefixtures("_little_memory")
def test_lists_of_sizes_are_short(tmp_path: Path) -> None:
    nodes = [node("Expand", ["one", "shape"], ["sizes"]), node("Reshape", ["x", "sizes"], ["y"])]
    made = model(nodes, [X], ["y"], [constant("one", 1, np.int64), numbers("shape", HUGE)])
    text = "load: node 'y' (Reshape, opset 18): 'sizes' has 4294967296 numbers, which are too many for sizes or axes"
    raises(flow.InvalidArgument, text, lambda: load(made, tmp_path))


def nested(depth: int) -> list[onnx.NodeProto]:
    """Returns loops in loops, the innermost of which has a body without nodes."""
    nodes: list[onnx.NodeProto] = []
    for _ in range(depth):
        inputs = [value("i", [], TensorProto.INT64), value("on", [], TensorProto.BOOL)]
        nodes = [node("Loop", ["many", "yes"], [], body=graph(nodes, inputs, ["on"]))]
    return nodes


def test_loops_in_loops(tmp_path: Path) -> None:
    """Steps without nodes were not counted."""
    constants = [constant("many", 30000, np.int64), constant("yes", True, np.bool_)]
    made = model([*nested(5), node("Neg", ["x"], ["y"])], [X], ["y"], constants)
    text = "load: the model has more than 250000 nodes when its functions are expanded and its loops unrolled"
    raises(flow.Unsupported, text, lambda: load(made, tmp_path))


def test_many_constants_get_names_of_their_own(tmp_path: Path) -> None:
    """They are numbered: see `FreeNames`."""
    inputs = [value("i", [], TensorProto.INT64), value("on", [], TensorProto.BOOL), value("n", [])]
    body = graph([node("Cast", ["i"], ["real"], to=1), node("Add", ["n", "real"], ["next"])], inputs, ["on", "next"])
    made = model([node("Loop", ["many", "", "x"], ["y"], body=body)], [X], ["y"], [constant("many", 1500, np.int64)])
    found = load(made, tmp_path)
    assert len(found.constants) == 1500
    assert found(flow.zeros(1)).item() == 1500 * 1499 / 2


def test_only_near_names_are_suggested(tmp_path: Path) -> None:
    nodes = [node("Reluu", ["x"], ["a"]), node("Zzzzzz", ["a"], ["b"]), node("Gelu", ["b"], ["y"])]
    text = (
        "load: operators that cannot be loaded: node 'a' (Reluu, opset 18), of which the nearest is Relu; "
        "node 'b' (Zzzzzz, opset 18); node 'y' (Gelu, opset 18), which is an operator of opset 20 and later ones"
    )
    raises(flow.Unsupported, text, lambda: load(model(nodes, [X], ["y"]), tmp_path))


def special(path: Path, kind: str) -> None:
    """Makes a file that is not a regular one."""
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as found:
            found.bind(str(path))


WHY = {"fifo": "it is not a regular file", "folder": "Is a directory", "device": "it is not a regular file",
       "socket": "No such device or address"}  # fmt: skip


def test_texts_of_files_are_cut_and_escaped(tmp_path: Path) -> None:
    with pytest.raises(flow.FileError, match=r"^load: cannot read '/a{79}…': "):
        flow.onnx.load("/" + "a" * 1000)
    unknown = node("No\nsuch", ["x"], ["y"], name="b" * 1000)
    with pytest.raises(flow.Unsupported, match=r"node 'b{80}…' \(No\\x0asuch, opset \d+\)"):
        load(model([unknown], [X], ["y"]), tmp_path)


def test_names_and_operands_that_occur_twice(tmp_path: Path) -> None:
    relu = node("Relu", ["x"], ["y"])
    texts = {
        "load: the model has two inputs 'x'": model([relu], [X, X], ["y"]),
        "load: the model has two outputs 'y'": model([relu], [X], ["y", "y"]),
        "load: node 'y' (Relu, opset 18): relu: takes at most 1 argument, got 2":
            model([node("Relu", ["x", "x"], ["y"])], [X], ["y"]),
    }  # fmt: skip
    for text, made in texts.items():
        raises(flow.InvalidArgument, text, lambda made=made: load(made, tmp_path))


@pytest.mark.parametrize("kind", WHY)
def test_files_that_are_not_regular(kind: str, tmp_path: Path) -> None:
    """A pipe blocked until somebody wrote to it."""
    path = tmp_path / "a"
    special(path, kind)
    raises(flow.FileError, f"load: cannot read '{path}': {WHY[kind]}", lambda: flow.onnx.load(path))
    loads = [lambda: flow.graph.load(path), *(lambda end=end: flow.load(link(path, end)) for end in ("npz", "npy"))]
    for each in loads:
        with pytest.raises(flow.FileError):
            each()
    if kind == "device":
        return
    external = in_file("a", 0, 24)
    (tmp_path / "model.onnx").write_bytes(external.SerializeToString())
    raises(flow.FileError, f"load: cannot read '{path}': {WHY[kind]}", lambda: flow.onnx.load(tmp_path / "model.onnx"))


def link(path: Path, end: str) -> Path:
    found = path.with_suffix(f".{end}")
    found.symlink_to(path)
    return found


def test_external_data_stays_in_the_folder(tmp_path: Path) -> None:
    """A link could lead to any file of the system."""
    (tmp_path / "secret").write_bytes(np.arange(6, dtype=np.float32).tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    made = in_file("weights", 0, 24)
    (folder / "weights").symlink_to(tmp_path / "secret")
    text = "load: external data must be inside the model's folder, but 'weights' is a link that leads out of it"
    raises(flow.InvalidArgument, text, lambda: load(made, folder))
    (folder / "within").symlink_to(tmp_path)
    text = "load: external data must be inside the model's folder, but 'within/secret' is a link that leads out of it"
    raises(flow.InvalidArgument, text, lambda: load(in_file("within/secret", 0, 24), folder))
    (folder / "own").write_bytes((tmp_path / "secret").read_bytes())
    (folder / "weights").unlink()
    (folder / "weights").symlink_to("own")
    assert load(made, folder)(flow.ones(1, 3)).tolist() == [[6.5, 0]]


def test_a_model_and_its_data_can_be_links_to_one_folder(tmp_path: Path) -> None:
    """Caches of downloads keep all files in one folder, and link to them under their names."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "named").mkdir()
    (tmp_path / "blobs" / "1").write_bytes(in_file("weights", 0, 24).SerializeToString())
    (tmp_path / "blobs" / "2").write_bytes(np.arange(6, dtype=np.float32).tobytes())
    for name, blob in (("model.onnx", "1"), ("weights", "2")):
        (tmp_path / "named" / name).symlink_to(Path("..") / "blobs" / blob)
    assert flow.onnx.load(tmp_path / "named" / "model.onnx")(flow.ones(1, 3)).tolist() == [[6.5, 0]]
