"""Makes the packages for Python: wheels that need no compiler, and a source package that needs no generator.

Usage: package.py --build BUILD --dist DIST

`make payload` must have collected the compiled files in BUILD/payload. Packages with the same files are the same, byte
for byte, if $SOURCE_DATE_EPOCH is.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from packager.project import Payload, Project
from packager.sources import make_source_package
from packager.wheels import make_wheels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="the folder of the CMake build")
    parser.add_argument("--dist", type=Path, required=True, help="the folder to write the packages to")
    arguments = parser.parse_args()
    arguments.dist.mkdir(parents=True, exist_ok=True)
    project, payload = Project(), Payload(arguments.build / "payload")
    for path in [*make_wheels(project, payload, arguments.dist), make_source_package(project, payload, arguments.dist)]:
        print(f"{path.stat().st_size:>10,}  {path}")
    if not any(extension.match("*.abi3.so") for extension in payload.extensions):
        print(f"   SKIPPED  the wheel {project.stable_python}-abi3: the payload has no extension for it")


if __name__ == "__main__":
    main()
