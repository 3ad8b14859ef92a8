#!/usr/bin/env python3
"""Writes docs/reference.md from include/commnet/commnet.h, and from the notes on functions in tools/reference.json.

tools/reference.py            writes the file
tools/reference.py --check    ends with 1 if the file is not what would be written
"""

import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADER = ROOT / "include/commnet/commnet.h"
NOTES = ROOT / "tools/reference.json"
REFERENCE = ROOT / "docs/reference.md"

SECTION = re.compile(r"/\* -{10,} (?P<title>[a-z ]+) \*/")
NAME = re.compile(r"\b(cn_\w+)\(")
NOTE_KINDS = ("ownership", "threads", "errors")


def text_of(comment: str) -> str:
    """Returns the words of a comment in one paragraph."""
    body = comment.removeprefix("/*").removesuffix("*/")
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in body.strip().split("\n")]
    return " ".join(line.strip() for line in lines).strip()


def split_blocks(section: str) -> list[str]:
    """Splits a section at its empty lines, and where a comment begins at the start of a line."""
    blocks: list[list[str]] = []
    is_open, in_braces = False, False
    for line in section.split("\n"):
        starts = line.startswith("/*") and not in_braces
        if not line.strip() or starts:
            is_open = False
        if line.strip():
            if not is_open:
                blocks.append([])
                is_open = True
            blocks[-1].append(line)
            in_braces = (in_braces or line.rstrip().endswith("{")) and not line.startswith("}")
    return ["\n".join(block) for block in blocks]


def split_comment(block: str) -> tuple[str, str]:
    """Returns the text of the comment at the start of a block, and the declarations after it."""
    if not block.startswith("/*"):
        return "", block
    end = block.index("*/") + 2
    return text_of(block[:end]), block[end:].strip("\n")


def declarations(code: str) -> list[str]:
    """Splits functions at their semicolons; enumerations and structures stay whole."""
    if "{" in code:
        return [code]
    return [part.strip() + ";" for part in code.split(";\n") if part.strip()] if ";\n" in code else [code]


def describe(code: str, text: str, notes: dict[str, dict[str, str]]) -> str:
    """Returns the entry of a declaration."""
    code = re.sub(r"\bCN_API ", "", code).replace(";;", ";")
    found = NAME.search(code) if "{" not in code and not code.startswith("typedef") else None
    lines = [f"### {found[1]}", ""] if found else []
    lines += ["```c", code, "```", ""]
    if text:
        lines += [wrap(text), ""]
    own = notes.get(found[1], {}) if found else {}
    lines += [wrap(f"- *{kind.capitalize()}:* {own[kind]}", "  ") for kind in NOTE_KINDS if kind in own]
    return "\n".join(lines).rstrip() + "\n"


def wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def rules_of(head: str) -> list[str]:
    """Returns the concepts and the rules at the head of the header."""
    comment = head[head.index("/*") : head.index("*/")]
    lines = [re.sub(r"^\s*/?\*+ ?", "", line) for line in comment.split("\n")]
    concepts = lines[lines.index("Concepts:") + 1 : lines.index("Rules for all functions:")]
    result = ["## Concepts", "", "| | |", "|---|---|"]
    for line in filter(str.strip, concepts):
        name, _, meaning = line.strip().partition(" ")
        result.append(f"| {name} | {meaning.strip()} |")
    rules = "\n".join(lines[lines.index("Rules for all functions:") + 1 :])
    items = [" ".join(item.split()) for item in re.split(r"(?:^|\n)\s*- ", rules) if item.strip()]
    return [*result, "", "## Rules for all functions", "", *(wrap(f"- {item}", "  ") for item in items), ""]


def generate(header: str, notes: dict[str, dict[str, str]]) -> str:
    inside = header.partition("#define CN_API\n#endif\n")[2].rpartition("#ifdef __cplusplus")[0]
    parts = SECTION.split(inside)
    sections = [("status", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]
    names = {name for _, section in sections for name in re.findall(r"CN_API [^;(]*?\b(cn_\w+)\(", section)}
    if unknown := sorted(set(notes) - names):
        raise SystemExit(f"{NOTES.name}: the header has no function {', '.join(unknown)}")
    result = [
        "# Reference of the C interface",
        "",
        "<!-- Written by tools/reference.py from include/commnet/commnet.h. -->",
        "",
        " · ".join(f"[{title.capitalize()}](#{title.replace(' ', '-')})" for title, _ in sections),
        "",
        *rules_of(header),
    ]
    for title, section in sections:
        result += [f"## {title.capitalize()}", ""]
        for block in split_blocks(section):
            text, code = split_comment(block)
            if not code:
                result += [wrap(text), ""]
                continue
            for index, declaration in enumerate(declarations(code)):
                result.append(describe(declaration, text if index == 0 else "", notes))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(result)).rstrip() + "\n"


def main() -> int:
    wanted = generate(HEADER.read_text(), json.loads(NOTES.read_text()))
    if "--check" in sys.argv[1:]:
        if REFERENCE.exists() and REFERENCE.read_text() == wanted:
            return 0
        print(f"{REFERENCE} is not up to date: run tools/reference.py", file=sys.stderr)
        return 1
    REFERENCE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
