"""Measures the cold start: from the start of a process to its first result, for the network of handwritten digits.

Ours is examples/c/classify with the shared library, and with the library that tools/deploy.py builds. The peer is a
Python process with ONNX Runtime and the same network, without what a process takes that only imports NumPy.
"""

from __future__ import annotations

import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import report

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
ROUNDS = 20
PEER = """
import sys
import numpy
import onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
image = numpy.array([float(each) for each in sys.stdin.read().split(",")[:64]], numpy.float32) / 16
print(session.run(None, {session.get_inputs()[0].name: image.reshape(1, 1, 8, 8)})[0].argmax())
"""


def seconds(command: list[str | Path], image: str) -> float:
    start = time.perf_counter()
    subprocess.run(command, input=image, text=True, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    image = gzip.decompress((ROOT / "examples" / "data" / "digits.csv.gz").read_bytes()).decode().split("\n")[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = [sys.executable, "-c"]
        environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
        train = [sys.executable, ROOT / "examples" / "train" / "train.py", "--quiet", "--epochs", "1", "--save"]
        subprocess.run([*train, folder / "digits.flow"], env=environment, check=True, capture_output=True)
        save = "import sys, oneflow_py as flow; flow.onnx.save(flow.graph.load(sys.argv[1]).optimize(), sys.argv[2])"
        subprocess.run([*python, save, folder / "digits.flow", folder / "digits.onnx"], env=environment, check=True)
        deploy = [sys.executable, ROOT / "tools" / "deploy.py", folder / "digits.flow", "--into", folder / "deployed"]
        subprocess.run(deploy, check=True, capture_output=True)

        source = ROOT / "examples" / "c" / "classify.c"
        paths = {**os.environ, "PKG_CONFIG_PATH": str(folder / "deployed" / "lib" / "pkgconfig")}
        ask = ["pkg-config", "--cflags", "--libs", "oneflow"]
        flags = subprocess.run(ask, env=paths, check=True, text=True, capture_output=True).stdout.split()
        flags += [f"-Wl,-rpath,{folder / 'deployed' / 'lib'}"]
        subprocess.run(["cc", "-O2", source, *flags, "-o", folder / "static"], check=True)
        flags = [f"-I{ROOT / 'runtime' / each}" for each in ("include", "generated/include")]
        flags += [f"-L{BUILD / 'lib'}", "-loneflow", f"-Wl,-rpath,{BUILD / 'lib'}"]
        subprocess.run(["cc", "-O2", source, *flags, "-o", folder / "shared"], check=True)

        commands: dict[str, list[str | Path]] = {
            "shared": [folder / "shared", folder / "digits.flow"],
            "static": [folder / "static", folder / "digits.flow"],
            "NumPy": [*python, "import numpy"],
            "ONNX Runtime": [*python, PEER, folder / "digits.onnx"],
        }
        times: dict[str, list[float]] = {each: [] for each in commands}
        for _ in range(ROUNDS):
            for each, command in commands.items():
                times[each].append(seconds(command, image))
    median = {each: statistics.median(found) for each, found in times.items()}
    peer = median["ONNX Runtime"] - median["NumPy"]
    for kind in ("shared", "static"):
        report(f"cold start, {kind} library", {"oneflow": median[kind], "ONNX Runtime": peer},
               [{"peer": "ONNX Runtime", "at_most": 0.5}], unit="ms",
               references={"Python with NumPy": median["NumPy"]})  # fmt: skip


if __name__ == "__main__":
    main()
