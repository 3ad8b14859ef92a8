"""Tests how many threads and how much memory the CPU uses: in a control group, and as environment variables say.

Control groups are tested in a real one, where the system lets a test make it. What is read from their files is tested
in C++, by runtime/devices/cpu/plugin/control_group_test.cpp.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import oneflow_py as flow

GROUPS = Path("/sys/fs/cgroup")


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process of its own, with further environment variables."""
    text = "import oneflow_py as flow\n" + program
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, **variables}, timeout=120
    )


@pytest.mark.parametrize("count", ["1", "5", "1024"])
def test_the_environment_sets_the_number_of_threads(count: str) -> None:
    done = run("print(flow.get_num_threads(), flow.ones(100000).sum().item())", ONEFLOW_NUM_THREADS=count)
    assert (done.stdout, done.stderr) == (f"{count} 100000.0\n", "")


@pytest.mark.parametrize("value", ["0", "-1", "1025", "2.5", "four"])
def test_another_value_is_reported_once_and_ignored(value: str) -> None:
    program = "flow.ones(3)\nprint(flow.get_num_threads())"
    done = run(program, ONEFLOW_NUM_THREADS=value)
    assert done.stderr == (
        "oneflow: the environment variable ONEFLOW_NUM_THREADS must be an integer from 1 to 1024, "
        f"got '{value}', and is ignored\n"
    )
    assert done.stdout == run(program).stdout


def test_other_variables_are_reported_as_well() -> None:
    done = run("print(len(flow.devices()))", ONEFLOW_CPU_DEVICES="many", ONEFLOW_CPU_ISA="sse", ONEFLOW_DEVICE_PATH="")
    start = "oneflow: the environment variable"
    assert sorted(done.stderr.splitlines()) == [
        f"{start} ONEFLOW_CPU_DEVICES must be an integer from 1 to 64, got 'many', and is ignored",
        f"{start} ONEFLOW_CPU_ISA must be baseline or avx2, got 'sse', and is ignored",
    ]
    assert int(done.stdout) >= 1


def results() -> list[bytes]:
    """Returns the bytes of results that several threads compute together."""
    generator = flow.Generator().manual_seed(3)
    x = flow.randn(300, 200, generator=generator)
    found = [x @ x.t(), x.sum(), x.softmax(dim=1), x.cumsum(dim=0), flow.exp(x), x.to(flow.float16).sum(dim=0)]
    return [each.numpy().tobytes() for each in found]


def test_the_number_of_threads_may_change_while_others_compute() -> None:
    """Results have the same bits, whatever the number is, and whenever it changes."""
    threads = flow.get_num_threads()
    try:
        flow.set_num_threads(1)
        expected = results()
        is_done = threading.Event()

        def change() -> None:
            while not is_done.is_set():
                for count in (1, 2, 5, 3):
                    flow.set_num_threads(count)

        with ThreadPoolExecutor(4) as pool:
            pool.submit(change)
            try:
                found = [each.result() for each in [pool.submit(results) for _ in range(24)]]
            finally:
                is_done.set()
        assert all(each == expected for each in found)
    finally:
        flow.set_num_threads(threads)


def test_a_forked_child_keeps_the_number() -> None:
    program = """
import os
flow.set_num_threads(3)
flow.ones(1000, 1000).sum()
child = os.fork()
if child == 0:
    flow.ones(1000, 1000).sum()
    kept = flow.get_num_threads() == 3
    flow.set_num_threads(2)
    os._exit(0 if kept and flow.ones(1000, 1000).sum().item() == 1e6 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flow.get_num_threads())
"""
    assert run(program).stdout == "0 3\n"


# ------------------------------------------------------------------------------------------------ control groups


class Group:
    """A control group of this machine with limits: its folders, one per hierarchy."""

    def __init__(self, name: str) -> None:
        is_second = (GROUPS / "cgroup.controllers").exists()
        self.folders = [GROUPS / name] if is_second else [GROUPS / "cpu" / name, GROUPS / "memory" / name]
        self.files = {
            "cpu": [("cpu.max", "150000 100000")]
            if is_second
            else [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "150000")],
            "memory": [("memory.max" if is_second else "memory.limit_in_bytes", str(512 << 20))],
        }

    def make(self, controller: str) -> None:
        """Makes the group, and sets the limit of a controller."""
        for folder in self.folders:
            folder.mkdir(exist_ok=True)
        for file, text in self.files[controller]:
            next(folder / file for folder in self.folders if (folder / file).exists()).write_text(text)

    def run(self, program: str) -> subprocess.CompletedProcess[str]:
        """Runs a program in the group."""
        joining = "".join(f"open('{folder}/cgroup.procs', 'w').write('0')\n" for folder in self.folders)
        return subprocess.run(
            [sys.executable, "-c", f"{joining}import oneflow_py as flow\n{program}"],
            capture_output=True,
            text=True,
            timeout=120,
            env={name: value for name, value in os.environ.items() if name != "ONEFLOW_NUM_THREADS"},
        )

    def remove(self) -> None:
        """Removes the group, whose processes have ended."""
        for folder in self.folders:
            if folder.exists():
                folder.rmdir()


@pytest.fixture
def group() -> Iterator[Group]:
    found = Group(f"oneflow-test-{os.getpid()}")
    yield found
    found.remove()


def made(group: Group, controller: str) -> Group:
    """Returns the group with a limit. Skips the test where the system does not permit it."""
    try:
        group.make(controller)
    except (OSError, StopIteration) as error:
        pytest.skip(f"no control group can be made here: {error!r}")
    return group


def test_threads_follow_the_quota_of_the_group(group: Group) -> None:
    done = made(group, "cpu").run("import os\nprint(flow.get_num_threads(), len(os.sched_getaffinity(0)))")
    assert done.returncode == 0, done.stderr
    threads, processors = map(int, done.stdout.split())
    assert threads == min(2, processors)


def test_memory_above_the_limit_of_the_group_is_an_error(group: Group) -> None:
    """The system would give the memory, and kill the process once it is used."""
    program = """
print(flow.device("cpu").total_memory, flow.device("cpu").free_memory <= 512 << 20)
held = []
try:
    while len(held) < 100:
        held.append(flow.empty(32 << 20, dtype=flow.uint8))
except flow.OutOfMemory as error:
    print(len(held), error)
try:
    flow.empty(1 << 40)
except flow.OutOfMemory as error:
    print(error)
held.clear()
print(flow.ones(1000).sum().item())
"""
    done = made(group, "memory").run(program)
    assert done.returncode == 0, done.stderr
    memory, exhausted, huge, after = done.stdout.splitlines()
    assert memory == f"{512 << 20} True"
    limit = f"the limit of the control group is {512 << 20} bytes"
    assert re.fullmatch(rf"\d+ empty: cpu:0 has no memory for {32 << 20} bytes; \d+ are in use; {limit}", exhausted)
    assert huge.endswith(limit)
    assert after == "1000.0"
