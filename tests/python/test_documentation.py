"""Checks that every public name has a docstring, and that the stubs match the package."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import oneflow_py as flow
from oneflow_py import _native

SAMPLE = """
import numpy as np
import oneflow_py as flow
from typing_extensions import assert_type

x = flow.tensor([[1.0, 2.0]])
assert_type(x.shape, tuple[int, ...])
assert_type(x + 1, flow.Tensor)
assert_type(1 - x, flow.Tensor)
assert_type(x == x, flow.Tensor)
assert_type(flow.sum(x, dim=1, keepdim=True), flow.Tensor)
assert_type(x.sum(dim=[0, 1]), flow.Tensor)
assert_type(flow.max(x), flow.Tensor)
assert_type(flow.max(x, dim=1), flow.ValuesIndices)
assert_type(flow.max(x, 1).values, flow.Tensor)
assert_type(x.permute(1, 0), flow.Tensor)
assert_type(x.permute([1, 0]), flow.Tensor)
assert_type(flow.zeros(2, 3, dtype="float64"), flow.Tensor)
assert_type(flow.zeros([2, 3], dtype=flow.float64), flow.Tensor)
assert_type(x[0, ..., None, ::2], flow.Tensor)
assert_type(x.dtype, flow.dtype)
assert_type(flow.manual_seed(1), flow.Generator)
assert_type(flow.rand(2, generator=flow.Generator(5)), flow.Tensor)
x.add_(1).mul_(2)
x[0] = 3
x[x > 2] = np.ones(2)
flow.einsum("ij,jk", x, x.T)
flow.add(x, 1, out=x)
results = flow.comm.spawn(lambda a: a + 1, 2, x)
results.append(x)

flow.sum(x, keepdim="yes")  # error
flow.summ(x)  # error
x.permute("a")  # error
flow.zeros(2, dtype=3)  # error
x.shape = (1, 2)  # error
flow.comm.spawn(3, 2)  # error
flow.comm.spawn(lambda: 1)  # error
"""


def public_objects() -> list[tuple[str, object]]:
    found = [(name, getattr(flow, name)) for name in flow.__all__]
    for owner in (flow.Tensor, flow.dtype, flow.device):
        names = [name for name in vars(owner) if not name.startswith("_") and hasattr(owner, name)]
        found += [(f"{owner.__name__}.{name}", getattr(owner, name)) for name in names]
    return found


def test_every_public_name_is_documented() -> None:
    dtypes = {name for name, each in public_objects() if isinstance(each, flow.dtype)}
    constants = {"newaxis"}  # None has no documentation of its own
    missing = [name for name, each in public_objects() if name not in dtypes | constants and not inspect.getdoc(each)]
    assert not missing
    assert flow.__doc__
    assert len(dtypes) == 15


def test_help() -> None:
    text = pydoc.plain(pydoc.render_doc(flow.sum))
    for expected in (
        "sum(input, dim=None, keepdim=False, *, dtype=None, out=None)",
        "flow.sum(input: Data, dim: int | Sequence[int] | None = None",
        "Adds up the elements",
        "flow.sum(flow.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1, keepdim=True)  # [[3.0], [7.0]]",
    ):
        assert expected in text
    assert "Writes the result of add() to this tensor" in pydoc.plain(pydoc.render_doc(flow.Tensor.add_))
    assert "manual_seed" in pydoc.plain(pydoc.render_doc(flow))


@pytest.fixture(scope="module")
def package() -> Path:
    return Path(flow.__file__).parent


def test_types(tmp_path: Path, package: Path) -> None:
    """Checks that mypy infers the types of correct calls, and reports each incorrect one."""
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [*command, str(sample)], capture_output=True, text=True, cwd=tmp_path, env={"MYPYPATH": str(package.parent)}
    )
    wrong = [number for number, line in enumerate(SAMPLE.splitlines(), 1) if line.endswith("# error")]
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert found == set(wrong), done.stdout + done.stderr


def test_stubs_match_the_package(tmp_path: Path, package: Path) -> None:
    """Checks with mypy's stubtest that names, signatures and defaults of the stubs are those of the package."""
    # Aliases for annotations exist only in the stubs, a signature cannot express that the items of a list may be
    # separate arguments, nor overloads without positional arguments, and __buffer__ is visible only since Python 3.12.
    # Classes that nanobind binds have a metaclass, and its own functions, which are private, have no signature.
    stubs = "".join(path.read_text() for path in package.rglob("*.pyi"))
    lists = re.findall(r"def (\w+)\([^)]*\*\w+:", stubs)
    bare = re.findall(r"@overload\n +def (\w+)\(self, \*,", stubs)
    aliases = ["Number", "DTypeLike", "DeviceLike", "Labels", "Data", "Key"]
    bound = ["device", "dtype", r"_native\._\w+(\.\w+)?"]
    elsewhere = _native._elsewhere(True)  # which raise errors that say the names here
    names = "|".join([*lists, *bare, *aliases, *bound, *elsewhere, "__all__", "__buffer__", "__getattr__"])
    allowed = tmp_path / "allowed"
    allowed.write_text(f"oneflow_py\\.(\\w+\\.)*({names})\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "oneflow_py", "--concise", "--allowlist", str(allowed)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"MYPYPATH": str(package.parent), "PYTHONPATH": str(package.parent)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
