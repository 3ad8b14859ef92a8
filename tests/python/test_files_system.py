"""Tests what the system does to files: missing ones, permissions, full disks, and processes that are killed."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import oneflow_py as flow
from tests.python.support import raises

NOBODY = 65534


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def save(path: str) -> None:
    flow.save(flow.ones(2), path)


def in_child(program: str, user: int | None = None) -> str:
    """Runs a program in a process of its own, and returns what it prints."""
    start = "import os, sys\nimport oneflow_py as flow\n"
    if user is not None and os.geteuid() == 0:
        start += f"os.setgid({user}); os.setuid({user})\n"
    done = subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ------------------------------------------------------------------------------------------------ paths


def test_missing_files_and_folders() -> None:
    raises(flow.FileError, "load: 'a.npy' cannot be opened: No such file or directory", lambda: flow.load("a.npy"))
    raises(flow.FileError, "save: 'b/a.npy' cannot be written: No such file or directory", lambda: save("b/a.npy"))
    Path("file").touch()
    raises(flow.FileError, "save: 'file/a.npy' cannot be written: Not a directory", lambda: save("file/a.npy"))
    long = "x" * 300 + ".npy"
    with pytest.raises(flow.FileError, match="cannot be opened: File name too long"):
        flow.load(long)
    with pytest.raises(flow.FileError, match="cannot be written: File name too long"):
        save(long)
    assert os.listdir() == ["file"]


def test_what_is_no_file() -> None:
    Path("folder.npy").mkdir()
    raises(flow.FileError, "load: 'folder.npy' cannot be opened: it is a directory", lambda: flow.load("folder.npy"))
    raises(flow.FileError, "save: 'folder.npy' cannot be written: it is a directory", lambda: save("folder.npy"))
    os.mkfifo("pipe.npy")
    raises(flow.FileError, "load: 'pipe.npy' cannot be opened: it is not a regular file", lambda: flow.load("pipe.npy"))
    raises(flow.FileError, "save: 'pipe.npy' cannot be written: it is not a regular file", lambda: save("pipe.npy"))


def test_links() -> None:
    Path("real").mkdir()
    os.symlink("real/a.npy", "link.npy")
    save("real/a.npy")
    flow.save(flow.zeros(3), "link.npy")
    assert os.path.islink("link.npy")
    assert flow.load("real/a.npy").tolist() == [0, 0, 0]
    os.symlink("loop.npy", "loop.npy")
    with pytest.raises(flow.FileError, match="Too many levels of symbolic links"):
        flow.load("loop.npy")


def test_modes() -> None:
    before = os.umask(0o027)
    try:
        save("a.npy")
        assert stat.S_IMODE(os.stat("a.npy").st_mode) == 0o640
        os.chmod("a.npy", 0o604)
        save("a.npy")
        assert stat.S_IMODE(os.stat("a.npy").st_mode) == 0o604
    finally:
        os.umask(before)


TRY = """
os.chdir({folder!r})
for call in (lambda: flow.load("secret.npy"), lambda: flow.save(flow.zeros(1), "frozen.npy"),
             lambda: flow.save(flow.zeros(1), "closed/a.npy")):
    try:
        call()
    except flow.FileError as error:
        print(error)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Returns a folder that every user can enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


def test_permissions(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(open_folder)
    save("secret.npy")
    os.chmod("secret.npy", 0)
    save("frozen.npy")
    os.chmod("frozen.npy", 0o444)
    Path("closed").mkdir(mode=0o555)
    assert in_child(TRY.format(folder=str(open_folder)), user=NOBODY).splitlines() == [
        "load: 'secret.npy' cannot be opened: Permission denied",
        "save: 'frozen.npy' cannot be written: Permission denied",
        "save: 'closed/a.npy' cannot be written: Permission denied",
    ]
    assert flow.load("frozen.npy").tolist() == [1, 1]


# ------------------------------------------------------------------------------------------------ interrupted writes


@pytest.mark.parametrize("path", ["a.npy", "a.npz", "a.safetensors"])
def test_a_full_disk_leaves_the_old_file(path: str) -> None:
    """The limit of file sizes stands for the full disk. Its signal must not end the process either."""
    save(path)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        raises(
            flow.FileError,
            f"save: '{path}' cannot be written: File too large",
            lambda: flow.save(flow.ones(10**6), path),
        )
        save("small.npy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert flow.load(path).tolist() == [1, 1]
    assert sorted(os.listdir()) == sorted([path, "small.npy"])


WRITE = """
x = flow.full([2_000_000], int(sys.argv[1]) if len(sys.argv) > 1 else 2)
print("ready", flush=True)
while True:
    flow.save({"x": x, "y": x}, "a.safetensors")
    x = x + 1
"""


def test_killed_while_writing() -> None:
    """Whenever the process is killed, the file is a complete one."""
    flow.save({"x": flow.ones(1), "y": flow.ones(1)}, "a.safetensors")
    for delay in (0.0, 0.004, 0.011, 0.03, 0.05, 0.08):
        command = [sys.executable, "-c", "import sys\nimport oneflow_py as flow\n" + WRITE]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(delay)
            writer.kill()
        found = flow.load("a.safetensors")
        assert found["x"].equal(found["y"])
        assert (found["x"] == found["x"][0]).all().item()


def test_a_file_that_becomes_shorter_is_an_error() -> None:
    flow.save({"x": flow.ones(100_000), "y": flow.ones(100_000)}, "a.safetensors")
    with flow.open_file("a.safetensors") as file:
        os.truncate("a.safetensors", 1000)
        raises(
            flow.FileError,
            "read: 'a.safetensors' has become shorter while it was read",
            lambda: file.read("x", mmap=False),
        )


def test_forked_children() -> None:
    flow.save({"x": flow.arange(5)}, "a.npz")
    with flow.open_file("a.npz") as file:
        x = file["x"]
        child = os.fork()
        if child == 0:
            os._exit(0 if file["x"].tolist() == x.tolist() == [0, 1, 2, 3, 4] else 1)
        assert os.waitpid(child, 0)[1] == 0
