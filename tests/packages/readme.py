"""Reads the READMEs: the commands that install, the examples, and what the examples print."""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## (?P<title>.*?)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
# A line that prints, in any of the languages, and the comment behind it with what it prints.
PRINTS = re.compile(r"^(?:print\(|console\.log\(|puts |p ).*?\s(?:#|//) (?P<printed>.*)$", re.MULTILINE)


def blocks(text: str, languages: tuple[str, ...]) -> list[str]:
    """Returns the fenced blocks of a page in one of the languages."""
    return [found["text"] for found in BLOCK.finditer(text) if found["language"] in languages]


def install_commands(page: Path, tool: str) -> list[str]:
    """Returns the commands of one tool in the install section of a page, without their comments."""
    sections = {found["title"]: found["text"] for found in SECTION.finditer(page.read_text(encoding="utf-8"))}
    assert "Install" in sections, f"{page} has no section 'Install'"
    lines = "\n".join(blocks(sections["Install"], ("sh",))).splitlines()
    return [line.split(" #")[0].strip() for line in lines if line.startswith(f"{tool} ")]


def first_example(page: Path, languages: tuple[str, ...]) -> tuple[str, list[str]]:
    """Returns the first example of a page in a language, and the lines that its comments say it prints."""
    found = blocks(page.read_text(encoding="utf-8"), languages)
    assert found, f"{page} has no example"
    return found[0], [match["printed"].rstrip() for match in PRINTS.finditer(found[0])]
