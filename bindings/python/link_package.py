"""Makes the package of a build folder importable in this environment, by a line in a .pth file, and installs its
commands.

Usage: link_package.py FOLDER
"""

from __future__ import annotations

import sys
import sysconfig
import tomllib
from pathlib import Path

SETTINGS = Path(__file__).with_name("pyproject.toml")


def write(path: Path, text: str, mode: int) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.unlink(missing_ok=True)  # it may be a hard link that other environments share
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)


def main(folder: str) -> None:
    write(Path(sysconfig.get_path("purelib")) / "oneflow_py.pth", f"{Path(folder).resolve()}\n", 0o644)
    for name, target in tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["project"]["scripts"].items():
        module, _, function = target.partition(":")
        text = f"#!{sys.executable}\nimport sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n"
        write(Path(sysconfig.get_path("scripts")) / name, text, 0o755)


if __name__ == "__main__":
    main(sys.argv[1])
