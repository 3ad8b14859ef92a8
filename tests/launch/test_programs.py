"""What oneflow-run does for programs that start ranks by it: reports, and jobs whose ranks they fork themselves."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.launch.conftest import Launcher, wait_until


def test_a_failure_is_reported_to_a_descriptor(launcher: Launcher) -> None:
    reader, writer = os.pipe()
    script = "test $ONEFLOW_RANK = 1 && exit 7; exec sleep 100"
    options = {"pass_fds": [writer], "close_fds": True}
    with launcher.start("-n", "2", "--report", str(writer), "sh", "-c", script, **options) as process:
        os.close(writer)
        with os.fdopen(reader) as reports:
            assert reports.read() == "1 ended with exit status 7\n"
        assert process.stderr
        assert process.stderr.read() == ""
        assert process.wait() == 7


def test_a_descriptor_that_is_not_open(launcher: Launcher) -> None:
    done = launcher.run("--report", "999", "true")
    assert (done.returncode, done.stderr) == (1, "oneflow-run: --report: descriptor 999: Bad file descriptor\n")


def test_a_job_is_held_for_a_program_that_forks(launcher: Launcher) -> None:
    with launcher.start("-n", "2", "--hold", stdin=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        ranks: list[dict[str, str | None]] = [{}, {}]
        for rank in ranks:
            while variable := _until_null(process.stdout.fileno()):
                name, equals, value = variable.partition("=")
                rank[name] = value if equals else None
        assert [rank["ONEFLOW_RANK"] for rank in ranks] == ["0", "1"]
        assert ranks[0]["ONEFLOW_MEETING"] == ranks[1]["ONEFLOW_MEETING"]
        assert ranks[0]["ONEFLOW_LISTEN"] is None
        folder = Path((ranks[0]["ONEFLOW_MEETING"] or "").removeprefix("file:"))
        assert folder.is_dir()
        sleeper = subprocess.Popen(["sleep", "100"], process_group=0)
        process.stdin.write(f"{sleeper.pid}\n")
        process.stdin.close()
        assert sleeper.wait() == -9
        assert process.wait() == 0
        assert not folder.exists()


def test_what_is_held_ends_with_the_launcher(launcher: Launcher) -> None:
    with launcher.start("-n", "1", "--hold", stdin=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        while _until_null(process.stdout.fileno()):
            pass
        (folder,) = launcher.temporary.iterdir()
        process.kill()
        wait_until(lambda: not folder.exists())


def test_what_is_no_process(launcher: Launcher) -> None:
    for text in ("x", "1", "-5"):
        done = launcher.run("-n", "1", "--hold", input=f"{text}\n")
        assert (done.returncode, done.stderr) == (1, f"oneflow-run: there is no process '{text}'\n")


def _until_null(descriptor: int) -> str:
    """Returns what comes before the next null byte."""
    found = b""
    while (byte := os.read(descriptor, 1)) != b"\0":
        assert byte
        found += byte
    return found.decode()
