"""Tests that no front end, template, definition or floor of the runtime contains the name of a device.

Devices are folders and plugins. Comments, documentation and data (the examples and cases of definitions) may name
them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# A device is a folder with the sources of a plugin, and the accelerator of the tests. `grid` and `shared` have none.
ROOMS = (ROOT / "runtime" / "devices").iterdir()
DEVICES = {room.name for room in ROOMS if any(room.rglob("plugin.cpp"))} | {"accel"}
NAME = re.compile(rf"(?<![a-z])({'|'.join(sorted(DEVICES))})(?![a-z])", re.IGNORECASE)

FOLDERS = ("bindings/*/src", "bindings/*/lib", "bindings/*/ext", "bindings/*/oneflow_py", "codegen")
FLOORS = ("base", "device", "tensor", "dispatch", "ops", "einsum", "parallel", "capi")
CODE = {".py", ".cpp", ".h", ".js", ".mjs", ".ts", ".rb", ".j2"}
# The folder of a target may name its device.
TARGETS = {ROOT / "codegen" / "targets" / name for name in DEVICES}

# The method by which users of PyTorch copy a tensor to the host, in declarations.
DECLARED = re.compile(r"\bcpu\((self)?\)")
COMMENTS = re.compile(r'/\*.*?\*/|""".*?"""|\{#.*?#\}|//[^\n]*|#(?!include|define|if|el|end|undef)[^\n]*', re.DOTALL)


def sources() -> list[Path]:
    folders = [folder for pattern in FOLDERS for folder in ROOT.glob(pattern)]
    folders += [ROOT / "runtime" / floor for floor in FLOORS]
    files = {path for folder in folders for path in folder.rglob("*") if path.suffix in CODE}
    return sorted(p for p in files if not TARGETS & set(p.parents) and not {"generated", "node_modules"} & set(p.parts))


def names_in(text: str) -> list[str]:
    return [match.group() for match in NAME.finditer(text)]


def test_devices_and_sources_are_found() -> None:
    assert {"cpu", "cuda", "opencl"} <= DEVICES
    assert len(sources()) > 200


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_code_names_no_device(path: Path) -> None:
    assert not names_in(DECLARED.sub("", COMMENTS.sub("", path.read_text(encoding="utf-8"))))


def without_data(record: dict[str, Any]) -> dict[str, Any]:
    documents = {"summary", "description"}
    data = {"examples", "cases", "errors", "oracle"}
    return {key: value for key, value in record.items() if key not in documents | data}


@pytest.mark.parametrize("path", sorted((ROOT / "opdefs").glob("*.yaml")), ids=lambda path: path.stem)
def test_definitions_name_no_device(path: Path) -> None:
    for record in yaml.safe_load(path.read_text(encoding="utf-8")):
        assert not names_in(repr(without_data(record))), record["op"]


def test_names_are_matched_as_words() -> None:
    assert names_in('if (type == "cuda")') == ["cuda"]
    assert not names_in("a scuba diver, accelerate")
