"""Builds the package: wheels by scikit-build-core, and a source package that also has the sources of the library."""

from __future__ import annotations

import io
import tarfile
import tomllib
from pathlib import Path

from scikit_build_core.build import (
    build_editable,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
# What the package is built from, besides pyproject.toml.
SOURCES = [
    "LICENSE",
    "THIRD_PARTY.md",
    "CMakeLists.txt",
    "cmake/*.cmake",
    "cmake/*.in",
    "include/**/*.h*",
    "src/**/*.cpp",
    "src/**/*.h",
    "bindings/python/CMakeLists.txt",
    "bindings/python/README.md",
    "bindings/python/commnet/*.py*",
    "bindings/python/commnet/py.typed",
    "bindings/python/src/*",
]


def build_sdist(sdist_directory: str, config_settings: dict[str, object] | None = None) -> str:
    """Writes the source package, in which all files keep their places but pyproject.toml, which is at the top."""
    text = (HERE / "pyproject.toml").read_text()
    own = text.replace('"../.."', '"."').replace(
        'build-backend = "build_backend"\nbackend-path = ["."]', 'build-backend = "scikit_build_core.build"'
    )
    version = tomllib.loads(text)["project"]["version"]
    name = f"commnet-{version}"
    metadata = f"Metadata-Version: 2.1\nName: commnet\nVersion: {version}\nRequires-Python: >=3.10\n"
    with tarfile.open(Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        for path in sorted({path for pattern in SOURCES for path in PROJECT.glob(pattern) if path.is_file()}):
            archive.add(path, f"{name}/{path.relative_to(PROJECT)}")
        readme = (HERE / "README.md").read_text()
        for file, content in {"pyproject.toml": own, "PKG-INFO": metadata, "README.md": readme}.items():
            data = content.encode()
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return f"{name}.tar.gz"
