"""Tests that the guide to extensions shows the files of the examples, which the tests of the packages build and run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "write-an-extension.md"
FILE = re.compile(r"^`(examples/[\w/.]+)`:\n\n```\w+\n(.*?)```$", re.DOTALL | re.MULTILINE)


def test_the_guide_shows_the_files() -> None:
    shown = FILE.findall(GUIDE.read_text())
    assert len(shown) == 9
    assert [name for name, text in shown if (ROOT / name).read_text() != text] == []
