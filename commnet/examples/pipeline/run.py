"""Starts the three processes of the pipeline on this machine, and ends with 0 if all of them do.

Usage: run.py [FOLDER]. It has read.py, project.js and classify.rb; by default this one. PYTHON, NODE and RUBY may name
the programs that run them.
"""

import contextlib
import os
import pathlib
import random
import secrets
import socket
import subprocess
import sys

STAGES = [("PYTHON", sys.executable, "read.py"), ("NODE", "node", "project.js"), ("RUBY", "ruby", "classify.rb")]
PATIENCE = 120  # seconds


def free_port() -> int:
    """Returns a port on which nobody listens now, of those that the system does not give to others by itself."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as listening, contextlib.suppress(OSError):
            listening.bind(("127.0.0.1", port))
            return port


def main() -> int:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    environment = os.environ | {
        "COMMNET_SIZE": str(len(STAGES)),
        "COMMNET_MEETING": f"tcp://127.0.0.1:{free_port()}",
        "PIPELINE_SECRET": secrets.token_hex(16),
    }
    processes = []
    for rank, (variable, program, stage) in enumerate(STAGES):
        command = [os.environ.get(variable, program), folder / stage]
        processes.append(subprocess.Popen(command, env=environment | {"COMMNET_RANK": str(rank)}))
    try:
        codes = [process.wait(PATIENCE) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return max(abs(code) for code in codes)


if __name__ == "__main__":
    sys.exit(main())
