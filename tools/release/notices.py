"""Writes THIRD_PARTY_NOTICES.md: the software of others in the packages, with the texts of the licences.

Usage: python -m tools.release.notices --into FILE
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.release.third_party import Software, software

HEAD = """# Software of others

The packages of oneflow contain the following software of others, in the parts that the table names: `runtime` is in
every package but those of device plugins, which are named by their device.

| name | version | licence | inside |
|---|---|---|---|
"""


def page(found: list[Software]) -> str:
    """Returns the page, with a table and a section for each part."""
    rows = [f"| [{p.name}]({p.url}) | {p.version} | {p.licence} | {', '.join(p.inside)} |\n" for p in found]
    texts = [f"\n## {p.name}\n\n```\n{p.text}\n```\n" for p in found]
    return HEAD + "".join(rows) + "".join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, required=True, help="the file to write")
    arguments = parser.parse_args()
    arguments.into.parent.mkdir(parents=True, exist_ok=True)
    arguments.into.write_text(page(software()), encoding="utf-8")


if __name__ == "__main__":
    main()
