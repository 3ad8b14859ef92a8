"""Tests what a release has besides its packages: the bill of materials, checksums, the changelog, and the workflow."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from zipfile import ZipFile

from tests.packages.packagers import ADDRESS, OLDER
from tests.packages.roots import REPOSITORY
from tools.release import checksums, sbom
from tools.release.third_party import inside, software


def test_the_bill_of_materials_says_what_each_package_contains(dist: Path, tmp_path: Path) -> None:
    packages = sorted(path for folder in ("python", "js", "ruby") for path in (dist / folder).iterdir())
    for package in packages:
        shutil.copy(package, tmp_path)
    sbom.main(tmp_path)
    written = json.loads((tmp_path / sbom.NAME).read_text())
    contained = {entry["ref"]: entry.get("dependsOn", []) for entry in written["dependencies"]}
    assert set(contained["oneflow"]) == {f"package:{package.name}" for package in packages}
    with_runtime = [ref for ref, parts in contained.items() if "part:SLEEF" in parts]
    # One package of each language has the runtime; wheels have one for each ABI of Python.
    assert {ref.split(":")[1].split("-")[0] for ref in with_runtime} == {"oneflow_py", "oneflow"}
    assert all("opencl" not in ref and "cuda" not in ref for ref in with_runtime)
    assert [ref for ref, parts in contained.items() if "part:nanobind" in parts and "oneflow_py-" not in ref] == []


def test_all_parts_of_the_payload_are_recognised() -> None:
    """A file that no entry of third_party.yaml covers may contain software that no notice names."""
    libraries = [path for path in (REPOSITORY / "build/payload").rglob("*") if path.suffix in {".so", ".node", ".0"}]
    assert libraries
    # These libraries, of code of their own, protozero and libsodium, are always beside liboneflow.
    communicators = {f"liboneflow_communicator_{name}.so" for name in ("commnet", "mpich", "openmpi")}
    beside = {"liboneflow_draw.so", "liboneflow_onnx.so", *communicators}
    assert beside <= {path.name for path in libraries}
    assert [path.name for path in libraries if not inside([path.name]) and path.name not in beside] == []


def test_notices_name_all_software(dist: Path) -> None:
    notices = (REPOSITORY / "build/payload/notices/THIRD_PARTY_NOTICES.md").read_text()
    for part in software():
        assert f"## {part.name}\n" in notices
        assert part.text in notices


def test_checksums_can_be_checked(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/package").write_bytes(b"bytes")
    checksums.main(tmp_path)
    check = ["sha256sum", "--check", "--strict", checksums.NAME]
    subprocess.run(check, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


def test_the_changelog_describes_the_version(version: str) -> None:
    changes = (REPOSITORY / "CHANGELOG.md").read_text()
    assert "\n## [Unreleased]\n" in changes
    assert f"\n## [{version}]" in changes


def metadata(package: Path) -> str:
    """Returns what a wheel, a source package, an npm package or a gem says about itself."""
    where = re.compile(r"(.*\.dist-info/METADATA|[^/]*/PKG-INFO|package/package\.json|metadata\.gz)")
    if package.suffix == ".whl":
        with ZipFile(package) as wheel:
            return wheel.read(next(filter(where.fullmatch, wheel.namelist()))).decode()
    with tarfile.open(package) as archive:
        name = next(filter(where.fullmatch, archive.getnames()))
        file = archive.extractfile(name)
        assert file
        data = file.read()
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode()


def test_packages_of_a_release_name_its_repository(older: Path, dist: Path) -> None:
    packages = sorted(path for path in older.glob("*/*") if path.is_file())
    assert {package.suffix for package in packages} == {".whl", ".gz", ".tgz", ".gem"}
    for package in packages:
        found = metadata(package)
        assert ADDRESS in found, package
        assert package.suffix == ".tgz" or f"{ADDRESS}/blob/v{OLDER}/CHANGELOG.md" in found, package
    assert not any(ADDRESS in metadata(package) for package in dist.glob("*/*.gem"))


def test_the_workflow_has_no_mistakes() -> None:
    lint = Path(__file__).with_name("lint_workflow.cjs")
    workflows = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
    assert workflows
    for workflow in workflows:
        assert subprocess.run(["node", lint, workflow], check=True, capture_output=True, text=True).stdout == ""
