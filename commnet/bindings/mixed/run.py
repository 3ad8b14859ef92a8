"""Starts the ranks of a random program in three languages, and ends with 0 if all of them do.

Usage: run.py [SEED] [ROUNDS]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PATIENCE = 240  # seconds


def main() -> int:
    seed, rounds = (sys.argv[1:] + ["1", "400"][len(sys.argv) - 1 :])[:2]
    programs = [[sys.executable, "member.py"], ["node", "member.js"], ["ruby", "member.rb"]]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"COMMNET_SIZE": str(len(programs)), "COMMNET_MEETING": f"file:{folder}"}
        processes = [
            subprocess.Popen([program, HERE / file, seed, rounds], env=environment | {"COMMNET_RANK": str(rank)})
            for rank, (program, file) in enumerate(programs)
        ]
        try:
            codes = [process.wait(PATIENCE) for process in processes]
        finally:
            for process in processes:
                process.kill()
    return max(abs(code) for code in codes)


if __name__ == "__main__":
    sys.exit(main())
