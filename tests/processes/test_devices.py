"""Collectives of tensors on devices, which go from device to device where all ranks can: by the test accelerator."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.processes.cases import cases
from tests.processes.jobs import ROOT, Job, command, run
from tests.processes.test_collectives import check

LANGUAGES = ("python", "js", "ruby")
ALL = pytest.mark.parametrize("language", LANGUAGES)
PLUGIN = {"ONEFLOW_DEVICE_PATH": str(ROOT / "build" / "test_plugins" / "accel.so")}


def _run(languages: Sequence[str], path: Path, variables: dict[str, str]) -> list[int]:
    """Runs all cases, and returns how many collectives the device of each rank has run."""
    given = list(cases(len(languages)))
    file = path / "cases.json"
    file.write_text(json.dumps([each.as_json() for each in given]), encoding="utf-8")
    found = run([command(each, "driver", str(file)) for each in languages], PLUGIN | variables)
    check([results[: len(given)] for results in found], given)
    return [results[-1] for results in found]


@ALL
def test_each_language(language: str, tmp_path: Path) -> None:
    counts = _run([language] * 2, tmp_path, {"TEST_DEVICE": "accel:1"})
    assert min(counts) > 50


def test_languages_together(tmp_path: Path) -> None:
    counts = _run(LANGUAGES, tmp_path, {"TEST_DEVICE": "accel"})
    assert min(counts) > 50


def test_a_device_without_communicator(tmp_path: Path) -> None:
    assert _run(["python"] * 2, tmp_path, {"TEST_DEVICE": "accel", "ACCEL_FAULT": "no_communicator"}) == [0, 0]
