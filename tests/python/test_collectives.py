"""Runs collectives.py in a process with four CPU devices and the devices of the test plugins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import oneflow_py as flow

PLUGINS = Path(flow.__file__).parents[2] / "test_plugins"


def test_collectives_over_several_devices() -> None:
    assert {"far.so", "accel.so"} <= {path.name for path in PLUGINS.iterdir()}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            str(Path(__file__).with_name("collectives.py")),
        ],
        env={**os.environ, "ONEFLOW_CPU_DEVICES": "4", "ONEFLOW_DEVICE_PATH": str(PLUGINS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
