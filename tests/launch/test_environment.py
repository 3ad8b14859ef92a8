"""What each rank finds in its environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tests.launch.conftest import Launcher, restore_signals

SHOW = """
import json, os, stat
meeting = os.environ["ONEFLOW_MEETING"].removeprefix("file:")
mode = os.path.isdir(meeting) and oct(stat.S_IMODE(os.stat(meeting).st_mode))
print(json.dumps({**{k: v for k, v in os.environ.items() if k.startswith("ONEFLOW_")}, "mode": mode}))
"""


def shown(launcher: Launcher, *options: str, **variables: str) -> list[dict[str, str]]:
    """Returns the variables of each rank."""
    done = launcher.run(*options, "--no-tag", *launcher.script(SHOW), **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return sorted(map(json.loads, done.stdout.splitlines()), key=lambda rank: int(rank["ONEFLOW_RANK"]))


def test_ranks_know_who_they_are(launcher: Launcher) -> None:
    ranks = shown(launcher, "-n", "3")
    for number, rank in enumerate(ranks):
        assert rank["ONEFLOW_RANK"] == rank["ONEFLOW_LOCAL_RANK"] == str(number)
        assert rank["ONEFLOW_WORLD_SIZE"] == rank["ONEFLOW_LOCAL_WORLD_SIZE"] == "3"
        assert rank["ONEFLOW_RESTART"] == "0"
        assert "ONEFLOW_LISTEN" not in rank
        assert rank["mode"] == "0o700"


def test_meeting_and_secret_are_those_of_the_job(launcher: Launcher) -> None:
    first, second = (shown(launcher, "-n", "2") for _ in range(2))
    for name in ("ONEFLOW_MEETING", "ONEFLOW_SECRET"):
        assert first[0][name] == first[1][name] != second[0][name]
    assert re.fullmatch("[0-9a-f]{64}", first[0]["ONEFLOW_SECRET"])
    folder = first[0]["ONEFLOW_MEETING"].removeprefix("file:")
    assert Path(folder).parent == launcher.temporary
    assert not Path(folder).exists()


def test_what_was_inherited_from_another_job_is_replaced(launcher: Launcher) -> None:
    (rank,) = shown(launcher, "-n", "1", ONEFLOW_RANK="7", ONEFLOW_LISTEN="10.0.0.1", ONEFLOW_SECRET="x")
    assert rank["ONEFLOW_RANK"] == "0"
    assert "ONEFLOW_LISTEN" not in rank
    assert rank["ONEFLOW_SECRET"] != "x"


def test_processors_are_shared_out(launcher: Launcher) -> None:
    count = len(os.sched_getaffinity(0))
    assert {rank["ONEFLOW_NUM_THREADS"] for rank in shown(launcher, "-n", str(4 * count))} == {"1"}
    assert 1 <= int(shown(launcher, "-n", "1")[0]["ONEFLOW_NUM_THREADS"]) <= count
    assert shown(launcher, "-n", "1", ONEFLOW_NUM_THREADS="5")[0]["ONEFLOW_NUM_THREADS"] == "5"
    forced = shown(launcher, "-n", "1", "--threads", "3", ONEFLOW_NUM_THREADS="5")
    assert forced[0]["ONEFLOW_NUM_THREADS"] == "3"


def test_by_default_there_is_a_rank_for_each_processor(launcher: Launcher) -> None:
    assert 1 <= len(shown(launcher)) <= len(os.sched_getaffinity(0))


def test_programs_are_numbered_from_left_to_right(launcher: Launcher) -> None:
    show = ["sh", "-c", 'echo "$0 $ONEFLOW_RANK $ONEFLOW_WORLD_SIZE"']
    done = launcher.run("--no-tag", "-n2", *show, "a", ":", *show, "b", ":", "-n", "1", *show, "c")
    assert sorted(done.stdout.splitlines()) == ["a 0 4", "a 1 4", "b 2 4", "c 3 4"]


def test_ranks_start_with_nothing_of_the_launcher(launcher: Launcher) -> None:
    """Neither its descriptors, nor the signals that it blocks or ignores."""
    text = """
import os, signal
print(sorted(os.listdir("/proc/self/fd"))[:-1], [s.name for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])])
print([line for line in open("/proc/self/status") if line.startswith("SigIgn")], os.getpgid(0) == os.getpid())
"""
    command = launcher.script(text)
    bare = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=restore_signals
    )
    assert launcher.run("-n", "1", *command).stdout == bare.stdout
