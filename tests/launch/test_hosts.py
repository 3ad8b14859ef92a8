"""Jobs on several hosts, of which a remote shell that runs commands on this one makes as many as are wanted."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.launch.conftest import PATIENCE, ROOT, Launcher, wait_until

SHOW = """
import json, os
names = [name for name in os.environ if name.startswith("ONEFLOW_") or name.startswith("TEST_")]
print(json.dumps({**{name: os.environ[name] for name in names}, "folder": os.getcwd(), "host": os.environ.get("HOST")}))
"""


@pytest.fixture
def job(remote_shell: str) -> list[str]:
    """Returns the options of a job with two ranks here, two on one host and one on another."""
    hosts = "localhost:2,far:2,farther:1"
    return ["--hosts", hosts, "--remote-shell", remote_shell, "--address", "127.0.0.1"]


def nodes_of(launcher: Launcher, parent: int) -> list[int]:
    """Returns the processes of a launcher's nodes; each has a guard, too, which is a child of its own."""
    nodes = [pid for pid in launcher.processes() if Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"--node\0")]
    return [pid for pid in nodes if f"\nPPid:\t{parent}\n" in Path(f"/proc/{pid}/status").read_text()]


def shown(text: str) -> list[dict[str, str]]:
    return sorted(map(json.loads, text.splitlines()), key=lambda rank: int(rank["ONEFLOW_RANK"]))


def test_ranks_are_where_they_should_be(launcher: Launcher, job: list[str]) -> None:
    done = launcher.run(*job, "--no-tag", *launcher.script(SHOW), HOST="here")
    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()) == ["[far] welcome to far", "[farther] welcome to farther"]
    ranks = shown(done.stdout)
    assert [rank["host"] for rank in ranks] == ["here", "here", "far", "far", "farther"]
    assert [rank["ONEFLOW_LOCAL_RANK"] for rank in ranks] == list("01010")
    assert [rank["ONEFLOW_LOCAL_WORLD_SIZE"] for rank in ranks] == list("22221")
    assert {rank["ONEFLOW_WORLD_SIZE"] for rank in ranks} == {"5"}
    assert {rank["ONEFLOW_LISTEN"] for rank in ranks} == {"127.0.0.1"}
    assert {rank["folder"] for rank in ranks} == {str(launcher.folder)}
    assert len({rank["ONEFLOW_SECRET"] for rank in ranks}) == 1
    (meeting,) = {rank["ONEFLOW_MEETING"] for rank in ranks}
    assert meeting.startswith("tcp://127.0.0.1:")
    assert 0 < int(meeting.rpartition(":")[2]) < 65536


def test_the_first_host_may_be_another_one(launcher: Launcher, remote_shell: str) -> None:
    options = [
        "--hosts",
        "far:1,localhost:1,far:1",
        "--remote-shell",
        remote_shell,
        "--address",
        "lo",
        "--port",
        "4711",
    ]
    ranks = shown(launcher.run(*options, "--no-tag", *launcher.script(SHOW), HOST="here").stdout)
    assert [rank["host"] for rank in ranks] == ["far", "here", "far"]
    assert [rank["ONEFLOW_LOCAL_RANK"] for rank in ranks] == list("001")
    assert {rank["ONEFLOW_MEETING"] for rank in ranks} == {"tcp://127.0.0.1:4711"}


def test_variables_are_passed_on_if_they_are_named(launcher: Launcher, job: list[str]) -> None:
    variables = {"TEST_A": "a\n'b'", "TEST_B": "b", "ONEFLOW_NUM_THREADS": "9"}
    ranks = shown(launcher.run(*job, "--no-tag", "--export", "TEST_A", *launcher.script(SHOW), **variables).stdout)
    assert [rank.get("TEST_A") for rank in ranks] == ["a\n'b'"] * 5
    assert [rank.get("TEST_B") for rank in ranks] == ["b", "b", None, None, None]
    assert {rank["ONEFLOW_NUM_THREADS"] for rank in ranks} == {"9"}


def test_the_secret_is_in_no_command_line(launcher: Launcher, job: list[str]) -> None:
    text = """
import glob, os
secret = os.environ["ONEFLOW_SECRET"].encode()
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        assert secret not in open(path, "rb").read(), path
    except OSError:
        pass
"""
    done = launcher.run(*job, *launcher.script(text))
    assert done.returncode == 0, done.stderr


def test_output_is_that_of_one_host(launcher: Launcher, job: list[str], tmp_path: Path) -> None:
    done = launcher.run(*job, "--output", "logs", "sh", "-c", "echo out; echo err >&2; printf $ONEFLOW_RANK")
    assert sorted(done.stdout.splitlines()) == sorted(f"[{rank}] {text}" for rank in range(5) for text in ("out", rank))
    assert "[4] err" in done.stderr.splitlines()
    assert (tmp_path / "logs" / "rank-4.out").read_text() == "out\n4"
    done = launcher.run(*job, "sh", "-c", "test $ONEFLOW_RANK = 4 && head -c 20000000 /dev/zero; exit 0")
    assert done.stdout.count("\0") == 20_000_000


