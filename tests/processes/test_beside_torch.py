"""torch.distributed and oneflow in one program, which finds both jobs by the variables of torchrun."""

from __future__ import annotations

import subprocess
import sys

from tests.processes.jobs import DEADLINE, command
from tests.processes.test_launchers import clean_environment


def environment() -> dict[str, str]:
    return {**clean_environment(), "OMP_NUM_THREADS": "1"}


def test_torchrun_starts_it() -> None:
    """The agent of torchrun serves the port."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    program = command("python", "beside_torch", "torch")[1:]
    done = subprocess.run([*launcher, *program], env=environment(), capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
