"""Loads the graph files of each release, which every later version must read, and compares what they compute.

tools/graph_fixtures.py has written them: tests/data/graphs/<version>/<family>.flow, with inputs and outputs beside it.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

import oneflow_py as flow
from tests.python.support import raises

GRAPHS = Path(__file__).parents[1] / "data" / "graphs"
FILES = sorted(GRAPHS.glob("*/*.flow"))
# Functions such as exp differ in their last digits between instruction sets.
TOLERANCES = {flow.float16: 1e-2, flow.bfloat16: 1e-2}


def numbered(values: dict[str, flow.Tensor], what: str) -> list[flow.Tensor]:
    return [values[f"{what}.{i}"] for i in range(sum(name.startswith(f"{what}.") for name in values))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_graph_of_a_release(path: Path) -> None:
    graph = flow.graph.load(path, verify=True)
    values = flow.load(path.with_suffix(".safetensors"), flat=True)
    results = graph(*numbered(values, "input"), generator=flow.Generator().manual_seed(0))
    expected = numbered(values, "output")
    assert len(results) == len(expected)
    for i, (found, wanted) in enumerate(zip(results, expected, strict=True)):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), i
        tolerance = TOLERANCES.get(wanted.dtype, 1e-4)
        assert flow.allclose(found, wanted, rtol=tolerance, atol=tolerance / 10, equal_nan=True), i


def test_each_release_has_graphs() -> None:
    assert {path.parent.name for path in FILES} >= {"0.1.0"}


def edited(graph: flow.graph.Graph, path: Path, old: str, new: str, version: str) -> Path:
    """Saves a graph, as if a version of the library had written another text; the checksum is right."""
    graph.save(path)
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    metadata = header["__metadata__"]
    assert metadata["oneflow.version"] == flow.__version__
    assert old in metadata["oneflow.graph"]
    text = metadata["oneflow.graph"].replace(old, new)
    metadata |= {
        "oneflow.graph": text,
        "oneflow.graph.crc32": f"{zlib.crc32((text + version).encode()):08x}",
        "oneflow.version": version,
    }
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + data[8 + size :])
    return path


LATER = "; oneflow 99.1.0 wrote the file, and this is version " + flow.__version__


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("graph 1", "graph 2", "it is not a graph of version 1"),
        ("relu", "rely", "line 2 of the graph: this library has no operator 'rely'"),
        (
            "relu(Tensor input)",
            "relu(Tensor input, float top=6.0)",
            "line 2 of the graph: operator 'relu' has another signature here: relu(Tensor input) -> Tensor",
        ),
    ],
)
def test_a_graph_of_a_later_version_is_an_error_that_says_so(tmp_path: Path, old: str, new: str, says: str) -> None:
    graph = flow.graph.capture(lambda x: x.relu(), flow.ones(2))
    path = edited(graph, tmp_path / "later.flow", old, new, "99.1.0")
    raises(flow.InvalidArgument, f"load: {says}{LATER}", lambda: flow.graph.load(path))
    for version in (flow.__version__, "0.0.9", "unknown", ""):
        edited(graph, path, old, new, version)
        raises(flow.InvalidArgument, f"load: {says}", lambda: flow.graph.load(path))


def test_a_graph_of_a_later_version_that_is_known_loads(tmp_path: Path) -> None:
    graph = flow.graph.capture(lambda x: x.relu(), flow.ones(2))
    path = edited(graph, tmp_path / "later.flow", "relu", "relu", "99.1.0")
    assert flow.graph.load(path)(flow.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
