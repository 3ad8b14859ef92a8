"""Tests that every binary that packages contain runs on old systems: which symbols and libraries it asks for."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAYLOAD = Path(os.environ.get("OF_BUILD", ROOT / "build")) / "payload"

# The newest symbol versions of manylinux_2_28, and of OpenCL loaders. The C++ library is part of each binary.
NEWEST = {"GLIBC": (2, 28), "GCC": (8,), "OPENCL": (2, 0)}
# The libraries of every system with glibc, our own, and those that a device plugin cannot do without.
LIBRARIES = re.compile(
    r"(libc|libm|libgcc_s|libpthread|libdl|librt|ld-linux-[\w-]+|liboneflow)\.so\.\d+"
    r"|libOpenCL\.so\.1"
)
BINARIES = sorted(path for path in PAYLOAD.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF")


def readelf(option: str, path: Path) -> str:
    return subprocess.run(["readelf", "-W", option, path], check=True, capture_output=True, text=True).stdout


def test_there_is_a_payload() -> None:
    assert {"liboneflow.so.0", "liboneflow_draw.so", "liboneflow_onnx.so", "oneflow-probe", "oneflow-run"} <= {
        path.name for path in BINARIES
    }


@pytest.mark.parametrize("path", BINARIES, ids=lambda path: str(path.relative_to(PAYLOAD)))
class TestBinary:
    def test_no_symbol_is_newer_than_the_floor(self, path: Path) -> None:
        needed = re.findall(r"Name: (\w+?)_([\d.]+) ", readelf("--version-info", path))
        assert needed
        for library, version in needed:
            assert tuple(map(int, version.split("."))) <= NEWEST[library], f"{library}_{version}"

    def test_all_libraries_are_everywhere(self, path: Path) -> None:
        needed = re.findall(r"\(NEEDED\) .*\[(.+)\]", readelf("--dynamic", path))
        assert [name for name in needed if not LIBRARIES.fullmatch(name)] == []

    def test_only_the_interface_is_public(self, path: Path) -> None:
        """Symbols of the C++ library in a binary must not take the place of those of another."""
        public = re.findall(r" (?:GLOBAL|WEAK|UNIQUE) +DEFAULT +\d+ ([\w.]+)", readelf("--dyn-syms", path))
        assert [name for name in public if name.startswith("_Z")] == []

    def test_nothing_else_is_inside(self, path: Path) -> None:
        sections = readelf("--section-headers", path)
        assert ".debug_" not in sections
        assert ".symtab" not in sections
        run_paths = re.findall(r"\((?:RPATH|RUNPATH)\) .*\[(.+)\]", readelf("--dynamic", path))
        assert all(each.startswith("$ORIGIN") for each in ":".join(run_paths).split(":") if each)
