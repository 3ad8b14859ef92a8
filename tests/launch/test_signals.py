"""Signals to the launcher reach all ranks."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.launch.conftest import PATIENCE, Launcher, restore_signals, wait_until

# Notes the signals that it gets, and ends after SIGTERM.
NOTE = """
import os, signal, sys, time
rank = os.environ["ONEFLOW_RANK"]
def note(number, _):
    print(signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM: sys.exit(0)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, note)
open("ready-" + rank, "w").close()
while True: time.sleep(0.01)
"""


FOR_EVER = "while :; do sleep 0.1; done"


def started(launcher: Launcher, *command: str, **options: object) -> subprocess.Popen[str]:
    """Starts two ranks, and waits until both are ready."""
    process = launcher.start("-n", "2", *command, **options)
    wait_until(lambda: all((launcher.folder / f"ready-{rank}").exists() for rank in (0, 1)))
    return process


def ready_then(command: str, before: str = "true") -> list[str]:
    """Returns a program that says that it is ready between two commands."""
    return ["sh", "-c", f"{before}; touch ready-$ONEFLOW_RANK; {command}"]


def name_of(process: int) -> str:
    """Returns the name of the program that a process runs; "" if it has ended."""
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


def sleepers(launcher: Launcher) -> list[int]:
    return [pid for pid in launcher.processes() if name_of(pid) == "sleep"]


def state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def test_signals_are_passed_on(launcher: Launcher) -> None:
    with started(launcher, "--no-tag", *launcher.script(NOTE)) as process:
        assert process.stdout is not None
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            process.send_signal(number)
            assert [process.stdout.readline() for _ in range(2)] == [f"{number.name}\n"] * 2
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "SIGTERM\n" * 2, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_an_ending_signal_ends_the_launcher_like_its_ranks(launcher: Launcher, number: signal.Signals) -> None:
    """A shell sees that its script was interrupted, and does not run the next command."""
    with started(launcher, *ready_then("exec sleep 100")) as process:
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (-number, "")


def test_a_second_interrupt_kills(launcher: Launcher) -> None:
    with started(launcher, *ready_then(FOR_EVER, "trap '' INT")) as process:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)  # the same key, by way of npm
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 128 + signal.SIGKILL


def test_ranks_that_do_not_end_in_time_are_killed(launcher: Launcher) -> None:
    program = ready_then(FOR_EVER, "trap '' TERM")
    with started(launcher, "--grace", "0.2", *program) as process:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (128 + signal.SIGKILL, "oneflow-run: killing what did not end: rank 0, 1\n")


def test_a_job_is_interrupted_before_it_starts(launcher: Launcher, tmp_path: Path) -> None:
    """The remote shell waits."""
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\ntouch asked\nexec sleep 100\n")
    shell.chmod(0o755)
    with launcher.start("--hosts", "far:1", "--remote-shell", str(shell), "true") as process:
        wait_until(lambda: (tmp_path / "asked").exists())
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == -signal.SIGINT


def test_an_interrupted_job_is_not_started_again(launcher: Launcher) -> None:
    with started(launcher, "--restarts", "5", *ready_then("exec sleep 100")) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == -signal.SIGINT


def test_a_job_stops_and_continues(launcher: Launcher) -> None:
    with started(launcher, *ready_then("exec sleep 100")) as process:
        wait_until(lambda: len(sleepers(launcher)) == 2)
        ranks = sleepers(launcher)
        process.send_signal(signal.SIGTSTP)
        wait_until(lambda: [state(pid) for pid in (process.pid, *ranks)] == ["T"] * 3)
        process.send_signal(signal.SIGCONT)
        wait_until(lambda: "T" not in [state(pid) for pid in (process.pid, *ranks)])
        process.terminate()


def test_what_nohup_ignores_stays_ignored(launcher: Launcher) -> None:
    def ignore() -> None:
        restore_signals()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with started(launcher, *ready_then("exec sleep 100"), preexec_fn=ignore) as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == -signal.SIGTERM


def test_a_reader_that_sleeps_does_not_keep_the_job_from_ending(launcher: Launcher) -> None:
    """The pipe to the reader is full all the time."""
    reader, writer = os.pipe()
    with started(launcher, *ready_then("exec yes"), stdout=writer) as process:
        os.close(writer)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == -signal.SIGTERM
    os.close(reader)
