"""Renders targets, and writes the files that changed.

A manifest under `codegen/generated/` records which target wrote which file, with hashes of the inputs and the outputs.
With it, a run without changes is cheap, outputs that were edited by hand are detected, and files that a target no
longer generates are removed.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codegen.definitions import Definitions
from codegen.errors import TargetError
from codegen.target import Output, Target
from codegen.templates import MARK


def digest(data: bytes) -> str:
    """Returns the hash of a file's content."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# ------------------------------------------------------------------------------------------------ the manifest


@dataclass
class Manifest:
    """The inputs and outputs of the last run."""

    path: Path
    inputs: str = ""  # the hash of all inputs; empty if the run was not complete
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)  # {target: {path: hash}}

    @staticmethod
    def read(root: Path) -> Manifest:
        """Reads the manifest of a repository; returns an empty one if it is missing or damaged."""
        path = root / "codegen" / "generated" / "manifest.json"
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return Manifest(path, content["inputs"], content["outputs"])
        except (OSError, ValueError, KeyError, TypeError):
            return Manifest(path)

    def write(self) -> None:
        """Writes the manifest to its file."""
        content = {"inputs": self.inputs, "outputs": self.outputs}
        replace_text(self.path, json.dumps(content, indent=1, sort_keys=True) + "\n")

    def is_current(self, root: Path, inputs: str) -> bool:
        """Returns whether no input and no output has changed since the last run."""
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
    """Returns a hash of the definitions and of the generator's own files."""
    whole = hashlib.blake2b(digest_size=16)
    files = [(path, root) for path in sorted((root / "opdefs").rglob("*.yaml"))]
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(f for f in folders if f not in ("__pycache__", "generated"))
        files += [(Path(folder, name), package) for name in sorted(names) if not name.endswith(".pyc")]
    for file, base in files:
        whole.update(f"{file.relative_to(base)}\0{file.stat().st_size}\0".encode())
        whole.update(file.read_bytes())
    return whole.hexdigest()


# ------------------------------------------------------------------------------------------------ files


@dataclass(frozen=True)
class Change:
    """A difference between a file and its generated text."""

    path: str
    found: str | None  # None: the file does not exist
    wanted: str | None  # None: the file should not exist

    @property
    def word(self) -> str:
        """Returns "missing", "superfluous" or "stale"."""
        return "missing" if self.found is None else "superfluous" if self.wanted is None else "stale"

    def diff(self) -> str:
        """Returns a unified diff from the file to its generated text."""
        lines = difflib.unified_diff(
            (self.found or "").splitlines(keepends=True),
            (self.wanted or "").splitlines(keepends=True),
            self.path,
            f"{self.path} ({self.word})",
        )
        return "".join(lines)


def render(target: Target, definitions: Definitions) -> dict[str, str]:
    """Returns the files of a target, {path: text}. Raises TargetError if a file breaks a rule or is yielded twice."""
    files: dict[str, str] = {}
    for output in target.outputs(definitions):
        _check(output, target)
        if output.path in files:
            raise TargetError(f"{target.name}: {output.path} is generated twice")
        files[output.path] = output.text
    return files


def _check(output: Output, target: Target) -> None:
    first, _, _ = output.text.partition("\n")
    if MARK not in first:
        raise TargetError(f"{target.name}: the first line of {output.path} must say '... {MARK}', got '{first}'")
    if "generated" not in output.path.split("/") or ".." in output.path or output.path.startswith("/"):
        raise TargetError(f"{target.name}: {output.path} is not in a folder 'generated'")
    if not output.text.endswith("\n"):
        raise TargetError(f"{target.name}: {output.path} does not end with a newline")


def changes(root: Path, wanted: Mapping[str, str], earlier: Iterable[str]) -> list[Change]:
    """Returns the changes after which the files in `wanted` are up to date, and other files in `earlier` are gone."""
    found = []
    for path, text in sorted(wanted.items()):
        current = read_text(root / path)
        if current != text:
            found.append(Change(path, current, text))
    for path in sorted(set(earlier) - wanted.keys()):
        current = read_text(root / path)
        if current is not None:
            found.append(Change(path, current, None))
    return found


def orphans(root: Path, wanted: Collection[str]) -> list[Change]:
    """Returns removals of generated files in the folders of `wanted` that are not wanted and not in the manifest."""
    found = []
    folders = {path.partition("/generated/")[0] + "/generated" for path in wanted}
    for folder in sorted(folders):
        for path in sorted(each for each in (root / folder).rglob("*") if each.is_file()):
            name = path.relative_to(root).as_posix()
            if name not in wanted and MARK in (text := read_text(path) or "").partition("\n")[0]:
                found.append(Change(name, text, None))
    return found


def apply(root: Path, change: Change) -> None:
    """Writes or removes the file of a change."""
    path = root / change.path
    if change.wanted is None:
        path.unlink(missing_ok=True)
    else:
        replace_text(path, change.wanted)


def read_text(path: Path) -> str | None:
    """Returns the text of a file, without translation of line ends, or None if it does not exist."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None


def replace_text(path: Path, text: str) -> None:
    """Replaces a file atomically, so that no other process reads a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(text.encode())
    os.replace(temporary, path)
