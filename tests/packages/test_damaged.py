"""Tests what users are told when a package is damaged, incomplete, or for another system or version."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packages.conftest import Registries
from tests.packages.languages import JS, LANGUAGES, PLACES, PYTHON, RUBY, Language, Place
from tests.packages.packagers import OLDER
from tests.packages.roots import Root

Enter = Callable[[Place], Root]
Change = Callable[[bytes], bytes]

PLUGIN = "opencl"
# The place in which each language is tested: the first with it.
PLACE_OF = {place.language.name: place for place in reversed(PLACES)}
# The library that all front ends load, by the end of its path.
LIBRARY = "liboneflow.so.0"
# The library that the plugin is linked with.
DRIVER = Path("/usr/lib/x86_64-linux-gnu/libOpenCL.so.1")


@dataclass(frozen=True)
class Broken:
    """What to break of a language's packages, and what users are told then."""

    language: Language
    # The package with binaries and its file in the registry; what is said when the file is not what was published.
    package: str
    published: str
    refusal: str
    load: str
    # How to install again, which the messages about a broken installation end with.
    again: str
    # Makes a package for another processor from one for this; what the package manager says when it is the only one.
    retag: Callable[[Path, Path], Path]
    unsuitable: str


def python_package_for_arm(package: Path, folder: Path) -> Path:
    """Copies a wheel under the name of one for another processor."""
    return Path(shutil.copy(package, folder / package.name.replace("x86_64", "aarch64")))


def rewritten(package: Path, made: Path, member: str, change: Change) -> Path:
    """Copies a tarball with one changed member. A gem has no checksums then, which RubyGems does without."""
    with tarfile.open(package) as source, tarfile.open(made, "w:gz" if made.suffix == ".tgz" else "w") as target:
        for info in source:
            read = source.extractfile(info)
            data = read.read() if read else b""
            if info.name == "checksums.yaml.gz":
                continue
            if info.name == member:
                data = change(data)
                info.size = len(data)
            target.addfile(info, io.BytesIO(data))
    return made


def js_package_for_arm(package: Path, folder: Path) -> Path:
    """Copies an npm package, and has it ask for another processor."""
    made = folder / package.name.replace("x64", "arm64")
    return rewritten(
        package,
        made,
        "package/package.json",
        lambda data: json.dumps(json.loads(data) | {"cpu": ["arm64"]}).encode(),
    )


def ruby_package_for_arm(package: Path, folder: Path) -> Path:
    """Copies a gem, and has it ask for another processor."""
    made = folder / package.name.replace("x86_64", "aarch64")
    change = lambda data: gzip.compress(gzip.decompress(data).replace(b"x86_64", b"aarch64"))  # noqa: E731
    return rewritten(package, made, "metadata.gz", change)


BROKEN = (
    Broken(
        PYTHON,
        package="oneflow-py",
        published="pool/oneflow_py-{version}-cp311-*.whl",
        refusal="DO NOT MATCH THE HASHES",
        load="python -c 'import oneflow_py'",
        again="python -m pip install --force-reinstall oneflow-py",
        retag=python_package_for_arm,
        unsuitable="No matching distribution found",
    ),
    Broken(
        JS,
        package="@oneflow-js/linux-x64-gnu",
        published="storage/@oneflow-js/linux-x64-gnu/*-{version}.tgz",
        refusal="seems to be corrupted",
        load="node -e 'require(\"oneflow-js\")'",
        again="npm install @oneflow-js/linux-x64-gnu@{version}",
        retag=js_package_for_arm,
        unsuitable="EBADPLATFORM",
    ),
    Broken(
        RUBY,
        package="oneflow-rb",
        published="gems/oneflow-rb-{version}-*.gem",
        refusal="Exception while verifying",
        load="ruby -e 'require \"oneflow\"'",
        again="gem install oneflow-rb --force",
        retag=ruby_package_for_arm,
        unsuitable="Could not find a valid gem 'oneflow-rb'",
    ),
)
each_language = pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.language.name)


