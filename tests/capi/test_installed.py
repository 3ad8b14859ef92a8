"""Tests that the files that `cmake --install` installs suffice to build and run programs in C and C++."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
EXAMPLES = ROOT / "examples"


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment})
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", BUILD, "--prefix", path)
    return path


@pytest.fixture(scope="module")
def library_folder(prefix: Path) -> Path:
    return next(prefix.rglob("liboneflow.so")).parent


def test_c_example_builds_with_pkg_config(prefix: Path, library_folder: Path, tmp_path: Path) -> None:
    paths = {"PKG_CONFIG_PATH": str(library_folder / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "oneflow", **paths).split()
    program = tmp_path / "regression"
    source = EXAMPLES / "c" / "regression.c"
    run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, *flags, "-o", program)
    assert run(program, LD_LIBRARY_PATH=str(library_folder)).splitlines() == [
        "slope 2.000, offset 1.000",
        "ShapeError: matmul: input of shape [4, 2] and other of shape [4, 2] do not fit: sizes 2 and 4 are contracted",
    ]


def test_cpp_example_builds_with_cmake(prefix: Path, tmp_path: Path) -> None:
    run("cmake", "-S", EXAMPLES / "cpp", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")  # fmt: skip
    run("cmake", "--build", tmp_path)
    lines = run(tmp_path / "attention").splitlines()
    assert lines[0] == "furthest from 1: less than 0.00001"
    assert lines[1:-3] == ["tensor([[[[3., 4.],", "          [5., 6.]]]], dtype=float32)"]
    assert lines[-3:] == [
        "einsum: label 'd' is 16 in operand 0 and 3 in operand 1",
        "  bhqd,bhkd->bhqk",
        "          ^",  # the d of the second operand
    ]


def test_device_plugin_builds_out_of_tree(prefix: Path, library_folder: Path, tmp_path: Path) -> None:
    """Runs the commands of docs/guides/add-a-device.md: the library must load a plugin built with the headers only."""
    run("cmake", "-S", ROOT / "tests" / "accelerator", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")  # fmt: skip
    run("cmake", "--build", tmp_path)
    program = f"""
import ctypes
library = ctypes.CDLL({str(library_folder / "liboneflow.so")!r})
library.of_last_error.restype = ctypes.c_char_p
device = ctypes.c_int32()
assert library.of_load_device({str(tmp_path / "accel.so")!r}.encode()) == 0, library.of_last_error()
assert library.of_device_parse(b"accel:1", ctypes.byref(device)) == 0, library.of_last_error()
"""
    run(sys.executable, "-c", program, ONEFLOW_DEVICE_PATH="")  # without the plugin of the tests


def test_onnx_models_load(prefix: Path, library_folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "load"
    source = tmp_path / "load.cpp"
    source.write_text(
        "#include <cstdio>\n#include <oneflow/onnx.hpp>\n"
        "int main(int, char** paths) { std::puts(oneflow::load_onnx(paths[1]).text().c_str()); }\n"
    )
    run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{prefix / 'include'}", source, f"-L{library_folder}",
        "-loneflow", "-o", program)  # fmt: skip
    text = run(program, ROOT / "tests" / "data" / "onnx" / "layer.onnx", LD_LIBRARY_PATH=str(library_folder))
    assert 'input %0 "x": float32[batch, 3]' in text.splitlines()


# Parts of oneflow.hpp, which includes them.
PARTS = {"class_methods.hpp", "classes.hpp", "operators.hpp", "tensor_methods.hpp"}


def test_each_header_compiles_alone(prefix: Path, tmp_path: Path) -> None:
    """Compiles each installed header separately, C headers as C and as C++."""
    for header in sorted((prefix / "include" / "oneflow").iterdir()):
        languages = ["c++"] if header.suffix == ".hpp" else ["c", "c++"]
        if header.name in PARTS:
            continue
        for language in languages:
            source = tmp_path / f"{header.name}.{'c' if language == 'c' else 'cpp'}"
            source.write_text(f"#include <oneflow/{header.name}>\n")
            standard = "-std=c11" if language == "c" else "-std=c++20"
            run("c++" if language == "c++" else "cc", standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                f"-I{prefix / 'include'}", source)  # fmt: skip
