"""Makes packages from build/payload: of an older version, or a second time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.packages.languages import LANGUAGES
from tests.packages.roots import REPOSITORY

OLDER = "0.0.9"


def date_of_commit() -> str:
    """Returns the date that the files in packages have: `make packages` takes the same."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout.strip()


def make_packages(dist: Path, version: str = "") -> Path:
    """Makes the packages of all languages in a folder, with the version of the repository or another one."""
    settings = {"PYTHON": sys.executable, "BUILD": str(REPOSITORY / "build"), "SOURCE_DATE_EPOCH": date_of_commit()}
    if version:
        settings["ONEFLOW_VERSION"] = version
    for language in LANGUAGES:
        environment = os.environ | settings | {"DIST": str(dist / language.name)}
        command = ["sh", "-c", language.packager]
        subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, stdout=subprocess.DEVNULL)
    return dist