@contextmanager
def changed(file: Path, change: Change) -> Iterator[None]:
    """Changes the bytes of a file for a while."""
    before = file.read_bytes()
    file.write_bytes(change(before))
    try:
        yield
    finally:
        file.write_bytes(before)


def damage(data: bytes) -> bytes:
    """Changes a byte in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


def truncate(data: bytes) -> bytes:
    """Drops the second half."""
    return data[: len(data) // 2]


def install(root: Root, language: Language, version: str, package: str = "", **options: bool | None) -> str:
    """Installs a version of a package, by default that of the language, and returns what the package manager prints."""
    command = language.install_version.format(package=package or language.package, version=version)
    return root.run(command, **options).output


@each_language
@pytest.mark.parametrize("change", [damage, truncate])
def test_a_package_that_is_not_what_was_published(
    enter: Enter, registries: Registries, version: str, broken: Broken, change: Change
) -> None:
    language = broken.language
    root = enter(PLACE_OF[language.name])
    (package,) = registries.folder(language).glob(broken.published.format(version=version))
    with changed(package, change):
        # npm leaves out an optional dependency that it cannot install: the error comes when it is missing.
        assert broken.refusal in install(root, language, version, fails=None)
    root.run(broken.load, fails=True)


@each_language
def test_a_library_that_is_truncated_or_missing(enter: Enter, version: str, broken: Broken) -> None:
    root = enter(PLACE_OF[broken.language.name])
    install(root, broken.language, version)
    (library,) = (root.path(name) for name in root.files() if name.endswith(LIBRARY))
    for break_it in (lambda: library.write_bytes(truncate(library.read_bytes())), library.unlink):
        break_it()
        said = root.run(broken.load, fails=True).output
        assert "cannot be loaded" in said
        assert LIBRARY in said
        assert broken.again.format(version=version) in said


@each_language
def test_a_package_for_another_processor(
    enter: Enter, registries: Registries, version: str, broken: Broken, tmp_path: Path
) -> None:
    language = broken.language
    (package,) = registries.folder(language).glob(broken.published.format(version=version))
    made = broken.retag(package, tmp_path)
    with language.registry([made], tmp_path / "registry") as address:
        root = PLACE_OF[language.name].root(enter(PLACE_OF[language.name]).folder, address)
        assert broken.unsuitable in install(root, language, version, broken.package, fails=True)


def test_npm_without_optional_dependencies(enter: Enter, version: str) -> None:
    root = enter(PLACE_OF["js"])
    root.run("npm install --omit=optional oneflow-js")
    said = root.run("node -e 'require(\"oneflow-js\")'", fails=True).output
    assert "the package @oneflow-js/linux-x64-gnu is not installed" in said
    assert f"npm install @oneflow-js/linux-x64-gnu@{version}" in said


def test_pip_installs_plugins_of_the_same_version_alone(enter: Enter, version: str) -> None:
    root = enter(PLACE_OF["python"])
    said = root.run(f"pip install oneflow-py=={version} oneflow-py-{PLUGIN}=={OLDER}", fails=True).output
    assert f"oneflow-py-{PLUGIN} {OLDER} depends on oneflow-py=={OLDER}" in said


def test_npm_installs_plugins_of_the_same_version_alone(enter: Enter, version: str) -> None:
    root = enter(PLACE_OF["js"])
    install(root, JS, version)
    plugin = JS.plugin.format(device=PLUGIN)
    said = install(root, JS, OLDER, plugin, fails=True)
    assert f'peerOptional {plugin}@"{version}" from oneflow-js@{version}' in said


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_a_plugin_of_another_version(enter: Enter, language: Language, version: str) -> None:
    root = enter(PLACE_OF[language.name])
    shutil.copy(DRIVER, root.path(str(DRIVER)))
    install(root, language, version)
    root.run(language.install_alone.format(package=language.plugin.format(device=PLUGIN), version=OLDER))
    said = root.run(language.plugins).output
    assert f"it belongs to version {OLDER} of the runtime, and this is version {version}; install both" in said
