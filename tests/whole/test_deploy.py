"""Tests programs in C with only the operators of their graphs: size, results, and a root without Python."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
CLASSIFY = ROOT / "examples" / "c" / "classify.c"
RUN_GRAPH = Path(__file__).parent / "run_graph.c"
DIGITS = gzip.decompress((ROOT / "examples" / "data" / "digits.csv.gz").read_bytes()).decode()
MOST_BYTES = 10_000_000

OTHER = """
import sys
import oneflow_py as flow
weight, bias, table = flow.randn(6), flow.randn(6), flow.randn(9, 6)
def network(x):
    x = flow.gelu(flow.layer_norm(x, [6], weight, bias)) @ table.t()
    values, positions = flow.topk(flow.softmax(x, dim=-1), 4, dim=-1)
    return flow.cat([values.log(), flow.embedding(positions, table).sum(-1)], dim=1)
flow.graph.capture(network, flow.ones(5, 6)).save(sys.argv[1])
"""


def run(*command: str | Path, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def python(*arguments: str | Path) -> None:
    run(sys.executable, *arguments, env={**os.environ, "PYTHONPATH": str(BUILD / "python")})


def compiled(source: Path, program: Path, library: Path) -> Path:
    """Compiles a program against an installed library, and strips it."""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(library / "lib" / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "oneflow", env=environment).split()
    run("cc", "-std=c11", "-O2", source, *flags, "-Wl,-rpath,$ORIGIN", "-s", "-o", program)
    return program


def libraries(program: Path) -> list[Path]:
    """Returns the shared libraries that a program loads, and the loader."""
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", run("ldd", program))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with two models, a library for the first one, and one for both."""
    folder = tmp_path_factory.mktemp("deploy")
    python(ROOT / "examples" / "train" / "train.py", "--quiet", "--epochs", "2", "--save", folder / "digits.flow")
    python("-c", OTHER, folder / "other.flow")
    deploy = (sys.executable, ROOT / "tools" / "deploy.py", folder / "digits.flow")
    run(*deploy, "--into", folder / "digits")
    run(*deploy, folder / "other.flow", "--into", folder / "both")
    return folder


@pytest.fixture(scope="module")
def whole(folder: Path) -> Path:
    """Returns a program that runs graphs with the shared library."""
    includes = [f"-I{ROOT / 'runtime' / each}" for each in ("include", "generated/include")]
    program = folder / "shared"
    run(
        "cc",
        "-O2",
        RUN_GRAPH,
        *includes,
        f"-L{BUILD / 'lib'}",
        "-loneflow",
        f"-Wl,-rpath,{BUILD / 'lib'}",
        "-o",
        program,
    )
    return program


def test_the_digits_take_little_space_and_run_without_python(folder: Path, tmp_path: Path) -> None:
    program = compiled(CLASSIFY, tmp_path / "classify", folder / "digits")
    expected = run(program, folder / "digits.flow", input=DIGITS)
    assert re.fullmatch(r"accuracy: 0\.9\d* \(\d+ of 599\)\n", expected)
    needed = libraries(program)
    names = {path.name.split(".")[0] for path in needed}
    assert names <= {"libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64"}
    assert program.stat().st_size <= MOST_BYTES

    root = tmp_path / "root"
    for path in needed:
        (root / path.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / path.relative_to("/"))
    shutil.copy(program, root / "classify")
    shutil.copy(folder / "digits.flow", root / "digits.flow")
    enter = ["chroot"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "chroot"]
    assert run(*enter, root, "/classify", "/digits.flow", input=DIGITS) == expected


@pytest.mark.parametrize(
    ("library", "model", "sizes"),
    [("digits", "digits", "7 1 8 8"), ("both", "digits", "7 1 8 8"), ("both", "other", "5 6")],
)
def test_results_are_those_of_the_shared_library(
    folder: Path, whole: Path, tmp_path: Path, library: str, model: str, sizes: str
) -> None:
    program = compiled(RUN_GRAPH, tmp_path / "run", folder / library)
    arguments = (folder / f"{model}.flow", *sizes.split())
    assert run(program, *arguments) == run(whole, *arguments)


def test_a_missing_operator_is_named(folder: Path, tmp_path: Path) -> None:
    program = compiled(RUN_GRAPH, tmp_path / "run", folder / "digits")
    done = subprocess.run([program, folder / "other.flow", "5", "6"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "this library has no operator 'cat'" in done.stderr


def test_a_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.flow").write_bytes(b"")
    command = [sys.executable, ROOT / "tools" / "deploy.py", tmp_path / "empty.flow", "--into", tmp_path / "library"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "empty.flow is not a saved graph" in done.stderr
    assert not (tmp_path / "library").exists()
