"""Tests examples/ocr: the models against ONNX Runtime, and the text that the programs of all languages read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import oneflow_py as flow
from tests.models.support import ROOT, agrees_with_runtime, package_folder

MODELS = package_folder("rapidocr_onnxruntime") / "models"
EXAMPLE = ROOT / "examples" / "ocr"
PICTURE = EXAMPLE / "page.pbm"
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
TEXT = """\
27,30 327,60 Invoice 2026-0417
26,92 300,122 3 tensors, 12 kernels
27,152 263,179 Total: 128.50 EUR
156,209 417,239 printed upside down
"""


def run(*command: object, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the converted models."""
    folder = tmp_path_factory.mktemp("graphs")
    run(sys.executable, EXAMPLE / "convert.py", MODELS, folder)
    return folder


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the program in C++, which is linked with liboneflow alone."""
    path = tmp_path_factory.mktemp("program") / "ocr"
    includes = [f"-I{ROOT / 'runtime' / part / 'include'}" for part in (".", "generated")]
    run("c++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", *includes, EXAMPLE / "ocr.cpp",
        f"-L{BUILD / 'lib'}", "-loneflow", "-o", path)  # fmt: skip
    return path


@pytest.mark.parametrize(
    ("name", "file", "shape"),
    [
        ("detector", "ch_PP-OCRv4_det_infer.onnx", (1, 3, 256, 448)),
        ("turner", "ch_ppocr_mobile_v2.0_cls_infer.onnx", (3, 3, 48, 192)),
        ("reader", "ch_PP-OCRv4_rec_infer.onnx", (2, 3, 48, 330)),
    ],
)
def test_models_agree_with_onnx_runtime(graphs: Path, name: str, file: str, shape: tuple[int, ...]) -> None:
    graph = flow.graph.load(graphs / f"{name}.flow")
    noise = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    for x in (noise, np.tanh(3 * noise), np.zeros_like(noise)):
        agrees_with_runtime(graph, MODELS / file, {"x": x})


def test_python_reads_the_text(graphs: Path) -> None:
    assert run(sys.executable, EXAMPLE / "ocr.py", graphs, PICTURE) == TEXT


def test_javascript_reads_the_text(graphs: Path) -> None:
    assert run("node", EXAMPLE / "ocr.js", graphs, PICTURE, NODE_PATH=str(BUILD / "node_modules")) == TEXT


def test_ruby_reads_the_text(graphs: Path) -> None:
    library = ROOT / "bindings" / "ruby" / "lib"
    assert run("ruby", f"-I{library}", EXAMPLE / "ocr.rb", graphs, PICTURE) == TEXT


def test_cpp_reads_the_text(graphs: Path, program: Path) -> None:
    assert run(program, graphs, PICTURE, LD_LIBRARY_PATH=str(BUILD / "lib")) == TEXT


def test_cpp_needs_no_interpreter(graphs: Path, program: Path, tmp_path: Path) -> None:
    """Runs the program in a file system with nothing but itself, its libraries, the graphs and the picture."""
    listed = run("ldd", program, LD_LIBRARY_PATH=str(BUILD / "lib"))
    libraries = [Path(word) for word in listed.split() if word.startswith("/")]
    assert not [each for each in libraries if "python" in each.name or "node" in each.name or "ruby" in each.name]
    assert not [each for each in libraries if each.name.startswith("liboneflow_")]
    root = tmp_path / "root"
    loader = next(each for each in libraries if each.name.startswith("ld-linux"))
    for file in libraries:
        target = root / (str(file).lstrip("/") if file == loader else f"lib/{file.name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    for file in (program, PICTURE, *graphs.iterdir()):
        shutil.copy(file, root)
    enter = ["chroot", root] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--root", root]
    if subprocess.run([*map(str, enter), "/ocr"], capture_output=True).returncode != 2:  # the program's usage
        pytest.skip("this system does not allow to change the root folder")
    assert run(*enter, "/ocr", "/", "/page.pbm", LD_LIBRARY_PATH="/lib") == TEXT
