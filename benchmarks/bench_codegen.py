"""How long the generator takes: everything from nothing, and everything again with nothing changed."""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import report

ROOT = Path(__file__).parents[1]


def generate(root: Path) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "codegen", "generate"], cwd=root, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


with tempfile.TemporaryDirectory() as scratch:
    root = Path(scratch) / "oneflow"
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, names):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    cold = generate(root)
    warm = statistics.median(generate(root) for _ in range(5))

report("all definitions to all files, cold", {"oneflow": cold, "the bound": 1.5}, [{"peer": "the bound", "at_most": 1.0}], unit="s")
report("all definitions to all files, nothing changed", {"oneflow": warm, "the bound": 0.6}, [{"peer": "the bound", "at_most": 1.0}], unit="s")
