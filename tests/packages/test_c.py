"""Unpacks the tarballs for C in a bare root with an older libc, and compiles and runs a program in each offered way."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packages.languages import BOOKWORM, BULLSEYE
from tests.packages.roots import REPOSITORY, Recipe, Root, cached, layered

TOOLS = ("g++", "make", "cmake", "pkg-config")
OLDER = Recipe("c-older", "bullseye", TOOLS, parent=BULLSEYE)
NEWER = Recipe("c", "bookworm", TOOLS, parent=BOOKWORM)
# The static library needs the C++ library of GCC 12 or later.
WAYS = [(OLDER, "oneflow", "oneflow::oneflow"), (NEWER, "oneflow-static", "oneflow::static")]
PREFIX = "/root/oneflow"
# The example, and the first line that it prints.
SOURCE = REPOSITORY / "examples/c/regression.c"
PRINTED = "slope 2.000, offset 1.000"

CMAKE = """cmake_minimum_required(VERSION 3.18)
project(example LANGUAGES C CXX)
find_package(oneflow {version} REQUIRED)
add_executable(example regression.c)
target_link_libraries(example PRIVATE {target})
"""


@pytest.fixture(params=WAYS, ids=lambda way: way[1])
def way(request: pytest.FixtureRequest, dist: Path) -> Iterator[tuple[Root, str, str]]:
    """Returns a root in which the tarballs are unpacked over each other, and the library's names in the two ways."""
    recipe, package, target = request.param
    with layered(cached(recipe)) as folder:
        root = Root(folder)
        root.path(PREFIX).mkdir()
        for tarball in sorted((dist / "c").iterdir()):
            subprocess.run(["tar", "-xf", tarball, "--strip-components=1", "-C", root.path(PREFIX)], check=True)
        shutil.copy(SOURCE, root.path("/root"))
        yield root, package, target


def test_compile_and_run(way: tuple[Root, str, str], version: str) -> None:
    root, package, target = way
    flags = f"$(PKG_CONFIG_PATH={PREFIX}/lib/pkgconfig pkg-config --cflags --libs {package})"
    root.run(f"cc -O2 {SOURCE.name} -o example {flags} -Wl,-rpath,{PREFIX}/lib")
    assert root.run("./example").output.splitlines()[0] == PRINTED

    root.write("/root/CMakeLists.txt", CMAKE.format(version=version, target=target))
    root.run(f"cmake -S . -B made -DCMAKE_PREFIX_PATH={PREFIX} && cmake --build made")
    assert root.run("made/example").output.splitlines()[0] == PRINTED
