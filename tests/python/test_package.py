"""Tests the wheels and the source package: what they contain, what they say, how they install, and how they fail."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.metadata import Metadata
from packaging.utils import parse_wheel_filename

import oneflow_py as flow
from tests.operator_library import build_library

ROOT = Path(__file__).parents[2]
BUILD = Path(flow.__file__).parents[2]
PAYLOAD = BUILD / "payload"
VERSION = (ROOT / "VERSION").read_text().strip()
LIMITS = json.loads((ROOT / "tests" / "limits.json").read_text())
DEVICES = sorted(path.name for path in (PAYLOAD / "devices").iterdir())

PROGRAM = """
import pickle
import sys
import oneflow_py as flow
x = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()
print(flow.__file__)
print((x @ x).exp().log().round().tolist())
print(flow.onnx.load(sys.argv[1])(flow.ones(1, 3)).tolist())
"""

# Slices are read in another way with the stable ABI.
SLICES = """
import itertools
import sys
import oneflow_py as flow
x, numbers = flow.arange(5), list(range(5))
ends = [None, -9, -2, 0, 1, 4, 9, sys.maxsize, -sys.maxsize, 2**70, -(2**70)]
for key in itertools.starmap(slice, itertools.product(ends, ends, [None, -2, -1, 1, 3])):
    assert x[key].tolist() == numbers[key], key
for key, error in ((slice("1", 2), flow.TypeMismatch), (slice(0, 1, 0), flow.InvalidArgument)):
    try:
        x[key]
    except error:
        continue
    raise AssertionError(key)
