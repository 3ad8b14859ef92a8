"""Tests that PyTorch's sample inputs give PyTorch's results, but for the samples that refusals.yaml explains."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from tests.samples import replay

# `make test` replays a few samples of each operator and dtype, `make test-long` all.
LIMIT = 10_000 if os.environ.get("ONEFLOW_VECTORS") == "all" else 2
MOST_REFUSED = 0.05  # of the samples of real dtypes
OPERATORS = list(replay.operators())


@cache
def reasons() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Returns the patterns of operators and of texts that are explained."""
    entries = yaml.safe_load((Path(__file__).parent / "refusals.yaml").read_text()) or []
    assert all(entry["why"] for entry in entries)
    return [(re.compile(entry["op"]), re.compile(entry["says"])) for entry in entries]


def is_explained(name: str, text: str) -> bool:
    return any(op.fullmatch(name) and says.search(text) for op, says in reasons())


counts: Counter[str] = Counter()


def cases() -> Iterator[Any]:
    for op, function in OPERATORS:
        for dtype in replay.DTYPES:
            if dtype in op.dtypes:
                name = f"{op.name}{'.' * bool(op.variant_test_name)}{op.variant_test_name}"
                yield pytest.param(op, function, dtype, id=f"{name}-{str(dtype).removeprefix('torch.')}")


@pytest.mark.parametrize(("op", "function", "dtype"), list(cases()))
def test_samples(op: Any, function: Callable[..., Any], dtype: torch.dtype) -> None:
    outcome = replay.replay(op, function, dtype, LIMIT)
    if not dtype.is_complex:
        counts["agreed"] += outcome.agreed
        counts["refused"] += len(outcome.refused)
    unexplained = [each for each in (*outcome.refused, *outcome.different) if not is_explained(op.name, each.text)]
    assert not unexplained, "\n".join(f"{each.call}: {each.text}" for each in unexplained[:5])


def test_few_samples_are_refused() -> None:
    """Checks the share of the real samples that are refused; it runs after the tests above, in the same process."""
    total = counts["agreed"] + counts["refused"]
    assert total > 1000
    assert counts["refused"] <= MOST_REFUSED * total
