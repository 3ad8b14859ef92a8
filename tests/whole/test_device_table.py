"""Tests docs/devices.md: its table matches the definitions, and each plugin has every kernel in the table."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
PLUGINS = sorted((BUILD / "lib" / "oneflow_devices").glob("*.so"))
sys.path.insert(0, str(ROOT / "tools"))

import device_table  # noqa: E402

DEFINITIONS = device_table.definitions()


def dtype_numbers() -> dict[str, int]:
    text = (ROOT / "runtime/include/oneflow/types.h").read_text()
    found = re.findall(r"^\s*OF_([A-Z0-9]+) = (\d+),", text, re.MULTILINE)
    return {name.lower(): int(number) for name, number in found}


def test_page_is_up_to_date() -> None:
    text = device_table.PAGE.read_text()
    assert text == device_table.page(text, DEFINITIONS), "docs/devices.md is not up to date: run `make docs`"


def test_table_lists_kernels_that_do_not_exist_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_table, "devices", lambda found: [*known, device_table.Device("other", frozenset())])
    table = device_table.table(DEFINITIONS)
    assert "- `sort` on `other`: its hand-written kernel does not exist yet" in table
    (row,) = [line for line in table.splitlines() if line.startswith("| `other` |")]
    assert int(row.split("|")[-2]) == len(known[0].by_hand)


known = device_table.devices(DEFINITIONS)


@pytest.fixture(scope="module")
def query_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("query") / "ask_kernels"
    source = Path(__file__).with_name("ask_kernels.c")
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-I", ROOT / "runtime/include", source, "-o", program, "-ldl"]
    subprocess.run(command, check=True)
    return program


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.stem)
def test_plugin_has_every_kernel_of_the_table(plugin: Path, query_program: Path) -> None:
    numbers = dtype_numbers()
    rows = [row[1:] for row in device_table.promised(DEFINITIONS) if row[0] == plugin.stem]
    if not rows:
        pytest.skip(f"{plugin.name} is not a backend of this repository")
    lines = [f"{name} {schema} {numbers[compute or 'float32']}" for name, schema, compute in rows]
    done = subprocess.run([query_program, plugin], input="\n".join(lines), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"queried {len(rows)}"], done.stdout


def test_at_least_one_backend_was_tested() -> None:
    assert {plugin.stem for plugin in PLUGINS} & {device.name for device in known}