"""


def build(payload: Path, dist: Path) -> Path:
    """Builds the packages of a payload into a folder."""
    command = [sys.executable, str(ROOT / "bindings" / "python" / "package.py")]
    date = {"SOURCE_DATE_EPOCH": "1700000000"}
    options = ["--build", str(payload.parent), "--dist", str(dist)]
    subprocess.run([*command, *options], check=True, env=os.environ | date)
    return dist


@dataclass(frozen=True)
class Environment:
    """A virtual environment, in which nothing but the packages is installed."""

    folder: Path
    interpreter: str = sys.executable

    def create(self) -> Environment:
        subprocess.run([self.interpreter, "-m", "venv", "--without-pip", str(self.folder)], check=True)
        return self

    @property
    def packages(self) -> Path:
        return next((self.folder / "lib").glob("python*")) / "site-packages"

    def pip(self, *arguments: str) -> None:
        """Runs this process's pip for the environment, which has none of its own."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.folder), "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *arguments], check=True)

    def run(self, program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a program without a compiler, and without anything of this process's environment."""
        command = [str(self.folder / "bin" / "python"), "-c", program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env={"PATH": "", **variables})


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(PAYLOAD, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Returns an environment with the package and all plugins, which is not changed."""
    environment = Environment(tmp_path_factory.mktemp("installed")).create()
    environment.pip("install", "--no-index", "--find-links", str(dist), f"oneflow-py[{','.join(DEVICES)}]")
    return environment


def wheels(dist: Path) -> dict[str, list[Path]]:
    """Returns the wheels of each package."""
    found: dict[str, list[Path]] = {}
    for path in sorted(dist.glob("*.whl")):
        found.setdefault(parse_wheel_filename(path.name)[0], []).append(path)
    return found


def metadata(wheel: Path) -> Metadata:
    with ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Metadata.from_email(archive.read(name), validate=True)


# ------------------------------------------------------------------------------------------------ contents


def test_there_is_a_wheel_for_each_abi_and_each_plugin(dist: Path) -> None:
    found = wheels(dist)
    assert sorted(found) == sorted(["oneflow-py", *(f"oneflow-py-{device}" for device in DEVICES)])
    assert len(found["oneflow-py"]) == len(list((PAYLOAD / "python").iterdir()))
    for path in dist.glob("*.whl"):
        _, version, _, tags = parse_wheel_filename(path.name)
        assert str(version) == VERSION
        assert [tag.platform for tag in tags] == ["manylinux_2_28_x86_64"]


def test_contents(dist: Path) -> None:
    for wheel in wheels(dist)["oneflow-py"]:
        names = ZipFile(wheel).namelist()
        information = f"oneflow_py-{VERSION}.dist-info"
        notices = [f"{information}/licenses/{path.name}" for path in (PAYLOAD / "notices").iterdir()]
        libraries = [f"oneflow_py/lib/{path.name}" for path in (PAYLOAD / "runtime").iterdir()]
        typed = ["oneflow_py/__init__.py", "oneflow_py/__init__.pyi", "oneflow_py/py.typed"]
        assert {*notices, *libraries, *typed} <= set(names)
        assert len([name for name in names if name.startswith("oneflow_py/_native.") and name.endswith(".so")]) == 1
        headers = {name for name in names if name.startswith("oneflow_py/include/oneflow/")}
        assert {
            f"oneflow_py/include/oneflow/{name}" for name in ("oneflow.hpp", "operators.hpp", "pybind11.h")
        } <= headers
        others = set(names) - headers
        assert not [name for name in others if "oneflow_devices" in name or name.endswith((".cpp", ".h", ".a"))]
        for program in ("oneflow-probe", "oneflow-run"):
            entry = ZipFile(wheel).getinfo(f"oneflow_py/lib/{program}")
            assert stat.S_IMODE(entry.external_attr >> 16) == 0o755
        assert wheel.stat().st_size <= LIMITS["package_bytes"]


def test_a_plugin_is_one_file_beside_the_runtime(dist: Path) -> None:
    for device in DEVICES:
        (wheel,) = wheels(dist)[f"oneflow-py-{device}"]
        names = [name for name in ZipFile(wheel).namelist() if ".dist-info" not in name and not name.endswith("/")]
        assert names == [f"oneflow_py/lib/oneflow_devices/{device}.so"]
        assert [str(requirement) for requirement in metadata(wheel).requires_dist or []] == [f"oneflow-py=={VERSION}"]


def test_metadata(dist: Path) -> None:
    base = metadata(wheels(dist)["oneflow-py"][0])
    assert str(base.version) == VERSION
    assert set(base.provides_extra or []) == {"numpy", "notebook", *DEVICES}
    extras = [str(requirement) for requirement in base.requires_dist or []]
    assert all(f'oneflow-py-{device}=={VERSION}; extra == "{device}"' in extras for device in DEVICES)
    assert base.license_expression == "Apache-2.0"
    assert set(base.license_files or []) == {path.name for path in (PAYLOAD / "notices").iterdir()}
    assert base.description == (ROOT / "bindings" / "python" / "README.md").read_text()
    assert base.description_content_type == "text/markdown"
    assert base.keywords
    assert base.author
    assert "Typing :: Typed" in (base.classifiers or [])


def test_links_of_the_page_work_where_it_is_shown() -> None:
    page = (ROOT / "bindings" / "python" / "README.md").read_text()
    targets = [part.partition(")")[0] for part in page.split("](")[1:]]
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []


def test_source_package(dist: Path) -> None:
    with tarfile.open(dist / f"oneflow_py-{VERSION}.tar.gz") as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
        settings = archive.extractfile(f"oneflow_py-{VERSION}/pyproject.toml")
        assert settings is not None
        extras = settings.read().decode()
        assert all(f"oneflow-py-{device}=={VERSION}" in extras for device in DEVICES)
    top = {"pyproject.toml", "PKG-INFO", "LICENSE", "VERSION", "README.md", "CHANGELOG.md", "CMakeLists.txt"}
    assert top <= names
    assert {"bindings/python/generated/functions.cpp", "runtime/generated/include/oneflow/operators.h"} <= names
    assert not [name for name in names if name.endswith((".so", ".a")) or "__pycache__" in name or "/tests/" in name]


def test_two_builds_have_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    # A copy of the payload has other times and modes.
    payload = shutil.copytree(PAYLOAD, tmp_path / "payload", copy_function=shutil.copyfile)
    for original in PAYLOAD.rglob("*"):
        if original.is_file():
            copy = payload / original.relative_to(PAYLOAD)
            copy.chmod(0o700 if original.stat().st_mode & 0o100 else 0o600)
    digests = [
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
        for folder in (dist, build(payload, tmp_path / "dist"))
    ]
    assert digests[0] == digests[1]


# ------------------------------------------------------------------------------------------------ installations


def test_a_fresh_environment(dist: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv").create()
    before = sorted(environment.packages.rglob("*"))
    environment.pip("install", "--no-index", "--find-links", str(dist), "oneflow-py")
    done = environment.run(PROGRAM, str(ROOT / "tests" / "data" / "onnx" / "layer.onnx"))
    assert done.returncode == 0, done.stderr
    location, result, from_onnx = done.stdout.splitlines()
    assert location.startswith(str(tmp_path))
    assert result == "[[7.0, 10.0], [15.0, 22.0]]"
    assert from_onnx == "[[9.5, 0.0]]"
    environment.pip("uninstall", "--yes", "oneflow-py")
    after = sorted(environment.packages.rglob("*"))
    assert after == before


def test_the_command_starts_ranks(installed: Environment) -> None:
    command = str(installed.folder / "bin" / "oneflow-run")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command, *arguments], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})

    assert run("--version").stdout == f"oneflow-run {VERSION}\n"
    done = run("-n", "2", "sh", "-c", "echo $ONEFLOW_RANK")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["[0] 0", "[1] 1"]
    # Python ignores SIGPIPE, but not for ranks.
    assert run("-n", "1", "bash", "-c", "yes | true; echo ${PIPESTATUS[0]}").stdout == f"{128 + signal.SIGPIPE}\n"
    assert run("-n", "2", "sh", "-c", "exit 3").returncode == 3


def test_the_stable_abi(dist: Path, tmp_path: Path) -> None:
    wheel = next((path for path in wheels(dist)["oneflow-py"] if "abi3" in path.name), None)
    pythons = [str(path) for path in Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python")]
    pythons += [found for name in ("python3.12", "python3.13", "python3.14") if (found := shutil.which(name))]
    working = [path for path in pythons if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0]
    if wheel is None or not working:
        pytest.skip("there is no Python from 3.12 on, or no wheel for it, which only make packages compiles")
    for number, interpreter in enumerate(working):
        environment = Environment(tmp_path / str(number), interpreter).create()
        environment.pip("install", "--no-index", "--find-links", str(dist), "oneflow-py")
        done = environment.run(PROGRAM, str(ROOT / "tests" / "data" / "onnx" / "layer.onnx"))
        assert done.returncode == 0, done.stderr
        slices = environment.run(SLICES)
        assert slices.returncode == 0, slices.stderr
        assert [path.name for path in (environment.packages / "oneflow_py").glob("_native*.so")] == ["_native.abi3.so"]


def test_plugins_are_found_beside_the_runtime(installed: Environment) -> None:
    program = "import oneflow_py as flow; print(*flow.devices()); print(*flow.rejected_plugins())"
    done = installed.run(program, **{name: value for name, value in os.environ.items() if name.startswith("OCL_")})
    assert done.returncode == 0, done.stderr
    listed, rejected = done.stdout.splitlines()
    for device in DEVICES:
        assert f"{device}:0" in listed or f"oneflow_devices/{device}.so" in rejected
    assert "opencl:0" in listed


def test_a_library_of_operators_loads_without_a_compiler(installed: Environment) -> None:
    program = f"""
import oneflow_py as flow
print(flow.load_library({str(build_library())!r}).double_add(flow.ones(2), 1).tolist(), flow.__file__)
"""
    done = installed.run(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[3.0, 3.0] " + str(installed.folder))


# ------------------------------------------------------------------------------------------------ damage


def copied(installed: Environment, folder: Path) -> Path:
    """Copies the installed packages to a folder, and returns the package."""
    for path in installed.packages.glob("oneflow_py*"):
        shutil.copytree(path, folder / path.name)
    return folder / "oneflow_py"


def error_of(folder: Path, before: str = "") -> str:
    """Returns the error of importing the package in a folder, after other statements."""
    command = [sys.executable, "-c", f"{before}\nimport oneflow_py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={"PYTHONPATH": str(folder)})
    assert done.returncode == 1, done.stdout + done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: oneflow_py cannot be loaded: "), done.stderr
    return last


def extension(package: Path) -> Path:
    return next(package.glob("_native*.so"))


def library(package: Path) -> Path:
    return package / "lib" / "liboneflow.so.0"


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def spoil(file: Path) -> None:
    file.write_text("This is no library.\n" * 100)


REINSTALL = "pip install --force-reinstall oneflow-py"
DAMAGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "the extension is missing": (
        lambda package: extension(package).unlink(),
        ["has no compiled part _native*.so", REINSTALL],
    ),
    "the extension is truncated": (
        lambda package: truncate(extension(package)),
        ["_native", "is truncated", REINSTALL],
    ),
    "the extension is no library": (
        lambda package: spoil(extension(package)),
        ["damaged", "_native", "invalid ELF header", REINSTALL],
    ),
    "the extension is for another Python": (
        lambda package: extension(package).rename(package / "_native.cpython-310-x86_64-linux-gnu.so"),
        [
            "_native.cpython-310-x86_64-linux-gnu.so is for another Python",
            "this is 3.",
            "which needs _native.",
            REINSTALL,
        ],
    ),
    "the extension is for musl": (
        lambda package: extension(package).rename(package / "_native.cpython-311-x86_64-linux-musl.so"),
        ["_native.cpython-311-x86_64-linux-musl.so is for another Python", "linux-gnu.so", REINSTALL],
    ),
    "the library is missing": (
        lambda package: library(package).unlink(),
        ["damaged", "liboneflow.so.0: cannot open shared object file", REINSTALL],
    ),
    "the library is truncated": (
        lambda package: truncate(library(package)),
        ["liboneflow.so.0 is truncated", REINSTALL],
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_package(damage: str, installed: Environment, tmp_path: Path) -> None:
    package = copied(installed, tmp_path)
    change, words = DAMAGES[damage]
    change(package)
    error = error_of(tmp_path)
    assert [word for word in words if word not in error] == []


def test_a_python_that_uses_musl(installed: Environment, tmp_path: Path) -> None:
    spoil(extension(copied(installed, tmp_path)))
    musl = "import sysconfig; sysconfig.get_config_vars()['HOST_GNU_TYPE'] = 'x86_64-pc-linux-musl'"
    assert "need glibc, and this Python uses musl" in error_of(tmp_path, musl)


def test_a_runtime_of_another_version_is_loaded(installed: Environment, tmp_path: Path) -> None:
    package = copied(installed, tmp_path)
    other = tmp_path / "other" / "liboneflow.so.0"
    other.parent.mkdir()
    version = f"\0{VERSION}\0".encode()
    contents = library(package).read_bytes()
    assert version in contents
    other.write_bytes(contents.replace(version, b"\0" + b"9" * (len(version) - 2) + b"\0"))
    error = error_of(tmp_path, f"import ctypes; ctypes.CDLL({str(other)!r})")
    assert f"needs version {VERSION} of liboneflow" in error
    assert f"has loaded version {'9' * len(VERSION)}, {other}" in error


def test_a_runtime_without_the_functions_is_loaded(installed: Environment, tmp_path: Path) -> None:
    copied(installed, tmp_path)
    source = tmp_path / "empty.c"
    source.write_text("int nothing;\n")
    other = tmp_path / "liboneflow.so.0"
    subprocess.run(["cc", "-shared", "-Wl,-soname,liboneflow.so.0", "-o", str(other), str(source)], check=True)
    error = error_of(tmp_path, f"import ctypes; ctypes.CDLL({str(other)!r})")
    assert f"the process has loaded {other}, which is of another version" in error


@pytest.mark.skipif(os.environ.get("ONEFLOW_VECTORS") != "all", reason="compiles the runtime: part of make test-long")
def test_the_source_package_compiles_by_itself(dist: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv").create()
    environment.pip("install", str(dist / f"oneflow_py-{VERSION}.tar.gz"))
    done = environment.run(PROGRAM, str(ROOT / "tests" / "data" / "onnx" / "layer.onnx"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ["[[7.0, 10.0], [15.0, 22.0]]", "[[9.5, 0.0]]"]
