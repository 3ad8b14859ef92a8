"""Jobs of drivers: programs in each language that do what cases say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.processes.cases import Case, cases, is_long
from tests.processes.jobs import command


class Drivers:
    """The drivers of a job, and what they read and write in a folder."""

    def __init__(self, folder: Path, size: int) -> None:
        self._folder = folder
        self._cases = list(cases(size))
        self._ranks = range(size)
        for rank in self._ranks:
            calls = [each.calls[rank] for each in self._cases]
            text = json.dumps([None if call is None else call.as_json(rank) for call in calls])
            self._file(rank, "calls").write_text(text, encoding="utf-8")

    def _file(self, rank: int, kind: str) -> Path:
        return self._folder / f"{rank}.{kind}.json"

    def command(self, language: str) -> list[str]:
        """Returns the command of a rank."""
        return command(language, "driver", str(self._folder))

    def check(self, communicator: str = "commnet") -> list[dict[str, Any]]:
        """Checks what all ranks have written, and returns it."""
        written = [json.loads(self._file(rank, "results").read_text(encoding="utf-8")) for rank in self._ranks]
        assert [each["communicator"] for each in written] == [communicator for _ in self._ranks]
        for rank, each in enumerate(written):
            for case, result in zip(self._cases, each["results"], strict=True):
                _check(case, rank, result)
        return written


def _check(case: Case, rank: int, result: list[Any] | None) -> None:
    call, expected = case.calls[rank], case.expected[rank]
    if call is None or expected is None:
        assert result is None
        return
    assert result is not None
    shape, data = result
    label = f"rank {rank}: {call.name} {call.options} of {call.input.dtype} {list(call.input.shape)}"
    assert shape == list(expected.shape), label
    if is_long(expected):
        assert data == hashlib.sha256(expected.numpy().tobytes()).hexdigest(), label
        return
    numbers = expected.to(torch.float64).flatten().tolist()
    assert data == (pytest.approx(numbers) if call.gradient else numbers), label
