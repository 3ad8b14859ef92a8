"""What a target's files are, and writing of those that changed.

A manifest under `codegen/generated/` remembers which target wrote which file, with hashes of what went in and what
came out. It makes a run without changes cheap, notices outputs that were edited by hand, and tells which files of a
target are no longer wanted.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codegen.errors import TargetError
from codegen.language import Language, Output
from codegen.model import Definitions
from codegen.templates import MARK


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# ------------------------------------------------------------------------------------------------ the manifest


@dataclass
class Manifest:
    """What the last run read and wrote: {target: {path: hash}}."""

    path: Path
    inputs: str = ""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    @staticmethod
    def read(root: Path) -> Manifest:
        path = root / "codegen" / "generated" / "manifest.json"
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return Manifest(path, content["inputs"], content["outputs"])
        except (OSError, ValueError, KeyError, TypeError):
            return Manifest(path)

    def write(self) -> None:
        content = {"inputs": self.inputs, "outputs": self.outputs}
        replace_text(self.path, json.dumps(content, indent=1, sort_keys=True) + "\n")

    def is_current(self, root: Path, inputs: str) -> bool:
        """Whether nothing that went in, and nothing that came out, has changed since."""
        if self.inputs != inputs:
            return False
        try:
            return all(
                digest((root / path).read_bytes()) == expected
                for files in self.outputs.values()
                for path, expected in files.items()
            )
        except OSError:
            return False


def fingerprint(root: Path, package: Path) -> str:
    """A hash over the definitions and the generator itself."""
    whole = hashlib.blake2b(digest_size=16)
    files = [(path, root) for path in sorted((root / "opdefs").glob("*.yaml"))]
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(f for f in folders if f not in ("__pycache__", "generated"))
        files += [(Path(folder, name), package) for name in sorted(names) if not name.endswith(".pyc")]
    for file, base in files:
        whole.update(f"{file.relative_to(base)}\0{file.stat().st_size}\0".encode())
        whole.update(file.read_bytes())
    return whole.hexdigest()


# ------------------------------------------------------------------------------------------------ what to do


@dataclass(frozen=True)
class Change:
    """One file that is not as it should be; `wanted` is None for one that should not be there."""

    path: str
    found: str | None
    wanted: str | None

    @property
    def word(self) -> str:
        return "missing" if self.found is None else "superfluous" if self.wanted is None else "stale"

    def diff(self) -> str:
        """Unified, from what is there to what should be."""
        lines = difflib.unified_diff(
            (self.found or "").splitlines(keepends=True),
            (self.wanted or "").splitlines(keepends=True),
            self.path,
            f"{self.path} ({self.word})",
        )
        return "".join(lines)


def render(language: Language, definitions: Definitions) -> dict[str, str]:
    """All files of a target by path. Raises TargetError for one without its first line, or one made twice."""
    files: dict[str, str] = {}
    for output in language.outputs(definitions):
        _check(output, language)
        if output.path in files:
            raise TargetError(f"{language.name}: {output.path} is made twice")
        files[output.path] = output.text
    return files


def _check(output: Output, language: Language) -> None:
    first, _, _ = output.text.partition("\n")
    if MARK not in first:
        raise TargetError(f"{language.name}: the first line of {output.path} must say '... {MARK}', got '{first}'")
    if "generated" not in output.path.split("/") or ".." in output.path or output.path.startswith("/"):
        raise TargetError(f"{language.name}: {output.path} is not in a folder 'generated'")
    if not output.text.endswith("\n"):
        raise TargetError(f"{language.name}: {output.path} does not end with a line end")


def changes(root: Path, wanted: Mapping[str, str], earlier: Iterable[str]) -> list[Change]:
    """What has to change so that exactly `wanted` is there, of the wanted and the earlier files."""
    found = []
    for path, text in sorted(wanted.items()):
        there = read_text(root / path)
        if there != text:
            found.append(Change(path, there, text))
    for path in sorted(set(earlier) - wanted.keys()):
        there = read_text(root / path)
        if there is not None:
            found.append(Change(path, there, None))
    return found


def orphans(root: Path, wanted: Collection[str]) -> list[Change]:
    """Files that an earlier run made and nothing remembers, in the folders of the wanted ones."""
    found = []
    folders = {path.partition("/generated/")[0] + "/generated" for path in wanted}
    for folder in sorted(folders):
        for path in sorted(each for each in (root / folder).rglob("*") if each.is_file()):
            name = path.relative_to(root).as_posix()
            if name not in wanted and MARK in (text := read_text(path) or "").partition("\n")[0]:
                found.append(Change(name, text, None))
    return found


def apply(root: Path, change: Change) -> None:
    path = root / change.path
    if change.wanted is None:
        path.unlink(missing_ok=True)
    else:
        replace_text(path, change.wanted)


def read_text(path: Path) -> str | None:
    """What is there, to the byte: no line end is translated."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None


def replace_text(path: Path, text: str) -> None:
    """Writes a whole file at once, so that nobody reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(text.encode())
    os.replace(temporary, path)
