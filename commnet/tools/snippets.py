#!/usr/bin/env python3
"""Fills the code blocks of README.md, docs/*.md and the pages of the bindings with the parts of files that they show.

A block shows a part if the line before it is <!-- snippet: FILE --> for a whole file, or <!-- snippet: FILE PART -->
for what is between two lines that have the mark [PART].

    tools/snippets.py            writes the blocks
    tools/snippets.py --check    ends with 1 if a block is not what would be written
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- snippet: (?P<file>\S+)(?: (?P<part>\S+))? -->\n```\w*\n)(?P<code>.*?)(```\n)", re.DOTALL)
MARK = re.compile(r"\s*(//|#|/\*) \[\w+\]( \*/)?$")


def part_of(file: str, part: str | None) -> str:
    """Returns a part of a file, without marks and without its indentation."""
    lines = (ROOT / file).read_text().splitlines()
    if part:
        places = [i for i, line in enumerate(lines) if MARK.match(line) and f"[{part}]" in line]
        if len(places) != 2:
            raise SystemExit(f"{file}: the mark [{part}] is there {len(places)} times, expected 2")
        lines = lines[places[0] + 1 : places[1]]
    text = "\n".join(line for line in lines if not MARK.match(line)).strip("\n")
    return textwrap.dedent(text) + "\n"


def main() -> int:
    checks = "--check" in sys.argv[1:]
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("bindings/*/README.md"))]:
        old = path.read_text()
        new = BLOCK.sub(lambda match: match[1] + part_of(match["file"], match["part"]) + match[5], old)
        if new == old:
            continue
        stale.append(str(path.relative_to(ROOT)))
        if not checks:
            path.write_text(new)
    if checks and stale:
        print(f"not up to date: {', '.join(stale)}; run tools/snippets.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
