"""Writes the table of docs/passes.md: the rules that passes apply.

python tools/pass_table.py    writes the table between the markers in docs/passes.md
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from codegen import load  # noqa: E402
from codegen.definitions import Rule  # noqa: E402

PAGE = ROOT / "docs" / "passes.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def rules() -> tuple[Rule, ...]:
    return load.load(load.definition_files(ROOT), ROOT).rules


def table(found: tuple[Rule, ...]) -> str:
    lines = ["| rules | number | what the first one does | error |", "|---|---:|---|---:|"]
    for family, members in groupby(found, lambda rule: (rule.op.location, rule.family)):
        own = list(members)
        error = "none" if own[0].error is None else f"{own[0].error:g}"
        lines.append(f"| `{family[1]}` | {len(own)} | {own[0].op.summary} | {error} |")
    return "\n".join(lines)


def page(text: str, found: tuple[Rule, ...]) -> str:
    """Returns the text of the page with an up-to-date table."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{table(found)}\n{END}{tail}"


def main() -> None:
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), rules()), encoding="utf-8")


if __name__ == "__main__":
    main()
