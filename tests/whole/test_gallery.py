"""Tests that the gallery of einsum, which checks its own results, prints the same in every language."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LANGUAGES = sorted(path.parent.name for path in (ROOT / "bindings").glob("*/binding.mk"))


def printed(language: str) -> list[str]:
    command = ["make", "--no-print-directory", "-s", f"gallery-{language}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def first() -> list[str]:
    return printed(LANGUAGES[0])


def test_gallery_checks_its_results(first: list[str]) -> None:
    assert sum(line.startswith("    the same as ") for line in first) > 10


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_languages_print_identical_lines(language: str, first: list[str]) -> None:
    assert printed(language) == first
