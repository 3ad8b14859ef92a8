"""Times the generator: once for all files from scratch, and again when nothing has changed."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.scratch import copy_to
from benchmarks.timing import report


def generate(root: Path) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "codegen", "generate"], cwd=root, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


with tempfile.TemporaryDirectory() as scratch:
    root = copy_to(Path(scratch) / "oneflow")
    cold = generate(root)
    warm = statistics.median(generate(root) for _ in range(5))

bounds = [{"peer": "the bound", "at_most": 1.0}]
report("all definitions to all files, cold", {"oneflow": cold, "the bound": 1.5}, bounds, unit="s")
report("all definitions to all files, nothing changed", {"oneflow": warm, "the bound": 0.6}, bounds, unit="s")
