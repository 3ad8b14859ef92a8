"""Builds the installable packages: a wheel that needs no compiler, and a source package that needs no generator.

Usage: package.py --build BUILD --dist DIST
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

# The sources of the package besides this folder: the runtime and its build files.
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "runtime")


def wheel(build: Path, dist: Path) -> None:
    """Builds the wheel from an existing build folder, with the CMake settings of that folder."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    kept = dict(re.findall(r"^(ONEFLOW_\w+):\w+=(.*)$", cache, re.MULTILINE))
    settings = {"build-dir": str(build.resolve()), **{f"cmake.define.{name}": value for name, value in kept.items()}}
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps"]
    options = [f"--config-settings={name}={value}" for name, value in settings.items()]
    subprocess.run([*command, "--no-build-isolation", "-w", str(dist), *options, str(HERE)], check=True)


def source_files(folder: Path) -> list[Path]:
    """Returns the files below a folder that git tracks, and those in its `generated` folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", str(folder)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    tracked = [ROOT / name for name in listed.split("\0") if name]
    generated = [path for found in folder.rglob("generated") if found.is_dir() for path in found.rglob("*")]
    # Generated tests that have run leave compiled files next to them.
    return sorted({path for path in [*tracked, *generated] if path.is_file() and path.parent.name != "__pycache__"})


def source_package(dist: Path) -> None:
    """Builds the source package: the folders keep their paths, and pyproject.toml moves to the top."""
    settings = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    version = tomllib.loads(settings)["project"]["version"]
    name = f"oneflow_py-{version}"
    with tempfile.TemporaryDirectory() as temporary:
        top = Path(temporary) / name
        for part in (*PARTS, HERE.relative_to(ROOT)):
            for path in source_files(ROOT / part):
                target = top / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        own_settings = settings.replace('source-dir = "../.."', 'source-dir = "."')
        (top / "pyproject.toml").write_text(own_settings, encoding="utf-8")
        shutil.copy(HERE / "README.md", top)
        metadata = f"Metadata-Version: 2.1\nName: oneflow-py\nVersion: {version}\nRequires-Python: >=3.10\n"
        (top / "PKG-INFO").write_text(metadata, encoding="utf-8")
        with tarfile.open(dist / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(top, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="the folder of the CMake build")
    parser.add_argument("--dist", type=Path, required=True, help="the folder to write the packages to")
    arguments = parser.parse_args()
    arguments.dist.mkdir(parents=True, exist_ok=True)
    wheel(arguments.build, arguments.dist)
    source_package(arguments.dist)


if __name__ == "__main__":
    main()
