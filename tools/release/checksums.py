"""Writes SHA256SUMS, for `sha256sum --check`, over all files of a folder.

Usage: python -m tools.release.checksums FOLDER
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

NAME = "SHA256SUMS"


def sums(folder: Path) -> dict[str, str]:
    """Returns the SHA-256 of each file, by its path in the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != NAME)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def main(folder: Path) -> None:
    text = "".join(f"{digest}  {name}\n" for name, digest in sums(folder).items())
    (folder / NAME).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
