"""Tests the contents of the wheel and of the source package; the wheel must work without a compiler and NumPy."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import oneflow_py as flow

ROOT = Path(__file__).parents[2]
BUILD = Path(flow.__file__).parents[2]

PROGRAM = """
import pickle
import sys
import oneflow_py as flow
x = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()
print(flow.__file__)
print((x @ x).exp().log().round().tolist())
print(flow.onnx.load(sys.argv[1])(flow.ones(1, 3)).tolist())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(ROOT / "bindings" / "python" / "package.py")]
    subprocess.run([*command, "--build", str(BUILD), "--dist", str(dist)], check=True)
    return next(dist.glob("*.whl"))


def test_contents(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "oneflow_py/__init__.py",
        "oneflow_py/__init__.pyi",
        "oneflow_py/py.typed",
        "oneflow_py/LICENSE",
        "oneflow_py/lib/liboneflow.so.0",
        "oneflow_py/lib/liboneflow_onnx.so",
        "oneflow_py/lib/oneflow-probe",
    ):
        assert wanted in names
    assert zipfile.ZipFile(wheel).getinfo("oneflow_py/lib/oneflow-probe").external_attr >> 16 & 0o111 == 0o111
    assert len([name for name in names if "liboneflow.so" in name]) == 1
    plugins = sorted(path.name for path in (BUILD / "lib" / "oneflow_devices").iterdir())
    assert sorted(Path(name).name for name in names if "oneflow_devices/" in name) == plugins
    assert not [name for name in names if name.endswith((".cpp", ".h", ".a"))]


def test_source_package(wheel: Path) -> None:
    source = next(wheel.parent.glob("*.tar.gz"))
    listed = subprocess.run(["tar", "tzf", str(source)], capture_output=True, text=True, check=True).stdout.splitlines()
    names = {name.partition("/")[2] for name in listed}
    for wanted in ("pyproject.toml", "PKG-INFO", "LICENSE", "CMakeLists.txt", "runtime/CMakeLists.txt"):
        assert wanted in names
    assert any(name.startswith("bindings/python/generated/") for name in names)
    assert not [name for name in names if name.endswith(".so") or "__pycache__" in name]


def test_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", str(wheel)]
    subprocess.run(install, check=True)
    program = [str(python), "-c", PROGRAM, str(ROOT / "tests" / "data" / "onnx" / "layer.onnx")]
    done = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path, env={"PATH": ""})
    assert done.returncode == 0, done.stderr
    location, result, from_onnx = done.stdout.splitlines()
    assert location.startswith(str(tmp_path))
    assert result == "[[7.0, 10.0], [15.0, 22.0]]"
    assert from_onnx == "[[9.5, 0.0]]"
