"""Loads the compiled part of the package, and says what is wrong with an installation that cannot be loaded."""

from __future__ import annotations

import os
import struct
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES

PACKAGE = os.path.dirname(os.path.abspath(__file__))
REINSTALL = "python -m pip install --force-reinstall oneflow-py"
BUILD = "python -m pip install --no-binary oneflow-py oneflow-py"


def load() -> None:
    """Imports the compiled part; raises ImportError with the cause and what to do if that fails."""
    for path in compiled_files():
        if is_truncated(path):
            raise ImportError(
                f"oneflow_py cannot be loaded: {path} is truncated. Install the package again: {REINSTALL}"
            )
    try:
        import_module("oneflow_py._native")
    except ImportError as error:
        cause = explain(str(error))
        if cause is None:
            raise
        raise ImportError(f"oneflow_py cannot be loaded: {cause}", name=error.name, path=error.path) from error


def compiled_files() -> list[str]:
    """Returns the paths of the extension and of the libraries that it loads."""
    folders = [folder for folder in (PACKAGE, os.path.join(PACKAGE, "lib")) if os.path.isdir(folder)]
    return [os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if ".so" in name]


def is_truncated(path: str) -> bool:
    """Returns whether a library ends before its table of sections, its last part; to load it would end the process."""
    with open(path, "rb") as file:
        header = file.read(64)
    if not header.startswith(b"\x7fELF\x02\x01") or len(header) < 64:
        return False
    offset, size, count = struct.unpack_from("<40xQ10x2H", header)
    return bool(os.path.getsize(path) < offset + size * count)


def explain(text: str) -> str | None:
    """Returns the cause of an ImportError and what to do; None if its text says so already."""
    found = sorted(name for name in os.listdir(PACKAGE) if name.startswith("_native.") and name.endswith(".so"))
    if not found:
        return f"{PACKAGE} has no compiled part _native*.so. Install the package again: {REINSTALL}"
    if is_musl():
        return f"its binaries need glibc, and this Python uses musl ({text}). Build it from source: {BUILD}"
    if not any(f"_native{suffix}" in found for suffix in EXTENSION_SUFFIXES):
        version = ".".join(map(str, sys.version_info[:3]))
        return (
            f"{', '.join(found)} is for another Python; this is {version} ({sys.executable}), which needs"
            f" _native{EXTENSION_SUFFIXES[0]}. Install the package for this Python: {REINSTALL}"
        )
    if "GLIBC" in text or "CXXABI" in text:
        return f"this system is older than its binaries ({text}). Build it from source: {BUILD}"
    if "undefined symbol: of_" in text:
        return (
            f"the process has loaded {loaded_library()}, which is of another version ({text})."
            " Use one version of all packages that load liboneflow"
        )
    if ".so" in text:
        return f"its files in {PACKAGE} are damaged ({text}). Install the package again: {REINSTALL}"
    return None


def is_musl() -> bool:
    """Returns whether this Python uses the C library musl."""
    import sysconfig

    return "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE"))


def loaded_library() -> str:
    """Returns the path of the liboneflow that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = [line.split(maxsplit=5)[-1].strip() for line in maps]
    return next((path for path in paths if "liboneflow.so" in path), "another liboneflow")


load()
