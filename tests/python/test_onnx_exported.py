"""Loads models that PyTorch exports, and compares them with PyTorch: as they are and optimised, with the sizes of the
export and with larger ones."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import oneflow_py as flow


class Function(nn.Module):
    """A function as a module, which only modules can be exported."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


class Recurrent(nn.Module):
    def __init__(self, kind: type, **options: Any) -> None:
        super().__init__()
        self.network = kind(8, 16, batch_first=True, **options)

    def forward(self, x: torch.Tensor) -> Any:
        return self.network(x)[0]


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.last = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        x = F.interpolate(x + F.hardswish(self.depthwise(x)), scale_factor=2, mode="bilinear", align_corners=False)
        return self.last(F.adaptive_avg_pool2d(F.max_pool2d(x, 2), 1).flatten(1))


class UpAndDown(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.left(x)
        return torch.cat([x, self.up(F.relu(self.down(x)))], 1)


def activations(x: torch.Tensor) -> torch.Tensor:
    names = "silu mish softplus elu selu leaky_relu hardsigmoid hardtanh celu logsigmoid relu6 tanhshrink softsign gelu"
    return torch.stack([getattr(F, name)(x) for name in names.split()])


def resized(x: torch.Tensor) -> torch.Tensor:
    return torch.cat(
        [
            F.interpolate(x, size=(9, 11), mode="nearest"),
            F.interpolate(x, size=(9, 11), mode="bilinear", align_corners=True),
            F.interpolate(x, size=(9, 11), mode="bicubic", align_corners=False),
        ]
    )


def masked(x: torch.Tensor) -> torch.Tensor:
    mask = torch.ones(x.shape[1], x.shape[1]).tril()
    return x.masked_fill(mask == 0, float("-inf")).softmax(-1)


IMAGE = torch.randn(2, 3, 16, 16)
SEQUENCE = torch.randn(3, 7, 8)
B, BS, BHW = {0: "b"}, {0: "b", 1: "s"}, {0: "b", 2: "h", 3: "w"}

# The module, example inputs, and which of their dimensions vary.
MODELS: dict[str, tuple[nn.Module, list[torch.Tensor], list[dict[int, str]]]] = {
    "mlp": (
        nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3), nn.Softmax(-1)),
        [torch.randn(5, 4)],
        [B],
    ),
    "residual": (Residual(), [IMAGE], [BHW]),
    "up and down": (UpAndDown(), [IMAGE], [{0: "b"}]),
    "lstm": (Recurrent(nn.LSTM, num_layers=2, bidirectional=True), [SEQUENCE], [B]),
    "gru": (Recurrent(nn.GRU), [SEQUENCE], [B]),
    "rnn": (Recurrent(nn.RNN), [SEQUENCE], [{}]),
    "attention": (
        Function(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True)),
        [torch.randn(2, 4, 9, 8)],
        [{0: "b", 2: "s"}],
    ),
    "masked": (Function(masked), [torch.randn(2, 5, 5)], [{0: "b", 1: "s", 2: "s"}]),
    "slices": (Function(lambda x: x[:, 1:-1, ::2].flip(1)), [SEQUENCE], [BS]),
    "views": (Function(lambda x: x.view(x.shape[0], -1, 2).transpose(1, 2).reshape(-1, x.shape[1])), [SEQUENCE], [BS]),
    "indices": (
        Function(lambda x, i: x[i] + x.gather(0, i[:, None].expand(-1, x.shape[1]))),
        [torch.randn(7, 6), torch.randint(0, 7, (4,))],
        [B, {0: "n"}],
    ),
    "topk": (Function(lambda x: x.topk(3, -1)), [torch.randn(7, 6)], [B]),
    "norms": (nn.Sequential(nn.GroupNorm(1, 3), nn.InstanceNorm2d(3, affine=True), nn.BatchNorm2d(3)), [IMAGE], [B]),
    "deviations": (Function(lambda x: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)), [SEQUENCE], [B]),
    "padding": (Function(lambda x: F.pad(F.pad(x, (1, 2, 0, 1), mode="reflect"), (1, 1), value=2.0)), [IMAGE], [BHW]),
    "pooling": (
        Function(
            lambda x: F.avg_pool2d(F.max_pool2d(x, 3, 2, 1, ceil_mode=True), 2, ceil_mode=True, count_include_pad=False)
        ),
        [IMAGE],
        [B],
    ),
    "resized": (Function(resized), [IMAGE], [{}]),
    "twice as large": (
        Function(lambda x: F.interpolate(x, size=(x.shape[2] * 2, x.shape[3] * 3), mode="nearest")),
        [IMAGE],
        [BHW],
    ),
    "positions": (Function(lambda x: x + torch.arange(x.shape[1])[:, None]), [SEQUENCE], [BS]),
    "scattered": (
        Function(lambda x, i: torch.zeros_like(x).scatter_add(0, i, x)),
        [torch.randn(4, 6), torch.randint(0, 4, (4, 6))],
        [{}, {}],
    ),
    "activations": (Function(activations), [SEQUENCE], [B]),
    "volumes": (
        nn.Sequential(
            nn.Conv3d(2, 4, 3, padding=1),
            nn.MaxPool3d(2),
            nn.Flatten(2),
            nn.Conv1d(4, 3, 5, padding="same", dilation=2),
        ),
        [torch.randn(2, 2, 6, 6, 6)],
        [B],
    ),
    "columns": (Function(lambda x: F.unfold(x, 3, padding=1)), [IMAGE], [B]),
    "samples": (
        Function(lambda x, g: F.grid_sample(x, g, align_corners=False)),
        [IMAGE, torch.rand(2, 4, 4, 2) * 2 - 1],
        [B, B],
    ),
}


def grown(inputs: list[torch.Tensor], sizes: list[dict[int, str]]) -> Iterator[torch.Tensor]:
    """Gives inputs whose varying sizes are twice as large."""
    for given, names in zip(inputs, sizes, strict=True):
        shape = [size * (2 if dim in names else 1) for dim, size in enumerate(given.shape)]
        yield torch.randn(shape) if given.is_floating_point() else torch.randint(0, int(given.max()) + 1, shape)


@pytest.mark.parametrize("name", MODELS)
def test_exported_models(name: str, tmp_path: Any) -> None:
    module, inputs, sizes = MODELS[name]
    path = str(tmp_path / "model.onnx")
    names = [f"input{i}" for i in range(len(inputs))]
    dynamic = {each: found for each, found in zip(names, sizes, strict=True) if found}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with torch.no_grad(), warnings.catch_warnings(action="ignore"):
        module.eval()
        torch.onnx.export(
            module, tuple(inputs), path, opset_version=17, dynamo=False, input_names=names, dynamic_axes=dynamic
        )
        graph = flow.onnx.load(path)
        assert sorted(graph.sizes) == sorted({size for found in sizes for size in found.values()})
        for given in (inputs, list(grown(inputs, sizes))):
            expected = module(*given)
            expected = [expected] if isinstance(expected, torch.Tensor) else list(expected)
            for each in (graph, graph.optimize()):
                results = each(*[flow.tensor(tensor.numpy()) for tensor in given])
                found = list(results.values()) if isinstance(results, dict) else [results]
                for one, other in zip(found, expected, strict=True):
                    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=2e-5)
