"""Runs oneflow-run with small programs, and checks after each test that it has left nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
# A busy machine may take this long for anything.
PATIENCE = 60


def restore_signals() -> None:
    """Undoes what a shell in the background of a script has set: that its programs ignore interrupts."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "this does not happen"
        time.sleep(0.01)


class Launcher:
    """oneflow-run, with a folder of its own for temporary files."""

    program = os.environ.get("ONEFLOW_RUN", str(BUILD / "lib" / "oneflow-run"))

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        # What the tests find their processes by.
        self.mark = f"ONEFLOW_TEST={folder}"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ONEFLOW_")}
        self.environment = {**inherited, "TMPDIR": str(self.temporary), "ONEFLOW_TEST": str(folder)}

    def start(self, *arguments: str, **options: object) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        settings = {"text": True, "cwd": self.folder, "env": self.environment, "preexec_fn": restore_signals}
        command = [self.program, *arguments]
        return subprocess.Popen(command, **{**pipes, **settings, **options})  # type: ignore[call-overload, no-any-return]

    def run(self, *arguments: str, input: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs it to its end, with `input` as standard input."""
        source = subprocess.DEVNULL if input is None else subprocess.PIPE
        with self.start(*arguments, stdin=source, env={**self.environment, **variables}) as process:
            try:
                out, err = process.communicate(input, timeout=PATIENCE)
            finally:
                process.kill()
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def processes(self) -> list[int]:
        """Returns the processes of the test that run, oneflow-run and its helpers included."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                is_own = self.mark in (folder / "environ").read_bytes().decode(errors="replace").split("\0")
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if is_own and state != "Z":
                found.append(int(folder.name))
        return found

    def script(self, text: str, name: str = "program.py") -> list[str]:
        """Writes a program in Python, and returns its command line."""
        path = self.folder / name
        path.write_text(text)
        return [sys.executable, str(path)]


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    launcher = Launcher(tmp_path)
    yield launcher
    wait_until(lambda: not launcher.processes())
    wait_until(lambda: not list(launcher.temporary.iterdir()))


@pytest.fixture
def remote_shell(tmp_path: Path) -> str:
    """Returns a remote shell that runs the command on this host, with a bare environment and the host in $HOST."""
    shell = tmp_path / "shell"
    shell.write_text(
        "#!/bin/sh\n"
        'echo "welcome to $1"\n'
        'exec env -i PATH="$PATH" TMPDIR="$TMPDIR" ONEFLOW_TEST="$ONEFLOW_TEST" HOST="$1" sh -c "cd / && $2"\n'
    )
    shell.chmod(0o755)
    return str(shell)
