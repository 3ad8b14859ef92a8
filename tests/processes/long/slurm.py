"""A Slurm of one host, which any user can run: its daemons, keys and state live as long as a `with` block."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.launch.conftest import PATIENCE, Launcher, wait_until
from tests.processes.test_launchers import free_port

DAEMONS = ("munged", "slurmctld", "slurmd")
CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={next_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
# More processors than the host may have.
SlurmdParameters=config_overrides
NodeName=here NodeHostname={host} NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes=here Default=YES
"""


class NoSlurm(Exception):
    """Says why Slurm cannot run here."""


class Slurm:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        # What it starts is found by its environment, as what oneflow-run starts.
        self.launcher = Launcher(folder)
        self._environment = {**self.launcher.environment, "SLURM_CONF": str(folder / "slurm.conf")}

    def __enter__(self) -> Slurm:
        try:
            self._start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for daemon in reversed(self._daemons.values()):
            daemon.terminate()
            daemon.wait(timeout=PATIENCE)
        wait_until(lambda: not self.launcher.processes())

    def _start_all(self) -> None:
        missing = [each for each in DAEMONS if self._found(each) is None]
        if missing:
            raise NoSlurm(f"not installed: {', '.join(missing)}")
        for name in ("state", "spool"):
            (self._folder / name).mkdir()
        key = self._folder / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        port = free_port()
        configuration = CONFIGURATION.format(
            host=socket.gethostname(), port=port, next_port=port + 1, user=os.geteuid(), folder=self._folder
        )
        (self._folder / "slurm.conf").write_text(configuration)
        files = {"socket": "munge.socket", "key-file": "key", "pid-file": "munge.pid", "seed-file": "munge.seed"}
        # Its folder is not one that all users can read.
        self._start("munged", "--foreground", "--force", *(f"--{name}={self._folder / files[name]}" for name in files))
        self._wait_until(lambda: (self._folder / "munge.socket").exists())
        self._start("slurmctld", "-D")
        self._start("slurmd", "-D", "-N", "here")
        self._wait_until(lambda: self.call("sinfo", "-h", "-o", "%T").stdout.strip() == "idle")

    def _found(self, name: str) -> str | None:
        return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")

    def _start(self, name: str, *arguments: str) -> None:
        with open(self._folder / f"{name}.log", "wb") as log:
            command = [str(self._found(name)), *arguments]
            self._daemons[name] = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        """Raises NoSlurm with what a daemon has said if it has ended, or if the last one does not serve."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            ended = [name for name, daemon in self._daemons.items() if daemon.poll() is not None]
            if ended or time.monotonic() > deadline:
                name = [*self._daemons, *ended][-1]
                said = (self._folder / f"{name}.log").read_text(errors="replace").strip().splitlines()
                raise NoSlurm(f"{name} does not serve: {' '.join(said[-3:])}")
            time.sleep(0.1)

    def call(self, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Calls a program of Slurm."""
        return subprocess.run(
            command,
            env={**self._environment, **variables},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
