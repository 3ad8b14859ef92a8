"""Tests that the guide to libraries of operators shows records of the example, and that its programs print what their
comments say."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.operator_library import build_library

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
GUIDE = (ROOT / "docs" / "guides" / "add-a-library-of-operators.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
COMMANDS = {
    "python": [str(ROOT / ".venv" / "bin" / "python"), "-c"],
    "javascript": ["node", "-e"],
    "ruby": ["ruby", f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}", "-e"],
}
# On the CPU and on a device whose kernels come as sources, compared with each other.
DEVICES = """
import oneflow_py as flow
my_ops = flow.load_library("my_ops.so")
x = flow.randn(33, 20)
for function in (
    lambda x: my_ops.double_add(x, 3), my_ops.bump, lambda x: my_ops.power_sum(x, 1), lambda x: my_ops.power_sum(x),
    lambda x: my_ops.row_products(x, x), lambda x: my_ops.rms_norm(x, x[0]), lambda x: my_ops.running_total(x, 0),
    lambda x: my_ops.turned_around(x, 1), my_ops.last_swapped, lambda x: my_ops.squares([5, 5], device=x.device),
):
    there = function(x.to("opencl"))
    assert there.device == "opencl:0"
    assert there.to("cpu").allclose(function(x), atol=1e-4)
assert flow.fallbacks() == {}, flow.fallbacks()
"""


def block(language: str) -> str:
    return next(text for name, text in BLOCKS if name == language)


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "NODE_PATH": str(BUILD / "node_modules"), "LD_LIBRARY_PATH": str(BUILD / "lib")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder() -> Path:
    """Returns the folder of the library, in which the programs run."""
    return build_library().parent


def test_the_guide_shows_records_of_the_example() -> None:
    shown = re.findall(r"^`(examples/[\w/.]+)`:\n\n```yaml\n(.*?)```$", GUIDE, re.DOTALL | re.MULTILINE)
    assert len(shown) == 2
    for name, text in shown:
        assert text.rstrip() in (ROOT / name).read_text()


@pytest.mark.parametrize("language", COMMANDS)
def test_programs_print_their_comments(folder: Path, language: str) -> None:
    program = block(language)
    printed = re.findall(r"(?:print|puts|p |console\.log).*(?:#|//) (.*)\n", program)
    assert run([*COMMANDS[language], program], folder).splitlines() == printed


def test_a_program_in_c(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(block("c"))
    headers = [f"-I{ROOT / 'runtime' / 'include'}", f"-I{ROOT / 'runtime' / 'generated' / 'include'}"]
    program = str(tmp_path / "program")
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    run(["cc", *strict, *headers, str(source), f"-L{BUILD / 'lib'}", "-loneflow", "-o", program], tmp_path)
    assert run([program], folder) == re.findall(r"/\* (.*) \*/", source.read_text())[0] + "\n"


def test_types_in_python(folder: Path, tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(block("py") + "reveal_type(my_ops.double_add([1.0], 2))\nmy_ops.double_add()\n")
    command = [str(ROOT / ".venv" / "bin" / "python"), "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    paths = f"{folder}:{BUILD / 'python'}"
    environment = {**os.environ, "MYPYPATH": paths}
    done = subprocess.run([*command, str(sample)], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert 'Revealed type is "oneflow_py.Tensor"' in done.stdout
    assert 'Missing positional arguments "input", "other"' in done.stdout
    assert "Found 1 error" in done.stdout


def test_kernels_that_come_as_sources(folder: Path) -> None:
    run([*COMMANDS["python"], DEVICES], folder)
