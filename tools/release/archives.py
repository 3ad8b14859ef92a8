"""Looks into packages of all formats."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path


def members(package: Path) -> dict[str, bytes]:
    """Returns the files of a package: a wheel, a gem, or a tarball."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    if package.suffix == ".gem":
        return tar_members(io.BytesIO(tar_members(io.BytesIO(package.read_bytes()))["data.tar.gz"]))
    return tar_members(io.BytesIO(package.read_bytes()))


def tar_members(data: io.BytesIO) -> dict[str, bytes]:
    """Returns the files of a tarball, compressed or not."""
    with tarfile.open(fileobj=data) as archive:
        files = {info.name: archive.extractfile(info) for info in archive if info.isfile()}
        return {name: file.read() for name, file in files.items() if file}
