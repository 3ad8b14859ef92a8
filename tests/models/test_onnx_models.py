"""Tests models of voice activity and of file types against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import oneflow_py as flow
from tests.models.support import agrees_with_runtime, package_folder

RATE = np.array(16000, np.int64)


def voice(seconds: float) -> np.ndarray:
    """Returns a tone with overtones and pauses, as float32."""
    time = np.arange(int(seconds * RATE)) / RATE
    tone = sum(np.sin(2 * np.pi * 140 * k * time) / k for k in range(1, 8))
    return (0.2 * tone * (np.sin(2 * np.pi * 1.5 * time) > 0)).astype(np.float32)


@pytest.mark.parametrize("file", ["silero_vad_16k_op15.onnx", "silero_vad_op18_ifless.onnx"])
@pytest.mark.parametrize("batch", [1, 3])
def test_voice_activity(file: str, batch: int, tmp_path: Path) -> None:
    path = package_folder("silero_vad") / "data" / file
    flow.onnx.load(path, sizes={"sequence": 576}, values={"sr": int(RATE)}).save(tmp_path / "model.flow")
    graph = flow.graph.load(tmp_path / "model.flow")
    assert list(graph.sizes) == ["batch"]
    chunks = np.stack([np.roll(voice(0.5), 100 * i) for i in range(batch)])
    state = np.zeros((2, batch, 128), np.float32)
    for start in range(0, 512 * 8, 512):  # the state goes from chunk to chunk
        feeds = {"input": chunks[:, start : start + 576], "state": state, "sr": RATE}
        agrees_with_runtime(graph, path, feeds)
        outputs = graph(**{each.name: flow.from_numpy(feeds[each.name]) for each in graph.inputs})
        state = outputs["stateN"].numpy()


def test_file_types() -> None:
    path = package_folder("magika") / "models" / "standard_v3_3" / "model.onnx"
    graph = flow.onnx.load(path)
    contents = [Path(__file__).read_bytes(), b"\x89PNG\r\n" + bytes(range(256)) * 8, b'{"key": [1, 2, 3]}' * 100]
    rows = [np.frombuffer((each[:1024].ljust(1024) + each[-1024:].ljust(1024)), np.uint8) for each in contents]
    agrees_with_runtime(graph, path, {"bytes": np.stack(rows).astype(np.int32)})
