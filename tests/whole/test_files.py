"""Tests that every language reads the files of every other one."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

ROOT = Path(__file__).parents[2]
FORMATS = ["a.safetensors", "a.npz", "deflated.npz"]
EXPECTED = {
    "layers": [{"weight": [[1.5, 1.5], [1.5, 1.5]]}, {"bias": [0, 0, 0]}],
    "a.b": [True, False],
    "ünïcode": [[0, 2], [1, 3]],
    "nothing": [],
    "empty": {},
    "scalar": -7,
}

# The programs take `save PATH` or `print PATH`.
PROGRAMS = {
    "python": (
        [str(ROOT / ".venv/bin/python"), "-c"],
        """
import json, sys
import oneflow_py as flow
if sys.argv[1] == "save":
    data = {"layers": [{"weight": flow.full([2, 2], 1.5)}, {"bias": flow.zeros(3, dtype="int8")}],
            "a.b": flow.tensor([True, False]), "ünïcode": flow.arange(4, dtype="int32").reshape(2, 2).T,
            "nothing": flow.zeros(0), "empty": {}, "scalar": flow.tensor(-7, dtype="int16")}
    flow.save(data, sys.argv[2], metadata={"key": "wért"}, compress=sys.argv[2].startswith("deflated"))
else:
    def plain(x):
        if isinstance(x, flow.Tensor): return x.tolist()
        return {k: plain(v) for k, v in x.items()} if isinstance(x, dict) else [plain(v) for v in x]
    print(json.dumps([plain(flow.load(sys.argv[2])), flow.open_file(sys.argv[2]).metadata]))
""",
    ),
    "javascript": (
        ["node", "-e"],
        """
const flow = require('oneflow-js');
const [, action, path] = process.argv;
if (action === 'save') {
  const data = {layers: [{weight: flow.full([2, 2], 1.5)}, {bias: flow.zeros([3], {dtype: 'int8'})}],
    'a.b': flow.tensor([true, false]), 'ünïcode': flow.arange(4, {dtype: 'int32'}).reshape([2, 2]).t(),
    nothing: flow.zeros([0]), empty: {}, scalar: flow.tensor(-7, {dtype: 'int16'})};
  flow.save(data, path, {metadata: {key: 'wért'}, compress: path.startsWith('deflated')});
} else {
  console.log(JSON.stringify([flow.load(path), flow.openFile(path).metadata]));
}
""",
    ),
    "ruby": (
        ["ruby", f"-I{ROOT / 'bindings/ruby/lib'}", "-e"],
        """
require "json"
require "oneflow"
action, path = ARGV
if action == "save"
  data = { layers: [{ weight: OneFlow.full([2, 2], 1.5) }, { bias: OneFlow.zeros(3, dtype: :int8) }],
           "a.b": OneFlow.tensor([true, false]), "ünïcode": OneFlow.arange(4, dtype: :int32).reshape(2, 2).t,
           nothing: OneFlow.zeros(0), empty: {}, scalar: OneFlow.tensor(-7, dtype: :int16) }
  OneFlow.save(data, path, metadata: { key: "wért" }, compress: path.start_with?("deflated"))
else
  puts [OneFlow.load(path), OneFlow.open_file(path).metadata].to_json
end
""",
    ),
}


def run(language: str, action: str, path: str, folder: Path) -> str:
    command, program = PROGRAMS[language]
    environment = {**os.environ, "NODE_PATH": str(ROOT / "build" / "node_modules"), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [*command, program, action, path], capture_output=True, text=True, env=environment, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Returns a folder per language, with a file of each format that it has written."""
    made = {language: tmp_path_factory.mktemp(language) for language in PROGRAMS}
    for language, path in itertools.product(PROGRAMS, FORMATS):
        run(language, "save", path, made[language])
    return made


@pytest.mark.parametrize("path", FORMATS)
@pytest.mark.parametrize(("writer", "reader"), list(itertools.product(PROGRAMS, PROGRAMS)))
def test_files_of_each_other(writer: str, reader: str, path: str, folders: dict[str, Path]) -> None:
    data, metadata = json.loads(run(reader, "print", path, folders[writer]))
    assert data == EXPECTED
    assert list(data) == list(EXPECTED)
    assert metadata == {"key": "wért"}


@pytest.mark.parametrize("path", FORMATS)
def test_files_are_the_same_in_all_languages(path: str, folders: dict[str, Path]) -> None:
    assert len({(folder / path).read_bytes() for folder in folders.values()}) == 1


@pytest.mark.parametrize("language", PROGRAMS)
def test_other_packages_read_them(language: str, folders: dict[str, Path]) -> None:
    names = ["layers.0.weight", "layers.1.bias", "a.b", "ünïcode", "nothing", "scalar"]
    found = safetensors.numpy.load_file(folders[language] / "a.safetensors")
    assert sorted(found) == sorted(names)
    for path in FORMATS[1:]:
        with np.load(folders[language] / path) as arrays:
            assert arrays.files == [*names, "__metadata__", "__structure__"]
            for name in names:
                assert arrays[name].dtype == found[name].dtype
                assert arrays[name].tolist() == found[name].tolist()
