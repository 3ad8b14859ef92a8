"""What the ranks write reaches the user in whole lines."""

from __future__ import annotations

import hashlib
import os
import pty
import re
import subprocess
from pathlib import Path

from tests.launch.conftest import Launcher, wait_until


def test_lines_have_the_rank_that_wrote_them(launcher: Launcher) -> None:
    done = launcher.run("-n", "2", "sh", "-c", "echo out; echo err >&2; printf end")
    assert sorted(done.stdout.splitlines()) == ["[0] end", "[0] out", "[1] end", "[1] out"]
    assert sorted(done.stderr.splitlines()) == ["[0] err", "[1] err"]
    assert done.stdout.endswith("\n")
    assert launcher.run("-n", "2", "--no-tag", "echo", "x").stdout == "x\nx\n"
    assert launcher.run("-n", "1", "--tag", "echo", "x").stdout == "[0] x\n"


def test_lines_do_not_mix(launcher: Launcher) -> None:
    """Also not with those of the other stream, if both are one file."""
    text = """
import os, random, sys
line = os.environ["ONEFLOW_RANK"] * 300
for _ in range(2000):
    stream = random.choice([sys.stdout, sys.stderr])
    for part in (line[:100], line[100:], "\\n"):
        stream.write(part)
        stream.flush()
"""
    with launcher.start("-n", "4", *launcher.script(text), stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
    assert len(lines) == 8000
    assert all(re.fullmatch(r"\[(\d)\] \1{300}", line) for line in lines)


def test_the_bytes_of_one_rank_pass_as_they_are(launcher: Launcher) -> None:
    """A hundred megabytes without lines."""
    text = """
import hashlib, os, sys
block, sum = os.urandom(1 << 20), hashlib.sha256()
for _ in range(100):
    os.write(1, block) == len(block) or sys.exit(1)
    sum.update(block)
print(sum.hexdigest(), file=sys.stderr)
"""
    found = hashlib.sha256()
    with launcher.start("-n", "1", *launcher.script(text), text=False) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while block := process.stdout.read(1 << 20):  # type: ignore[call-overload]
            found.update(block)
        assert process.stderr.read().decode().strip() == found.hexdigest()  # type: ignore[attr-defined]


def test_long_lines_and_binary_output_of_several_ranks(launcher: Launcher) -> None:
    text = r"""
import os
rank = int(os.environ["ONEFLOW_RANK"])
os.write(1, b"\0\xff%d" % rank + b"\n") if rank else [os.write(1, b"x" * (1 << 20)) for _ in range(5)]
"""
    with launcher.start("-n", "2", *launcher.script(text), text=False) as process:
        assert process.stdout is not None
        lines = process.stdout.read().split(b"\n")  # type: ignore[attr-defined]
    assert b"[1] \0\xff1" in lines
    assert sum(line.count(b"x") for line in lines) == 5 << 20
    assert all(re.match(rb"\[\d\] ", line) for line in lines if line)


def test_files_have_the_output_of_each_rank(launcher: Launcher, tmp_path: Path) -> None:
    command = ["sh", "-c", "printf $ONEFLOW_RANK; echo err >&2"]
    done = launcher.run("-n", "2", "--output", "logs/first", *command)
    files = {path.name: path.read_text() for path in (tmp_path / "logs" / "first").iterdir()}
    assert files == {"rank-0.out": "0", "rank-0.err": "err\n", "rank-1.out": "1", "rank-1.err": "err\n"}
    assert sorted(done.stdout.splitlines()) == ["[0] 0", "[1] 1"]


def test_a_folder_that_cannot_be_made(launcher: Launcher) -> None:
    done = launcher.run("-n", "1", "--output", "/proc/x", "true")
    assert (done.returncode, done.stderr) == (
        1,
        "oneflow-run: cannot make the folder /proc/x: No such file or directory\n",
    )


def test_a_reader_that_stops_ends_the_job_quietly(launcher: Launcher) -> None:
    with launcher.start("-n", "3", "yes") as process:
        assert process.stdout is not None
        assert re.fullmatch(r"\[\d\] y\n", process.stdout.readline())
        process.stdout.close()
        assert process.wait() == 141
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_a_full_disk(launcher: Launcher) -> None:
    with open("/dev/full", "w") as full, launcher.start("-n", "2", "echo", "x", stdout=full) as process:
        _, err = process.communicate()
    assert process.returncode == 1
    assert err == "oneflow-run: cannot write standard output: No space left on device\n"


def test_streams_may_be_closed(launcher: Launcher, tmp_path: Path) -> None:
    command = f"{launcher.program} -n 2 sh -c 'echo x; echo y >&2; echo z >file' <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, env=launcher.environment).returncode == 0
    assert (tmp_path / "file").read_text() == "z\n"


def test_many_ranks(launcher: Launcher) -> None:
    done = launcher.run("-n", "64", "sh", "-c", "echo $ONEFLOW_RANK")
    assert sorted(done.stdout.splitlines()) == sorted(f"[{rank}] {rank}" for rank in range(64))


def test_output_of_programs_that_outlive_their_rank(launcher: Launcher) -> None:
    """A shell does not wait for the programs of its process substitutions."""
    done = launcher.run("-n", "2", "bash", "-c", "echo x > >(sleep 0.1; cat)")
    assert sorted(done.stdout.splitlines()) == ["[0] x", "[1] x"]
    assert launcher.run("-n", "1", "sh", "-c", "yes > /dev/null & sleep 100 & echo x").stdout == "x\n"


def test_a_question_is_seen_on_a_terminal(launcher: Launcher) -> None:
    """Before it is answered, though its line has no end; the answer goes to rank 0 alone."""
    text = """
import os
print("name? ", end="", flush=True) if os.environ["ONEFLOW_RANK"] == "0" else None
try:
    print("hello", input())
except EOFError:
    print("no input")
"""
    controller, terminal = pty.openpty()
    options = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
    with launcher.start("-n", "2", *launcher.script(text), **options) as process:
        os.close(terminal)
        seen = b""

        def sees(text: bytes) -> bool:
            nonlocal seen
            seen += os.read(controller, 4096)
            return text in seen

        wait_until(lambda: sees(b"[0] name? "))
        os.write(controller, b"you\n")
        wait_until(lambda: sees(b"hello you"))
        wait_until(lambda: b"[1] no input" in seen or sees(b"[1] no input"))
    os.close(controller)
    assert process.returncode == 0
