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

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "docs" / "generated" / "reference"

# Per word for highlighting: the program that runs the blocks, how a block becomes a part of it, and how it is started.
PYTHON = """{opening}
import json
def outcome(text):
    try:
        eval(text, globals())
    except Exception as error:
        return f"`flow.{{type(error).__name__}}`: {{error}}"
print(json.dumps([outcome(text) for text in [{blocks}]]))
"""
JS = """{opening}
const blocks = [{blocks}];
const outcome = (block) => {{
  try {{
    block();
    return null;
  }} catch (error) {{
    return `\\`flow.${{error.constructor.name}}\\`: ${{error.message}}`;
  }}
}};
console.log(JSON.stringify(blocks.map(outcome)));
"""
RUBY = """{opening}
require "json"
blocks = [{blocks}]
puts JSON.generate(blocks.map {{ |block|
  begin
    block.call
    nil
  rescue OneFlow::Error => error
    "`#{{error.class}}`: #{{error.message}}"
  end
}})
"""


@dataclass(frozen=True)
class Runner:
    program: str
    block: str
    file: str
    command: tuple[str, ...]


RUNNERS = {
    "python": Runner(PYTHON, "{literal},\n", "blocks.py", (str(ROOT / ".venv" / "bin" / "python"),)),
    "js": Runner(JS, "() => ({text}),\n", "blocks.mjs", ("node",)),
    "ruby": Runner(RUBY, "-> {{ {text} }},\n", "blocks.rb", ("ruby", f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}")),
}


@dataclass(frozen=True)
class Block:
    page: str
    fence: str
    text: str
    outcome: str | None  # the text of the error that the page promises


def blocks() -> Iterator[Block]:
    """The runnable blocks of all pages: those below "Example" and "Errors", not the signatures."""
    for path in sorted(MANUAL.glob("*.md")):
        part = "signature"
        for piece in re.split(r"\n\n+|\n(?=```\w)", path.read_text(encoding="utf-8")):
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
def test_blocks_do_what_the_page_says(fence: str, tmp_path: Path) -> None:
    runner = RUNNERS[fence]
    mine = [block for block in ALL if block.fence == fence]
    body = "".join(runner.block.format(text=block.text, literal=repr(block.text)) for block in mine)
    (tmp_path / "node_modules").mkdir()  # where Node.js looks for packages
    (tmp_path / "node_modules" / "oneflow-js").symlink_to(ROOT / "bindings" / "js")
    file = tmp_path / runner.file
    file.write_text(runner.program.format(opening=opening(fence), blocks=body), encoding="utf-8")
    done = subprocess.run([*runner.command, str(file)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    wrong = [
        f"{block.page}: {block.text}\n  page: {block.outcome}\n  found: {outcome}"
        for block, outcome in zip(mine, found, strict=True)
        if outcome != block.outcome
    ]
    assert not wrong, "\n".join(wrong)
