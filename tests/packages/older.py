"""Makes the packages again: of an older version, from the same payload, or a second time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.packages.languages import LANGUAGES
from tests.packages.roots import REPOSITORY

OLDER = "0.0.9"


def build_packages(dist: Path, **environment: str) -> Path:
    """Builds the packages of all languages into a folder; an environment of ONEFLOW_VERSION gives them another version."""
    for language in LANGUAGES:
        command = [*language.packager, str(dist / language.name)]
        subprocess.run(command, cwd=REPOSITORY, env=os.environ | environment, check=True, stdout=subprocess.DEVNULL)
    return dist
