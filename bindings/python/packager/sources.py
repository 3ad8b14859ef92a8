"""Makes the source package, which contains the generated files: it is compiled without the generator."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from packager.project import HERE, ROOT, Payload, Project

# The sources of the package besides this folder: the runtime, its build files, and the communication library.
PARTS = (
    "CHANGELOG.md", "CMakeLists.txt", "cmake", "runtime", "bindings/python",
    "commnet/CMakeLists.txt", "commnet/LICENSE", "commnet/cmake", "commnet/include", "commnet/src",
)  # fmt: skip
# Folders and pages that no build of the package reads. Plugins, which have a device.mk, are packages of their own.
UNUSED = {"tests", "packager", "__pycache__", "README.md"}


def source_files(part: str) -> list[Path]:
    """Returns the files below a path that git tracks, and those in its `generated` folders."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", part]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    known = [ROOT / name for name in listed.split("\0") if name]
    generated = [path for found in (ROOT / part).rglob("generated") for path in found.rglob("*")]
    return sorted(path for path in {*known, *generated} if path.is_file() and is_used(path.relative_to(ROOT)))


def is_used(path: Path) -> bool:
    """Returns whether the package is built from a file of the repository."""
    return not UNUSED & set(path.parts) and not any((ROOT / folder / "device.mk").exists() for folder in path.parents)


def complete_settings(project: Project, payload: Payload) -> str:
    """Returns the contents of pyproject.toml with an extra for each device plugin, and with links."""
    table = "[project.optional-dependencies]\n"
    extras = [f'{device} = ["{requirement}"]\n' for device, requirement in project.extras(payload).items()]
    links = [f'{label} = "{address}"\n' for label, address in project.links.items()]
    tables = f"[project.urls]\n{''.join(links)}\n{table}{''.join(extras)}"
    return (HERE / "pyproject.toml").read_text(encoding="utf-8").replace(table, tables)


def make_source_package(project: Project, payload: Payload, dist: Path) -> Path:
    """Writes the source package to `dist`, and returns its path."""
    with TemporaryDirectory() as temporary:
        top = Path(temporary)
        for path in [found for part in PARTS for found in source_files(part)]:
            target = top / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            target.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
        for path in (HERE / "README.md", *payload.notices):
            shutil.copyfile(path, top / path.name)
        (top / "pyproject.toml").write_text(complete_settings(project, payload), encoding="utf-8")
        (top / "VERSION").write_text(f"{project.version}\n", encoding="utf-8")
        build = "import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))"
        command = [sys.executable, "-c", build, str(dist.resolve())]
        subprocess.run(command, cwd=top, check=True, stdout=subprocess.DEVNULL)
    return dist / f"oneflow_py-{project.version}.tar.gz"
