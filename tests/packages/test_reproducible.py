"""Tests that packages are the same, byte for byte, when they are made again from the same commit and payload."""

from __future__ import annotations

from pathlib import Path

from tests.packages.packagers import ALL_PACKAGERS, make_packages
from tools.release.checksums import sums


def test_packages_are_reproducible(dist: Path, tmp_path: Path) -> None:
    make_packages(tmp_path, ALL_PACKAGERS)
    for name in ALL_PACKAGERS:
        assert sums(tmp_path / name) == sums(dist / name)
