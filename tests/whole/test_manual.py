"""Tests that every code block in the reference manual does what its page says: examples run, error cases raise.

The generated tests of each front end compare the values of examples; these tests read the pages themselves, as a user
would copy from them.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "docs" / "generated" / "reference"


@dataclass(frozen=True)
class Runner:
    """The contents of bindings/<name>/manual.yaml: how to run the blocks of a language."""

    fence: str
    file: str
    command: list[str]
    block: str
    program: str


RUNNERS = {
    runner.fence: runner
    for path in sorted(ROOT.glob("bindings/*/manual.yaml"))
    for runner in [Runner(**yaml.safe_load(path.read_text(encoding="utf-8")))]
}


@dataclass(frozen=True)
class Block:
    page: str
    fence: str
    text: str
    outcome: str | None  # the error class and text on the page; None if the block must succeed


INDEX = (MANUAL / "README.md").read_text(encoding="utf-8") if MANUAL.exists() else ""
# The lines that load oneflow by the fence of the language, and the fence by the title of the language.
OPENINGS = dict(re.findall(r"```(\w+)\n(.*?)\n```", INDEX, re.DOTALL))
FENCES = dict(re.findall(r"^(.+):\n\n```(\w+)\n", INDEX, re.MULTILINE))


def blocks() -> Iterator[Block]:
    """Yields the runnable blocks of all pages: those below "Examples" and "Errors", not the signatures.

    Below "Examples", a line that begins with "Returns" follows the blocks of a call in all languages. Below "Errors",
    the classes of the error and a block with its text follow.
    """
    for path in sorted(MANUAL.glob("*.md")):
        section = ""
        calls: dict[str, str] = {}
        classes: dict[str, str] = {}
        for piece in pieces(path.read_text(encoding="utf-8")):
            code = re.fullmatch(r"```(\w+)\n(.*)\n```", piece, re.DOTALL)
            if heading := re.match(r"#+ (.*)", piece):
                assert not calls, f"{path.name}: the outcome of {calls} is missing"
                section = heading[1]
            elif section == "Examples" and code:
                calls[code[1]] = code[2]
            elif section == "Examples" and piece.startswith("Returns "):
                yield from (Block(path.name, fence, text, None) for fence, text in calls.items())
                calls = {}
            elif section == "Errors" and piece.startswith("Raises "):
                classes = dict(by_language(re.findall(r"`([\w.:]+)` \((.*?)\)", piece)))
            elif section == "Errors" and code and code[1] == "text":
                texts = error_texts(code[2], list(calls))
                for fence, text in calls.items():
                    yield Block(path.name, fence, text, f"`{classes[fence]}`: {texts[fence]}")
                calls = {}
            elif section == "Errors" and code:
                calls[code[1]] = code[2]
        assert not calls, f"{path.name}: the outcome of {calls} is missing"


def pieces(page: str) -> Iterator[str]:
    """Yields the code blocks and the paragraphs of a page."""
    for piece in re.split(r"(^```.*?^```$)", page, flags=re.DOTALL | re.MULTILINE):
        yield from [piece] if piece.startswith("```") else filter(None, re.split(r"\n\n+", piece.strip()))


def by_language(groups: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yields (fence, text) for each language in a list of (text, titles of languages)."""
    for text, titles in groups:
        yield from ((FENCES[title], text) for title in titles.split(", "))


def error_texts(text: str, fences: list[str]) -> dict[str, str]:
    """Returns the error text of each language: all of `text`, or the part after the title of the language."""
    title = "|".join(map(re.escape, FENCES))
    starts = list(re.finditer(rf"^((?:{title})(?:, (?:{title}))*): +", text, re.MULTILINE))
    if not starts:
        return dict.fromkeys(fences, text)
    assert starts[0].start() == 0, text
    ends = [start.start() - 1 for start in starts[1:]] + [len(text)]
    parts = [text[start.end() : end] for start, end in zip(starts, ends, strict=True)]
    margin = "\n" + " " * len(starts[0][0])
    groups = [(part.replace(margin, "\n"), start[1]) for part, start in zip(parts, starts, strict=True)]
    return dict(by_language(groups))


ALL = list(blocks())


def test_manual_has_blocks_of_all_languages() -> None:
    assert {block.fence for block in ALL} == set(RUNNERS), "no manual: run `make docs` first"
    for fence in RUNNERS:
        mine = [block for block in ALL if block.fence == fence]
        assert len(mine) > 200
        assert any(block.outcome for block in mine)


@pytest.mark.parametrize("fence", RUNNERS)
def test_blocks_do_what_the_page_says(fence: str) -> None:
    runner = RUNNERS[fence]
    mine = [block for block in ALL if block.fence == fence]
    body = "\n".join(runner.block.format(text=block.text, literal=repr(block.text)) for block in mine)
    folder = ROOT / "build" / "manual"  # inside build/, from where front ends find their packages
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / runner.file
    file.write_text(runner.program.format(opening=OPENINGS[fence], blocks=body), encoding="utf-8")
    command = [word.replace("bindings/", f"{ROOT}/bindings/") for word in runner.command]
    command[0] = str(ROOT / command[0]) if "/" in command[0] else command[0]
    done = subprocess.run([*command, str(file)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    wrong = [
        f"{block.page}: {block.text}\n  page: {block.outcome}\n  found: {outcome}"
        for block, outcome in zip(mine, found, strict=True)
        if outcome != block.outcome
    ]
    assert not wrong, "\n".join(wrong)
