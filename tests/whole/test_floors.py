"""Tests the architecture: each floor of the runtime includes only floors below it, backends include only the plugin
header, and nothing outside the language folders names a language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "runtime"
FLOORS = [
    ["base"],
    ["device"],
    ["tensor"],
    ["dispatch"],
    ["ops", "einsum"],
    ["autograd", "files", "graph", "parallel", "profile"],
    ["library"],
    ["capi"],
    ["objects"],
]
# The rooms of the floor of graphs; `graph` is graph.h with graph.cpp.
ROOMS = [["program"], ["capture", "report"], ["graph"], ["session"], ["passes"]]
HEIGHT = {name: height for height, names in enumerate(FLOORS) for name in names}
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]', re.MULTILINE)


def sources(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in (".h", ".hpp", ".cpp", ".c")]


def included(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text())


@pytest.mark.parametrize("floor", [name for names in FLOORS for name in names if (RUNTIME / name).is_dir()])
def test_floors_include_only_lower_floors(floor: str) -> None:
    wrong = []
    for path in sources(RUNTIME / floor):
        for name in included(path):
            other = name.removeprefix("runtime/").split("/")[0]
            if other in HEIGHT and HEIGHT[other] > HEIGHT[floor]:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong


def test_rooms_of_graphs_include_only_lower_rooms() -> None:
    heights = {name: height for height, names in enumerate(ROOMS) for name in names}
    assert {path.stem for path in (RUNTIME / "graph").iterdir()} == {*heights, "README"}
    wrong = []
    for path in sources(RUNTIME / "graph"):
        room = Path(path.relative_to(RUNTIME / "graph").parts[0]).stem
        for name in included(path):
            floor, *rest = Path(name).with_suffix("").parts
            if floor == "graph" and rest[0] != room and heights[rest[0]] >= heights[room]:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong


def test_backends_include_only_the_plugin_header() -> None:
    wrong = []
    for path in sources(RUNTIME / "devices"):
        for name in included(path):
            first = name.removeprefix("runtime/").split("/")[0]
            if first in HEIGHT or (
                name.startswith("oneflow/") and name not in ("oneflow/device_plugin.h", "oneflow/types.h")
            ):
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong


def test_the_library_uses_no_streams() -> None:
    """Streams would bring the locales of the standard library, a tenth of the whole."""
    streams = {"fstream", "iomanip", "iostream", "istream", "locale", "ostream", "regex", "sstream"}
    wrong = []
    for folder in (*HEIGHT, "devices/cpu"):
        for path in sources(RUNTIME / folder):
            is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
            if not is_test and (found := streams & set(included(path))):
                wrong.append(f"{path.relative_to(ROOT)} includes {', '.join(sorted(found))}")
    assert not wrong


def test_no_language_is_named_outside_its_folders() -> None:
    """Checks the generator, the Makefile and CMakeLists.txt, which must discover languages instead of listing them."""
    names = [path.name for path in (ROOT / "codegen" / "targets").iterdir() if (path / "__init__.py").exists()]
    languages = [name for name in names if (ROOT / "bindings" / name).is_dir()]
    assert len(languages) >= 3
    pattern = re.compile(rf"""["'/]({"|".join(languages)})["'/]""")
    core = [
        path for path in (ROOT / "codegen").rglob("*.py") if "targets" not in path.relative_to(ROOT / "codegen").parts
    ]
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in [*core, ROOT / "Makefile", ROOT / "CMakeLists.txt"]
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line)
    ]
    assert not wrong


def side_libraries() -> list[str]:
    return [path.parent.name for path in RUNTIME.glob("*/CMakeLists.txt") if "add_side_library(" in path.read_text()]


@pytest.mark.parametrize("library", side_libraries())
def test_side_libraries_are_programs_over_the_public_interface(library: str) -> None:
    wrong = []
    for path in [*sources(RUNTIME / library), *sources(RUNTIME / "side")]:
        for name in included(path):
            if name.removeprefix("runtime/").split("/")[0] in HEIGHT:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong
