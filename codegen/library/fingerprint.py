"""The fingerprint of the headers that libraries of operators are compiled from."""

from __future__ import annotations

import hashlib
from pathlib import Path

_LEFT_OUT = {"generated", "tests"}


def fingerprint(root: Path) -> str:
    """Returns the version and a hash of the headers of the runtime, as cmake/LibraryFingerprint.cmake computes it."""
    runtime = root / "runtime"
    headers = [path.relative_to(runtime) for end in ("h", "hpp") for path in runtime.rglob(f"*.{end}")]
    names = sorted(path.as_posix() for path in headers if not _LEFT_OUT.intersection(path.parent.parts))
    lines = (f"{name} {hashlib.sha256((runtime / name).read_bytes()).hexdigest()}\n" for name in names)
    version = (root / "VERSION").read_text(encoding="utf-8").strip()
    return f"{version} ({hashlib.sha256(''.join(lines).encode()).hexdigest()[:16]})"
