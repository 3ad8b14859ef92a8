"""Tests that the programs of pages print, in each language, what their comments say, and that links between pages lead
somewhere.

The comments are those on lines of their own or, if there are none, those at the ends of lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/files.md", "docs/graphs.md", "docs/onnx.md", "docs/passes.md"]
MODELS = ROOT / "tests" / "data" / "onnx"  # the programs find them in their folder
COMMANDS = {
    "python": [str(ROOT / ".venv" / "bin" / "python"), "-c"],
    "javascript": ["node", "-e"],
    "ruby": ["ruby", f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}", "-e"],
}


@pytest.mark.parametrize("language", COMMANDS)
@pytest.mark.parametrize("page", PAGES)
def test_example_prints_its_comments(page: str, language: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    (program,) = [text for name, text in blocks if name == language]
    expected = re.findall(r"^ *(?:#|//) (.*)\n", program, re.MULTILINE) or re.findall(r"(?:#|//) (.*)\n", program)
    assert expected
    shutil.copytree(MODELS, tmp_path, dirs_exist_ok=True)
    environment = {**os.environ, "NODE_PATH": str(ROOT / "build" / "node_modules")}
    done = subprocess.run([*COMMANDS[language], program], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected


def pages() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in listed.splitlines() if (path := ROOT / name).exists()]


def without_programs(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Returns what a link may name in a page: its headings, without punctuation and links."""
    headings = re.findall(r"^#+ (.*)$", without_programs(page), re.MULTILINE)
    texts = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in texts}


def test_links_lead_somewhere() -> None:
    wrong = []
    for page in pages():
        for link in re.findall(r"\]\(([^)\s]+)\)", without_programs(page)):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            is_elsewhere = re.match(r"\w+:", link)
            if not is_elsewhere and not (target.exists() and (not anchor or anchor in anchors(target))):
                wrong.append(f"{page.relative_to(ROOT)}: {link}")
    assert not wrong


def test_the_architecture_is_told_in_one_sitting() -> None:
    """How a part works belongs on the page beside its code."""
    assert len((ROOT / "docs" / "architecture.md").read_text().split()) <= 2500
