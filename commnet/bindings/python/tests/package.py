"""Builds the source package, a wheel of that, and runs a program in an empty environment that has only the wheel."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = """
import pathlib
import commnet
with commnet.Endpoint("a", b"secret") as a, commnet.Endpoint("b", b"secret") as b:
    peer = a.connect(b.address)
    assert peer.read(b.register(b"works").token()).wait() == b"works"
maps = pathlib.Path("/proc/self/maps").read_text()
libraries = {line.split()[-1] for line in maps.splitlines() if "libcommnet" in line}
assert [pathlib.Path(each).parent for each in libraries] == [pathlib.Path(commnet.__file__).parent / "lib"], libraries
assert "libsodium" not in maps
print("commnet", commnet.__version__, "works")
"""


def run(*command: object, **options: object) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(list(map(str, command)), check=True, env=environment, **options)


def main() -> int:
    needed = ("scikit_build_core", "pybind11", "pip", "ensurepip")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} are not installed")
        return 77
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        backend = f"import build_backend; print(build_backend.build_sdist({temporary!r}))"
        run(sys.executable, "-c", backend, cwd=FOLDER)
        (source,) = folder.glob("*.tar.gz")
        run(*pip, "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, source, cwd=folder)
        (wheel,) = folder.glob("*.whl")
        run(sys.executable, "-m", "venv", folder / "empty")
        python = folder / "empty" / "bin" / "python"
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", wheel, cwd=folder)
        run(python, "-c", PROGRAM, cwd=folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
