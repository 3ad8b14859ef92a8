"""Jobs whose processes find each other by what their launcher says."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.processes.jobs import DEADLINE, command

_OWN = ("ONEFLOW_RANK", "ONEFLOW_WORLD_SIZE", "ONEFLOW_MEETING", "ONEFLOW_SECRET", "RANK", "WORLD_SIZE")


def clean_environment() -> dict[str, str]:
    """Returns the environment of this process without a job."""
    return {name: value for name, value in os.environ.items() if name not in _OWN}


def _run(variables: list[Mapping[str, str]], language: str = "python") -> list[str]:
    """Runs a rank with each of these variables, and returns what they print."""
    clean = clean_environment()
    processes = [
        subprocess.Popen(
            command(language, "ranks"),
            env={**clean, **each},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for each in variables
    ]
    texts = []
    try:
        for each in processes:
            output, errors = each.communicate(timeout=DEADLINE)
            assert each.returncode == 0, errors
            texts.append(output.strip())
    finally:
        for each in processes:
            each.kill()
    return texts


def torchrun(rank: int, size: int, local_size: int, port: int) -> dict[str, str]:
    """Returns what torchrun, without an agent, tells a rank."""
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": str(rank % local_size),
        "LOCAL_WORLD_SIZE": str(local_size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RESTART_COUNT": "0",
    }


def free_port() -> int:
    """Returns a port that is free, as is the one after it."""
    for _ in range(100):
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
    raise AssertionError("there are no two free ports in a row")


def test_the_variables_of_torchrun_on_one_host() -> None:
    # The agent of torchrun serves the port.
    with socket.socket() as agent:
        agent.bind(("127.0.0.1", 0))
        agent.listen()
        port = agent.getsockname()[1]
        found = _run([torchrun(rank, 3, 3, port) for rank in range(3)])
    assert found == ["0 3 0 3 commnet 3.0", "1 3 1 3 commnet 3.0", "2 3 2 3 commnet 3.0"]


@pytest.mark.skipif(
    len(os.sched_getaffinity(0)) != os.cpu_count(), reason="this process is bound to some of the processors"
)
def test_processes_of_a_host_share_the_processors() -> None:
    program = "import oneflow_py as flow; flow.comm.barrier(); print(flow.get_option('num_threads'))"
    clean = {name: value for name, value in os.environ.items() if name not in (*_OWN, "ONEFLOW_NUM_THREADS")}
    threads = subprocess.run(
        [sys.executable, "-c", "import oneflow_py as flow; print(flow.get_option('num_threads'))"],
        env=clean, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    port = free_port()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env={**clean, **torchrun(rank, 2, 2, port)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    found = {each.communicate(timeout=DEADLINE)[0].strip() for each in processes}
    assert found == {str(max(1, int(threads) // 2))} or int(threads) != os.cpu_count()


def test_the_variables_of_torchrun_on_two_hosts() -> None:
    port = free_port()
    given = [{**torchrun(rank, 2, 1, port), "ONEFLOW_SECRET": "of this test"} for rank in range(2)]
    assert _run(given) == ["0 2 0 1 commnet 2.0", "1 2 0 1 commnet 2.0"]


def test_several_hosts_need_a_secret() -> None:
    done = subprocess.run(
        command("python", "ranks"),
        env={**clean_environment(), **torchrun(0, 2, 1, 1234)},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "set ONEFLOW_SECRET to the same text for all of them" in done.stderr


def test_the_variables_of_srun() -> None:
    def step(rank: int) -> dict[str, str]:
        return {
            "SLURM_JOB_ID": "17",
            "SLURM_STEP_ID": "0",
            "SLURM_PROCID": str(rank),
            "SLURM_LOCALID": str(rank),
            "SLURM_STEP_NUM_TASKS": "2",
            "SLURM_STEP_NUM_NODES": "1",
            "SLURM_STEP_TASKS_PER_NODE": "2",
            "SLURM_STEP_NODELIST": "here",
        }

    assert _run([step(0), step(1)]) == ["0 2 0 2 commnet 2.0", "1 2 1 2 commnet 2.0"]


@pytest.mark.parametrize("variables", [{}, {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "17"}])
def test_without_a_launcher(variables: dict[str, str]) -> None:
    assert _run([variables]) == ["0 1 0 1  1.0"]


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"ONEFLOW_RANK": "x", "ONEFLOW_WORLD_SIZE": "2"}, "ONEFLOW_RANK must be a number, got 'x'"),
        ({"ONEFLOW_RANK": "2", "ONEFLOW_WORLD_SIZE": "2"}, "ONEFLOW_RANK must be below ONEFLOW_WORLD_SIZE, 2, got 2"),
    ],
)
def test_variables_that_make_no_sense(variables: dict[str, str], says: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import oneflow_py; oneflow_py.comm.rank()"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert says in done.stderr
