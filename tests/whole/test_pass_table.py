"""Tests that the table of rules in docs/passes.md is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import pass_table  # noqa: E402


def test_the_table_is_up_to_date() -> None:
    text = pass_table.PAGE.read_text(encoding="utf-8")
    assert text == pass_table.page(text, pass_table.rules()), "docs/passes.md is not up to date: run `make docs`"