def test_a_failure_elsewhere(launcher: Launcher, job: list[str]) -> None:
    done = launcher.run(*job, "sh", "-c", "test $ONEFLOW_RANK = 4 && kill -9 $$; sleep 100")
    assert done.returncode == 137
    line = done.stderr.splitlines()[-1]
    assert line.startswith("oneflow-run: rank 4 (sh -c ")
    assert line.endswith(" on farther) was killed by signal 9 (Killed)")
    done = launcher.run(*job, "-n", "4", "sleep", "100", ":", "nowhere")
    assert done.returncode == 127
    assert done.stderr.splitlines()[-1].endswith(
        "rank 4 (nowhere on farther) cannot be started: No such file or directory"
    )


def test_signals_reach_other_hosts(launcher: Launcher, job: list[str], tmp_path: Path) -> None:
    program = "trap 'echo told; exit 0' TERM; touch ready-$ONEFLOW_RANK; while :; do sleep 0.05; done"
    with launcher.start(*job, "sh", "-c", program) as process:
        wait_until(lambda: all((tmp_path / f"ready-{rank}").exists() for rank in range(5)))
        process.terminate()
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert sorted(out.splitlines()) == [f"[{rank}] told" for rank in range(5)]


def test_the_launcher_is_killed(launcher: Launcher, job: list[str], tmp_path: Path) -> None:
    """The connections end with it, and with them the ranks, also one that ignores SIGTERM."""
    program = "trap '' TERM; touch ready-$ONEFLOW_RANK; while :; do sleep 0.1; done"
    with launcher.start(*job, "--grace", "0.2", "sh", "-c", program) as process:
        wait_until(lambda: all((tmp_path / f"ready-{rank}").exists() for rank in range(5)))
        process.kill()


def test_a_connection_that_is_lost(launcher: Launcher, job: list[str], tmp_path: Path) -> None:
    with launcher.start(*job, "sh", "-c", "touch ready-$ONEFLOW_RANK; sleep 100") as process:
        wait_until(lambda: all((tmp_path / f"ready-{rank}").exists() for rank in range(5)))
        os.kill(nodes_of(launcher, process.pid)[0], signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 137
    assert "the connection to host far" in err
    assert "was lost: the remote shell was killed by signal 9 (Killed)" in err


@pytest.mark.parametrize(
    ("shell", "status", "text"),
    [
        ("false", 1, "there is no connection to host far: the remote shell ended with exit status 1"),
        ("nowhere", 127, "the remote shell nowhere cannot be started: No such file or directory"),
    ],
)
def test_a_remote_shell_that_fails(launcher: Launcher, shell: str, status: int, text: str) -> None:
    done = launcher.run("--hosts", "localhost:1,far:1", "--remote-shell", shell, "touch", "started")
    assert (done.returncode, done.stderr) == (status, f"oneflow-run: {text}\n")
    assert not (launcher.folder / "started").exists()


def test_another_version_there(launcher: Launcher, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho oneflow-run node 0.0.9 4711\nexec cat >/dev/null\n")
    other.chmod(0o755)
    done = launcher.run("--hosts", "localhost:1,far:1", "--remote-shell", str(other), "true")
    version = (ROOT / "VERSION").read_text().strip()
    assert done.returncode == 1
    assert f"oneflow-run: host far has another version of oneflow-run than {version}: " in done.stderr


def test_a_folder_that_is_missing_there(launcher: Launcher, tmp_path: Path) -> None:
    """What passes through the remote shell names another one."""
    rename = "import os\nwhile b := os.read(0, 9999): os.write(1, b.replace(b'/work', b'/none'))"
    shell = tmp_path / "shell"
    shell.write_text(f'#!/bin/sh\n{sys.executable} -c "{rename}" | sh -c "$2"\n')
    shell.chmod(0o755)
    (tmp_path / "work").mkdir()
    options = ["--hosts", "far:1", "--remote-shell", str(shell), "--address", "127.0.0.1"]
    with launcher.start(*options, "true", cwd=tmp_path / "work") as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert (
        err.splitlines()[0]
        == f"oneflow-run: host far: cannot enter the folder {tmp_path}/none: No such file or directory"
    )


def test_addresses_that_are_not_known(launcher: Launcher, remote_shell: str) -> None:
    done = launcher.run("--hosts", "nowhere.invalid:1,localhost:1", "--remote-shell", remote_shell, "true")
    assert done.returncode == 1
    assert "the address of nowhere.invalid is not known" in done.stderr
    assert "--address" in done.stderr
