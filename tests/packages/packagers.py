"""Makes packages from build/payload: of an older version, or a second time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.packages.languages import LANGUAGES
from tests.packages.roots import REPOSITORY

VERSION = (REPOSITORY / "VERSION").read_text(encoding="utf-8").strip()
# An older version with as many characters, so that it can replace the version in binaries.
OLDER = "0.0.9".ljust(len(VERSION), "9")
# Packages of the older version also name a repository, as those of a release do.
ADDRESS = "https://example.org/oneflow"
OLDER_SETTINGS = {"ONEFLOW_VERSION": OLDER, "ONEFLOW_REPOSITORY": ADDRESS}
# Commands that make packages from the payload in $BUILD, and write them to $DIST.
LANGUAGE_PACKAGERS = {language.name: language.packager for language in LANGUAGES}
ALL_PACKAGERS = LANGUAGE_PACKAGERS | {"c": 'tools/package_c.sh "$BUILD" "$DIST"'}


def older_build(folder: Path) -> Path:
    """Copies the payload to a build folder, with binaries of the older version."""
    shutil.copytree(REPOSITORY / "build" / "payload", folder / "payload")
    now, then = f"\0{VERSION}\0".encode(), f"\0{OLDER}\0".encode()
    for file in folder.rglob("*.so*"):
        file.write_bytes(file.read_bytes().replace(now, then))
    return folder


def make_packages(
    dist: Path, packagers: Mapping[str, str], build: Path = REPOSITORY / "build", **settings: str
) -> Path:
    """Makes packages in folders with the packagers' names. Settings are variables that packagers read."""
    places = {"PYTHON": sys.executable, "BUILD": str(build)}
    for name, command in packagers.items():
        environment = os.environ | places | settings | {"DIST": str(dist / name)}
        subprocess.run(["sh", "-c", command], cwd=REPOSITORY, env=environment, check=True, stdout=subprocess.DEVNULL)
    return dist
