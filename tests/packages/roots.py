"""Makes bare roots: folders with a minimal Debian system and the runtime of one language, which are entered by chroot.

A root is made once, in build/roots; each test has a layer over it, which is thrown away. Inside, only the loopback
interface can be reached by name: the root has no name servers.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = REPOSITORY / "build/roots"
progress = logging.getLogger("packages")

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Programs see their own processes in /proc, and all of them end with the command.
ENTER = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


@dataclass(frozen=True)
class Recipe:
    """Says what a root holds: a Debian release, packages, copied files, and what one command prepares."""

    name: str
    suite: str
    packages: tuple[str, ...] = ()
    copied: dict[Path, str] = field(default_factory=dict, hash=False)
    prepare: str = ""
    parent: Recipe | None = None

    @property
    def text(self) -> str:
        """Returns what the root is made from: a cached root of another text is made again."""
        return "\n".join([self.suite, *self.packages, *map(str, self.copied.items()), self.prepare])


@dataclass(frozen=True)
class Finished:
    """What a command printed, and how it ended."""

    command: str
    status: int
    output: str
    seconds: float


@dataclass(frozen=True)
class Root:
    """A folder with a Debian system."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    start: str = "/root"

    def run(self, command: str, *, fails: bool | None = False) -> Finished:
        """Runs a shell command and returns what it printed. It must succeed, or fail if `fails`, or either if None."""
        settings = {"HOME": "/root", "LANG": "C.UTF-8", "PATH": SEARCH_PATH, **self.environment}
        inside = ["sh", "-c", f"cd {shlex.quote(self.start)} && {command}"]
        started = time.monotonic()
        done = subprocess.run(
            [*ENTER, "--root", str(self.folder), "env", "-i", *(f"{k}={v}" for k, v in settings.items()), *inside],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        finished = Finished(command, done.returncode, done.stdout, time.monotonic() - started)
        if fails not in (None, finished.status != 0):
            raise AssertionError(f"{command}\nended with status {finished.status}, and said:\n{finished.output}")
        return finished

    def path(self, inside: str) -> Path:
        """Returns where a path of the root is outside of it."""
        return self.folder / inside.lstrip("/")

    def write(self, inside: str, text: str) -> None:
        """Writes a file of the root."""
        self.path(inside).parent.mkdir(parents=True, exist_ok=True)
        self.path(inside).write_text(text, encoding="utf-8")

    def files(self) -> Iterator[str]:
        """Lists the files of the root, without temporary ones."""
        for folder, folders, names in os.walk(self.folder):
            if folder == str(self.folder):
                folders[:] = sorted(set(folders) - {"proc", "sys", "tmp", "dev"})
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.folder)

    def size(self, names: Iterable[str]) -> int:
        """Returns how many bytes some files of the root have."""
        return sum(self.path(name).lstat().st_size for name in names)


def mirror() -> str:
    """Returns where this machine gets Debian from."""
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Identifier: Packages", "Label: Debian"]

    def addresses() -> list[str]:
        return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()

    if not addresses():
        # apt knows what its archives are when it has read their lists.
        subprocess.run(["apt-get", "update", "-qq"], check=True)
    return addresses()[0]


def fill(root: Root, recipe: Recipe) -> None:
    """Fills a new root. It has name servers only meanwhile."""
    if recipe.parent:
        copy(cached(recipe.parent), root.folder)
    else:
        made = ["debootstrap", "--variant=minbase", recipe.suite, str(root.folder), mirror()]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    resolver = root.path("/etc/resolv.conf")
    shutil.copy("/etc/resolv.conf", resolver)
    if recipe.packages:
        install = f"apt-get install -y -qq --no-install-recommends {shlex.join(recipe.packages)}"
        root.run(f"apt-get update -qq && DEBIAN_FRONTEND=noninteractive {install} && apt-get clean")
    for source, inside in recipe.copied.items():
        copy(source, root.path(inside))
    if recipe.prepare:
        root.run(recipe.prepare)
    resolver.write_text("")


def cached(recipe: Recipe) -> Path:
    """Returns the root of a recipe in the cache, and makes it first if it is not there."""
    folder = CACHE / recipe.name
    note = CACHE / f"{recipe.name}.recipe"
    if not folder.is_dir() or not note.is_file() or note.read_text() != recipe.text:
        progress.info("making the root %s", recipe.name)
        shutil.rmtree(folder, ignore_errors=True)
        note.unlink(missing_ok=True)
        folder.mkdir(parents=True)
        fill(Root(folder), recipe)
        note.write_text(recipe.text)
    return folder


@contextlib.contextmanager
def layered(folder: Path) -> Iterator[Path]:
    """Yields a folder that looks like another one, which stays as it is when files are written to the first."""
    with tempfile.TemporaryDirectory(prefix="layer-", dir=CACHE) as layer:
        changes, work, merged = (Path(layer, name) for name in ("changes", "work", "merged"))
        for made in (changes, work, merged):
            made.mkdir()
        options = f"lowerdir={folder},upperdir={changes},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, str(merged)], check=True)
        try:
            yield merged
        finally:
            subprocess.run(["umount", "--lazy", str(merged)], check=True)


def copy(source: Path, target: Path) -> None:
    """Copies a folder or a file with owners and links, sharing the blocks where the file system can."""
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--reflink=auto", "-T", str(source), str(target)], check=True)
