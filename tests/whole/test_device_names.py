"""No front end, template, definition or floor of the runtime knows a device by name: devices are folders and plugins.

Comments and documentation may speak of them, and so may data: the examples and cases of the definitions.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# A device is a folder with sources of a plugin; `grid` is what two of them share. The last one is that of the tests.
DEVICES = {path.parent.name for path in (ROOT / "runtime" / "devices").glob("*/plugin.cpp")} | {"accel"}
NAME = re.compile(rf"(?<![a-z])({'|'.join(sorted(DEVICES))})(?![a-z])", re.IGNORECASE)

PLACES = ("bindings/*/src", "bindings/*/lib", "bindings/*/ext", "bindings/*/oneflow_py", "codegen")
FLOORS = ("base", "device", "tensor", "dispatch", "ops", "einsum", "parallel", "capi")
CODE = {".py", ".cpp", ".h", ".js", ".mjs", ".ts", ".rb", ".j2"}
# A target's own folder is where its device may be named.
OWN = {ROOT / "codegen" / "languages" / name for name in DEVICES}

COMMENTS = re.compile(r'/\*.*?\*/|""".*?"""|\{#.*?#\}|//[^\n]*|#(?!include|define|if|el|end|undef)[^\n]*', re.DOTALL)


def sources() -> list[Path]:
    folders = [folder for place in PLACES for folder in ROOT.glob(place)]
    folders += [ROOT / "runtime" / floor for floor in FLOORS]
    files = {path for folder in folders for path in folder.rglob("*") if path.suffix in CODE}
    return sorted(p for p in files if not OWN & set(p.parents) and not {"generated", "node_modules"} & set(p.parts))


def names_in(text: str) -> list[str]:
    return [match.group() for match in NAME.finditer(text)]


def test_there_are_devices_and_sources() -> None:
    assert {"cpu", "cuda", "opencl"} <= DEVICES
    assert len(sources()) > 200


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_code_names_no_device(path: Path) -> None:
    assert not names_in(COMMENTS.sub("", path.read_text(encoding="utf-8")))


def without_data(record: dict[str, Any]) -> dict[str, Any]:
    documents = {"summary", "description"}
    data = {"examples", "cases", "errors", "oracle"}
    return {key: value for key, value in record.items() if key not in documents | data}


@pytest.mark.parametrize("path", sorted((ROOT / "opdefs").glob("*.yaml")), ids=lambda path: path.stem)
def test_definitions_name_no_device(path: Path) -> None:
    for record in yaml.safe_load(path.read_text(encoding="utf-8")):
        assert not names_in(repr(without_data(record))), record["op"]


def test_the_rule_finds_what_it_forbids() -> None:
    assert names_in('if (type == "cuda")') == ["cuda"]
    assert not names_in("a scuba diver, accelerate")
