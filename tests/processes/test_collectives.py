"""Collectives between processes: each language, several languages in one job, with the results that PyTorch has."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from tests.processes.cases import Case, cases, is_long
from tests.processes.jobs import command, run

LANGUAGES = ("python", "js", "ruby")


def check(found: Sequence[Sequence[object]], given: Sequence[Case]) -> None:
    """Checks what the drivers of all ranks have printed."""
    for rank, results in enumerate(found):
        assert len(results) == len(given)
        for case, result in zip(given, results, strict=True):
            expected = case.expected[rank]
            if expected is None:
                assert result is None
                continue
            shape, data = result
            numbers = expected.to(torch.float64).flatten()
            wanted: object = numbers.tolist()
            if is_long(numbers):
                wanted = hashlib.sha256(numbers.numpy().tobytes()).hexdigest()
            label = f"rank {rank}: {case.call} {case.options} of {case.inputs[0].dtype} {list(case.inputs[0].shape)}"
            assert shape == list(expected.shape), label
            if case.gradient:
                assert data == pytest.approx(wanted), label
            else:
                assert data == wanted, label


def written(given: Sequence[Case], path: Path) -> str:
    """Writes cases into a folder, and returns the file that the drivers read."""
    file = path / "cases.json"
    file.write_text(json.dumps([each.as_json() for each in given]), encoding="utf-8")
    return str(file)


def _run(languages: Sequence[str], path: Path) -> None:
    given = list(cases(len(languages)))
    file = written(given, path)
    check(run([command(language, "driver", file) for language in languages]), given)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [2, 3])
def test_each_language(language: str, size: int, tmp_path: Path) -> None:
    _run([language] * size, tmp_path)


def test_many_ranks(tmp_path: Path) -> None:
    """More than eight pass on small tensors, instead of sending them to all."""
    size = 9
    # Products of so many are infinite at times, for which Ruby has no JSON.
    given = [each for each in cases(size) if each.options.get("op") != "prod"]
    check(run([command("ruby", "driver", written(given, tmp_path))] * size), given)


def test_languages_together(tmp_path: Path) -> None:
    _run(list(itertools.islice(itertools.cycle(LANGUAGES), 4)), tmp_path)
