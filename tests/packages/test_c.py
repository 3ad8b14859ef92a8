"""Unpacks the tarball for C in a bare root with an older libc, and compiles and runs a program in each way it offers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packages.languages import BULLSEYE
from tests.packages.report import Report
from tests.packages.roots import REPOSITORY, Recipe, Root, cached, layered

RECIPE = Recipe("c", "bullseye", packages=("g++", "make", "cmake", "pkg-config"), parent=BULLSEYE)
PREFIX = "/root/oneflow"
SOURCE = REPOSITORY / "tests/packages/program.c"

CMAKE = """cmake_minimum_required(VERSION 3.18)
project(program LANGUAGES C)
find_package(oneflow REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE oneflow::oneflow)
"""


@pytest.fixture
def root(dist: Path, report: Report) -> Iterator[Root]:
    """Returns a root with a compiler, in which the tarball is unpacked."""
    (tarball,) = (file for file in (dist / "c").iterdir() if file.name.endswith("-gnu.tar.gz"))
    with layered(cached(RECIPE)) as folder:
        root = Root(folder)
        root.path(PREFIX).mkdir()
        subprocess.run(["tar", "-xf", tarball, "--strip-components=1", "-C", root.path(PREFIX)], check=True)
        shutil.copy(SOURCE, root.path("/root"))
        yield root


def test_pkg_config(root: Root, version: str) -> None:
    flags = "$(pkg-config --cflags --libs oneflow)"
    path = f"PKG_CONFIG_PATH={PREFIX}/lib/pkgconfig"
    root.run(f"export {path} && cc -O2 program.c -o program {flags} -Wl,-rpath,{PREFIX}/lib")
    assert root.run("./program").output == f"{version} 3\n"


def test_cmake(root: Root, version: str) -> None:
    root.write("/root/CMakeLists.txt", CMAKE)
    root.run(f"cmake -S . -B made -DCMAKE_PREFIX_PATH={PREFIX} && cmake --build made")
    assert root.run("made/program").output == f"{version} 3\n"
