"""A rank that fails ends the job, and its exit status is that of the job."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.launch.conftest import Launcher, wait_until


def test_the_exit_status_is_that_of_the_rank(launcher: Launcher) -> None:
    done = launcher.run("-n", "3", "sh", "-c", "test $ONEFLOW_RANK = 1 && exit 7; sleep 100")
    assert done.returncode == 7
    (line,) = done.stderr.splitlines()
    assert line.startswith("oneflow-run: rank 1 (sh -c test $ONEFLOW_RANK = 1 && exit 7; sleep 100, process ")
    assert line.endswith(") ended with exit status 7")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_rank_that_is_killed(launcher: Launcher, number: signal.Signals) -> None:
    done = launcher.run("-n", "2", "sh", "-c", f"test $ONEFLOW_RANK = 1 && kill -{number:d} $$; exec sleep 100")
    assert done.returncode == 128 + number
    (line,) = done.stderr.splitlines()
    assert f") was killed by signal {number:d} ({signal.strsignal(number)})" in line


def test_ranks_that_end_early_are_no_failure(launcher: Launcher) -> None:
    done = launcher.run("-n", "3", "sh", "-c", "test $ONEFLOW_RANK = 0 && sleep 0.2; exit 0")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("program", "status", "text"), [("nowhere", 127, "No such file or directory"), ("/etc", 126, "Permission denied")]
)
def test_a_program_that_cannot_be_started(launcher: Launcher, program: str, status: int, text: str) -> None:
    done = launcher.run("-n", "2", "--restarts", "3", "sleep", "100", ":", program)
    assert done.returncode == status
    assert done.stderr == f"oneflow-run: rank 2 ({program}) cannot be started: {text}\n"


def test_others_may_write_their_errors(launcher: Launcher) -> None:
    text = """
import os, signal, sys, time
open(os.environ["ONEFLOW_RANK"], "w").close()
if os.environ["ONEFLOW_RANK"] == "0":
    while not os.path.exists("ready"): time.sleep(0.01)
    sys.exit("broken")
def end(*_):
    print("the others have gone", file=sys.stderr)
    sys.exit(9)
signal.signal(signal.SIGTERM, end)
open("ready", "w").close()
time.sleep(100)
"""
    done = launcher.run("-n", "2", *launcher.script(text))
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "[0] broken"  # before the line that reports it
    assert "rank 0" in lines[1]
    assert lines[2] == "[1] the others have gone"


def test_a_rank_that_ignores_to_be_ended_is_killed(launcher: Launcher) -> None:
    start = time.monotonic()
    program = (
        "trap '' TERM; touch $ONEFLOW_RANK; while [ ! -e 1 ]; do sleep 0.01; done; test $ONEFLOW_RANK = 0 && exit 3"
    )
    done = launcher.run("-n", "2", "sh", "-c", f"{program}; while :; do sleep 0.1; done")
    assert done.returncode == 3
    assert time.monotonic() - start < 30


def test_programs_that_a_rank_has_started_end_too(launcher: Launcher, tmp_path: Path) -> None:
    """The fixture looks for them."""
    assert launcher.run("-n", "2", "sh", "-c", "sleep 1000 & sleep 1000 & exit 0").returncode == 0
    assert launcher.run("-n", "2", "sh", "-c", "sleep 1000 & exit 1").returncode == 1


def test_a_rank_that_is_stopped_ends(launcher: Launcher) -> None:
    program = (
        "touch $ONEFLOW_RANK; test $ONEFLOW_RANK = 0 && kill -STOP $$; while [ ! -e 0 ]; do sleep 0.01; done; exit 4"
    )
    assert launcher.run("-n", "2", "--grace", "100", "sh", "-c", program).returncode == 4


def test_restarts(launcher: Launcher, tmp_path: Path) -> None:
    program = 'echo "$ONEFLOW_MEETING $ONEFLOW_SECRET $ONEFLOW_RESTART"; test $ONEFLOW_RESTART = 2 || exit 5'
    done = launcher.run("-n", "1", "--restarts", "3", "--output", "logs", "sh", "-c", program)
    assert done.returncode == 0
    meetings, secrets, restarts = zip(*(line.split() for line in done.stdout.splitlines()), strict=True)
    assert restarts == ("0", "1", "2")
    assert len(set(meetings)) == len(set(secrets)) == 3
    said = [line for line in done.stderr.splitlines() if "again" in line]
    assert said == [f"oneflow-run: the job is started again: restart {number} of 3" for number in (1, 2)]
    assert (tmp_path / "logs" / "rank-0.out").read_text() == done.stdout

    done = launcher.run("-n", "2", "--restarts", "1", "false")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 3


def test_the_launcher_is_killed(launcher: Launcher, tmp_path: Path) -> None:
    """The ranks end, and what they have started; the meeting folder is removed. The fixture waits for that."""
    with launcher.start("-n", "2", "sh", "-c", "sleep 1000 & touch $ONEFLOW_RANK; sleep 1000") as process:
        wait_until(lambda: all((tmp_path / rank).exists() for rank in "01"))
        assert len(list(launcher.temporary.iterdir())) == 1
        process.kill()
        assert process.wait() == -signal.SIGKILL


def test_the_launcher_is_killed_while_it_starts_ranks(launcher: Launcher) -> None:
    """A rank that had just begun could start a program before its process group was known to whoever ends it."""
    for attempt in range(15):
        with launcher.start("-n", "12", "sh", "-c", "sleep 1000 & sleep 1000") as process:
            time.sleep(0.004 * attempt)
            process.kill()
