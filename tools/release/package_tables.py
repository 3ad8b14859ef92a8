"""Writes the tables of benchmarks/packages.md: how large packages are, and how long their installation takes.

Usage: python -m tools.release.package_tables, after `make test-packages`
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from tools.release.third_party import ROOT

PAGE = ROOT / "benchmarks/packages.md"
REPORT = ROOT / "build/package-report.json"


def sizes() -> Iterable[str]:
    """Yields the lines of the table of sizes, for the packages in dist/."""
    yield "| package | MB |\n|---|---:|"
    for package in sorted((ROOT / "dist").glob("*/*")):
        yield f"| `{package.name}` | {package.stat().st_size / 1e6:.2f} |"


def times() -> Iterable[str]:
    """Yields the lines of the table of installations, as the tests have measured them."""
    yield "| system | step | s | MB installed |\n|---|---|---:|---:|"
    for row in json.loads(REPORT.read_text(encoding="utf-8")):
        step = row["step"] if "example" in row["step"] else f"`{row['step']}`"
        yield f"| {row['system']} | {step} | {row['seconds']:.1f} | {row['megabytes'] or ''} |"


def filled(text: str, name: str, lines: Iterable[str]) -> str:
    """Returns the text with new lines between the markers of a table."""
    begin, end = f"<!-- {name}: begin -->\n", f"\n<!-- {name}: end -->"
    table = "\n".join(lines)
    return re.sub(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", lambda _: table, text, flags=re.DOTALL)


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(filled(text, "sizes", sizes()), "times", times()), encoding="utf-8")


if __name__ == "__main__":
    main()
