"""Tests the OpenCL backend as a separate plugin: its build, its program cache, several processes, and forks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))

# One elementwise program and one contraction.
PROGRAM = """
import oneflow_py as flow
x = flow.tensor([[1.0, 2.0], [3.0, 4.0]], device="opencl")
assert (x + x).tolist() == [[2.0, 4.0], [6.0, 8.0]]
assert flow.matmul(x, x).tolist() == [[7.0, 10.0], [15.0, 22.0]]
"""
# Integers, so that results are exactly those of the CPU: thin and wide operands, several parts, odd sizes, transposed.
CONTRACTIONS = """
import oneflow_py as flow
flow.set_fallback_is_error(True)
sizes = [(1, 70, 130, 33), (2, 5, 3, 9), (1, 1, 1, 70000), (1, 40, 33, 9000), (3, 1, 200, 7), (2, 3, 4, 0)]
for batch, rows, columns, depth in sizes:
    a = flow.randint(-99, 99, [batch, depth, rows], dtype="int32")
    b = flow.randint(-99, 99, [batch, depth, columns], dtype="int32")
    for equation in ("bki,bkj->bij", "bki,bkj->jbi"):
        there = flow.einsum(equation, a.to("opencl"), b.to("opencl")).tolist()
        assert there == flow.einsum(equation, a, b).tolist(), (equation, batch, rows, columns, depth)
assert flow.fallbacks() == {}, flow.fallbacks()
"""
FORK = """
import os
import oneflow_py as flow
x = flow.tensor([1.0, 2.0], device="opencl")
(x * 2).tolist()
child = os.fork()
if child == 0:
    try:
        x * 2
    except flow.DeviceError as error:
        assert "forked" in str(error), error
        assert (flow.tensor([1.0]) * 2).tolist() == [2.0]
        os._exit(0)
    os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert (x * 3).tolist() == [3.0, 6.0]
"""


def start(program: str, cache: Path, **variables: str) -> subprocess.Popen[str]:
    # PoCL has its own cache, which is redirected so that it does not hide faults of ours.
    own = {"ONEFLOW_CACHE_DIR": str(cache), "POCL_CACHE_DIR": str(cache.parent / "pocl")} | variables
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, env=os.environ | own, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def run(program: str, cache: Path, **variables: str) -> None:
    process = start(program, cache, **variables)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output


def test_programs_are_cached_and_damaged_ones_are_recompiled(tmp_path: Path) -> None:
    cache = tmp_path / "programs"
    run(PROGRAM, cache)
    kept = {path: path.read_bytes() for path in cache.glob("*.bin")}
    assert len(kept) >= 2
    for number, path in enumerate(kept):
        path.write_bytes(kept[path][: len(kept[path]) // 2] if number % 2 else b"no program")
    run(PROGRAM, cache)
    assert set(cache.glob("*.bin")) == set(kept)
    assert all(path.stat().st_size > 100 for path in kept), "damaged programs were not replaced"


@pytest.mark.parametrize("kind", ["missing", "a file", "read-only"])
def test_works_without_a_writable_cache(tmp_path: Path, kind: str) -> None:
    cache = tmp_path / "programs"
    if kind == "a file":
        cache.write_text("not a folder")
    elif kind == "read-only":
        # Not even root, who is exempt from permissions, can write here.
        cache = Path("/proc/self/programs")
    run(PROGRAM, cache, POCL_CACHE_DIR=str(tmp_path / "pocl"))
    assert cache.is_dir() == (kind == "missing")


def test_processes_may_compile_concurrently(tmp_path: Path) -> None:
    cache = tmp_path / "programs"
    processes = [start(PROGRAM, cache) for _ in range(2)]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert all(path.suffix == ".bin" for path in cache.iterdir()), "temporary files were left behind"


@pytest.mark.parametrize("lockstep", ["0", "1"])
def test_contractions_match_the_cpu(tmp_path: Path, lockstep: str) -> None:
    run(CONTRACTIONS, tmp_path / "programs", ONEFLOW_OPENCL_LOCKSTEP=lockstep)


def test_forked_process_gets_an_error(tmp_path: Path) -> None:
    run(FORK, tmp_path / "programs")


def test_error_without_a_driver_gives_the_reason(tmp_path: Path) -> None:
    program = """
import oneflow_py as flow
try:
    flow.tensor([1.0], device="opencl")
except flow.DeviceError as error:
    assert "there is no OpenCL driver" in str(error), error
else:
    raise SystemExit("there is a driver")
assert (flow.tensor([1.0]) + 1).tolist() == [2.0]
"""
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    run(program, tmp_path / "programs", OCL_ICD_VENDORS=f"{vendors}/")


@pytest.mark.parametrize("plugin", sorted(path.name for path in (BUILD / "devices").iterdir()))
def test_plugins_are_built_from_their_folders_shared_kernels_and_installed_headers(plugin: str) -> None:
    build = BUILD / "devices" / plugin
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    read = {Path(os.path.normpath(build / line.strip())) for line in listed.splitlines() if line.startswith("    ")}
    own = [path for path in read if path.is_relative_to(ROOT)]
    devices = ROOT / "runtime" / "devices"
    places = (devices / plugin, devices / "grid", devices / "shared", BUILD / "installed-headers", build)
    assert own
    assert [path for path in own if not any(path.is_relative_to(place) for place in places)] == []


def test_plugin_is_configured_from_its_folder_the_shared_kernels_and_installed_headers(tmp_path: Path) -> None:
    for name in ("opencl", "grid", "shared"):
        shutil.copytree(ROOT / "runtime" / "devices" / name, tmp_path / "devices" / name)
    headers = tmp_path / "installed"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", headers], check=True, capture_output=True)
    configure = ["cmake", "-S", tmp_path / "devices" / "opencl", "-B", tmp_path / "build", "-G", "Ninja"]
    subprocess.run([*configure, f"-DCMAKE_PREFIX_PATH={headers}"], check=True, capture_output=True)
    commands = (tmp_path / "build" / "compile_commands.json").read_text()
    assert str(ROOT) not in commands


def test_plugin_in_another_folder(tmp_path: Path) -> None:
    target = shutil.copy(BUILD / "lib" / "oneflow_devices" / "opencl.so", tmp_path)
    program = f"import oneflow_py as flow\nflow.load_device({str(target)!r})\n" + PROGRAM
    # The library is copied to a folder without plugins, so that it does not find the existing one next to it.
    package = tmp_path / "python"
    shutil.copytree(BUILD / "python", package / "python", symlinks=False)
    libraries = package / "lib"
    libraries.mkdir()
    for library in (BUILD / "lib").glob("*.so*"):
        shutil.copy(library, libraries, follow_symlinks=False)
    run(program, tmp_path / "programs", PYTHONPATH=str(package / "python"))


@pytest.mark.parametrize("operator", ["gelu", "sum"])
def test_optimised_kernels(operator: str, tmp_path: Path) -> None:
    """Replays vectors of two kinds. The other steps of `make test` run kernels that the driver does not optimise."""
    own = {"POCL_CACHE_DIR": str(tmp_path), "POCL_EXTRA_BUILD_FLAGS": ""}
    vectors = ROOT / "tests" / "generated" / "vectors" / f"{operator}.json"
    command = [BUILD / "bin" / "capi_replay", ROOT / "tests" / "devices.json", vectors]
    done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    total = re.search(rf"^{operator} on opencl:0: (\d+) of (\d+) cases$", done.stdout, re.MULTILINE)
    assert total
    assert total[1] == total[2] != "0"
