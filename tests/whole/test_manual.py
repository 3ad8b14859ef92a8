"""Every block of code in the reference manual does what its page says: examples run, error cases raise.

The values that examples give are compared by the tests that each front end generates; here the pages themselves are
read, as a user would copy from them.
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
    """What bindings/<name>/manual.yaml says."""

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
    outcome: str | None  # the text of the error that the page promises


def blocks() -> Iterator[Block]:
    """The runnable blocks of all pages: those below "Example" and "Errors", not the signatures.

    The first line of an error stands beside its class, the others below, in a block of text.
    """
    for path in sorted(MANUAL.glob("*.md")):
        part = "signature"
        page = re.sub(r"\n```text\n(.*?)\n```", r"\n\1", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for piece in re.split(r"\n\n+|\n(?=```\w)", page):
            if match := re.fullmatch(r"```(\w+)\n(.*)\n```\n?", piece, re.DOTALL):
                fence, text = match.groups()
                if part == "example":
                    yield Block(path.name, fence, text, None)
            elif ", which gives " in piece:
                part = "example"
            elif piece.startswith("Errors:"):
                part = "error"
            elif part == "error" and re.match(r"`[\w.:]+`: ", piece):
                yield Block(path.name, fence, text, piece)
            elif not piece.startswith("`"):
                part = "signature"


ALL = list(blocks())


def opening(fence: str) -> str:
    index = (MANUAL / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"```{fence}\n(.*?)\n```", index, re.DOTALL)
    assert found
    return found[1]


def test_the_manual_was_found() -> None:
    assert {block.fence for block in ALL} == set(RUNNERS), "make docs writes the manual"
    for fence in RUNNERS:
        mine = [block for block in ALL if block.fence == fence]
        assert len(mine) > 200
        assert any(block.outcome for block in mine)


@pytest.mark.parametrize("fence", RUNNERS)
def test_blocks_do_what_the_page_says(fence: str) -> None:
    runner = RUNNERS[fence]
    mine = [block for block in ALL if block.fence == fence]
    body = "\n".join(runner.block.format(text=block.text, literal=repr(block.text)) for block in mine)
    folder = ROOT / "build" / "manual"  # below build/, where front ends find their packages
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / runner.file
    file.write_text(runner.program.format(opening=opening(fence), blocks=body), encoding="utf-8")
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
