"""Builds the library of operators of examples/extensions/my_ops for the tests of all languages, once.

Usage: python -m tests.operator_library. It prints the path of the library.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from pathlib import Path

from codegen.emit import fingerprint as fingerprint_of_definitions
from codegen.library.build import build
from codegen.library.fingerprint import fingerprint

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "examples" / "extensions" / "my_ops"


def compiler() -> list[str]:
    """Returns the command of the compiler, with ccache if that is installed."""
    return ["ccache", "c++"] if shutil.which("ccache") else ["c++"]


def build_library(records: Path = RECORDS) -> Path:
    """Builds the library of a folder of records if it is not up to date, and returns its path.

    Processes may do so at once.
    """
    folder = Path(os.environ.get("OF_BUILD", ROOT / "build")) / "operator_libraries" / records.name
    folder.mkdir(parents=True, exist_ok=True)
    state = hashlib.sha256((fingerprint(ROOT) + fingerprint_of_definitions(ROOT, ROOT / "codegen")).encode())
    sources = [path for path in (ROOT / "runtime").rglob("*.cpp") if "generated" not in path.parts]
    for path in sorted((*records.glob("*.yaml"), *sources)):
        state.update(path.read_bytes())
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / "state"
        if not stamp.exists() or stamp.read_text() != state.hexdigest():
            os.environ.setdefault("CCACHE_NOHASHDIR", "1")
            build(records, folder, ROOT, compiler())
            stamp.write_text(state.hexdigest())
    return folder / f"{records.name}.so"


if __name__ == "__main__":
    print(build_library())
