"""Makes the package of a build folder importable in this environment, by a line in a .pth file.

Usage: link_package.py FOLDER
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path


def main(folder: str) -> None:
    link = Path(sysconfig.get_path("purelib")) / "oneflow_py.pth"
    line = f"{Path(folder).resolve()}\n"
    if not link.exists() or link.read_text(encoding="utf-8") != line:
        link.unlink(missing_ok=True)  # it may be a hard link that other environments share
        link.write_text(line, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
