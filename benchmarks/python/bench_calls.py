"""Measures the cost of a call from Python, with very small tensors. The peers are NumPy and PyTorch."""

import numpy as np
import torch

import oneflow_py as flow
from benchmarks.timing import interleaved, report

torch.set_num_threads(flow.get_num_threads())

values = [1.0, 2.0, 3.0, 4.0]
ours, numpys, torchs = flow.tensor(values), np.array(values, dtype=np.float32), torch.tensor(values)
times = interleaved(
    {"oneflow": lambda: ours + ours, "NumPy": lambda: numpys + numpys, "PyTorch": lambda: torchs + torchs}
)
report(
    "Python a + b, 4 floats", times, [{"peer": "NumPy", "at_most": 1.0}, {"peer": "PyTorch", "at_most": 0.3}], unit="ns"
)

equation = "ij,jk->ik"
matrix = np.ones((2, 2), dtype=np.float32)
m, torchm = flow.tensor(matrix.tolist()), torch.tensor(matrix)
times = interleaved(
    {
        "oneflow": lambda: flow.einsum(equation, m, m),
        "NumPy": lambda: np.einsum(equation, matrix, matrix),
        "PyTorch": lambda: torch.einsum(equation, torchm, torchm),
    }
)
report(
    "Python einsum ij,jk->ik, 2 x 2",
    times,
    [{"peer": "target", "at_most": 1.0}, {"peer": "best", "at_most": 0.5}],
    unit="ns",
    references={"target": 400e-9},
)

square = np.ones((8, 8), dtype=np.float32)
ours, torchs = flow.tensor(square.tolist()), torch.tensor(square)
times = interleaved(
    {
        "oneflow": lambda: flow.sum(ours, dim=1, keepdim=True),
        "NumPy": lambda: np.sum(square, axis=1, keepdims=True),
        "PyTorch": lambda: torch.sum(torchs, dim=1, keepdim=True),
    }
)
report("Python flow.sum(x, dim=1, keepdim=True), 8x8", times, [{"peer": "PyTorch", "at_most": 0.5}], unit="ns")
