"""Reads third_party.yaml: which software of others the packages contain, in which version, under which licence."""

from __future__ import annotations

import fnmatch
import importlib.metadata
import json
import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("third_party.yaml")
NODE_MODULES = ROOT / "bindings/js/node_modules"


@dataclass(frozen=True)
class Software:
    """Software of others that packages contain."""

    name: str
    version: str
    licence: str
    url: str
    text: str
    inside: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """What is known of an installed package."""

    version: str
    text: str = ""
    folder: Path | None = None


def debian(name: str) -> Source | None:
    """Describes a Debian package. The version is that of its authors, without Debian's additions."""
    asked = subprocess.run(["dpkg-query", "-W", "-f=${Version}", name], capture_output=True, text=True, check=False)
    if asked.returncode:
        return None
    version = re.sub(r"^\d+:|[+.~]?dfsg.*$|-[^-]*$", "", asked.stdout)
    return Source(version, Path("/usr/share/doc", name, "copyright").read_text(encoding="utf-8"))


def npm(name: str) -> Source | None:
    """Describes an npm package that the Node.js front end has installed."""
    folder = NODE_MODULES / name
    if not folder.is_dir():
        return None
    version = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]
    return Source(version, next(folder.glob("LICENSE*")).read_text(encoding="utf-8"), folder)


def python(name: str) -> Source | None:
    """Describes a Python package of this environment."""
    try:
        installed = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    texts = [str(path.locate()) for path in installed.files or () if path.name.startswith("LICENSE")]
    return Source(installed.version, Path(texts[0]).read_text(encoding="utf-8"), Path(str(installed.locate_file(""))))


def program(name: str) -> Source | None:
    """Describes a program, by the version that it prints."""
    try:
        printed = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        return None
    return Source(re.findall(r"\bV?(\d+\.\d[\d.]*)", printed)[-1])


SOURCES: dict[str, Callable[[str], Source | None]] = {
    function.__name__: function for function in (debian, npm, python, program)
}


def source_of(entry: dict[str, Any], entries: dict[str, dict[str, Any]]) -> Source | None:
    """Returns the source of an entry, which may be that of the entry it came with."""
    if "part_of" in entry:
        return source_of(entries[entry["part_of"]], entries)
    ((kind, name),) = entry["from"].items()
    return SOURCES[kind](name)


def table() -> dict[str, Any]:
    """Returns the table as it is written."""
    read: dict[str, Any] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return read


def inside(names: Iterable[str]) -> set[str]:
    """Returns the parts of the payload in a package, by the names of its files."""
    found = {PurePath(name).name for name in names}
    return {part for part, pattern in table()["parts"].items() if fnmatch.filter(found, pattern)}


def software() -> list[Software]:
    """Returns what the packages of this machine contain."""
    entries = {entry["name"]: entry for entry in table()["software"]}
    found = []
    for name, entry in entries.items():
        source = source_of(entry, entries)
        if source is None:
            continue
        text = entry.get("text", source.text)
        if "file" in entry:
            assert source.folder, f"{name}: its source has no folder"
            text = first_comment((source.folder / entry["file"]).read_text(encoding="utf-8"))
        version = "" if "part_of" in entry else source.version
        found.append(Software(name, version, entry["licence"], entry["url"], text.strip(), tuple(entry["inside"])))
    return found


def first_comment(code: str) -> str:
    """Returns the text of the first comment of a C++ file, which is its licence."""
    comment = re.search(r"/\*\*?(.*?)\*/", code, re.DOTALL)
    assert comment
    return re.sub(r"^ \* ?", "", comment[1], flags=re.MULTILINE)
