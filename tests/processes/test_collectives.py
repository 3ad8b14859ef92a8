"""Collectives between processes: each language, several languages in one job, with the results that PyTorch has."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.processes.drivers import Drivers
from tests.processes.jobs import LANGUAGES, run


def _run(languages: Sequence[str], folder: Path) -> None:
    drivers = Drivers(folder, len(languages))
    run([drivers.command(each) for each in languages])
    drivers.check()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [2, 3])
def test_each_language(language: str, size: int, tmp_path: Path) -> None:
    _run([language] * size, tmp_path)


def test_many_ranks(tmp_path: Path) -> None:
    """More than eight pass on small tensors, instead of sending them to all."""
    _run(["ruby"] * 9, tmp_path)


def test_languages_together(tmp_path: Path) -> None:
    _run(list(itertools.islice(itertools.cycle(LANGUAGES), 4)), tmp_path)
