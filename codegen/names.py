"""Helpers for the names and the prose of a target: case rules, `names.yaml`, line wrapping.

A target's `names.yaml` gives a reason for each entry:

    renamed:
      slice: {as: slice_view, because: the language's own slice means something else}
    omitted:
      index: {because: the indexing syntax is hand-written and calls it}
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codegen import signature as signatures
from codegen.definitions import Definitions, Function
from codegen.errors import TargetError, TextError, unknown
from codegen.model import Op


def camel(name: str) -> str:
    """Converts to camelCase: index_put_ -> indexPut_, comm.local.all_reduce -> comm.local.allReduce."""
    return re.sub(r"(?<=[a-z0-9])_([a-z0-9])", lambda m: m.group(1).upper(), name)


def pascal(name: str) -> str:
    """Converts to PascalCase: index_select -> IndexSelect."""
    return "".join(part.capitalize() for part in name.split("_"))


def snake(name: str) -> str:
    """Converts from PascalCase: TensorFile -> tensor_file."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def with_parents(spaces: Iterable[str]) -> list[str]:
    """Returns namespaces and those that contain them, outermost first: nn.functional -> nn, nn.functional."""
    parts = (space.split(".") for space in spaces)
    return sorted({".".join(each[:count]) for each in parts for count in range(1, len(each) + 1)})


def identifier(name: str) -> str:
    """Replaces the dots of a name by underscores: max.dim -> max_dim."""
    return name.replace(".", "_")


def wrap(text: str, width: int, prefix: str = "") -> list[str]:
    """Breaks prose into lines of at most `width` columns that begin with `prefix`; blank lines separate paragraphs."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if lines:
            lines.append(prefix.rstrip())
        wrapped = textwrap.wrap(
            " ".join(paragraph.split()), width - len(prefix), break_long_words=False, break_on_hyphens=False
        )
        lines += [prefix + line for line in wrapped]
    return lines


def wrap_call(text: str, width: int) -> list[str]:
    """Breaks a call into lines of at most `width` columns after commas that are not in strings."""
    lines = [""]
    for piece in re.findall(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"'])+,? ?|,""", text):
        if lines[-1].strip() and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("    ")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


@dataclass(frozen=True)
class Names:
    """The entries of a target's `names.yaml`."""

    renamed: Mapping[str, str] = field(default_factory=dict)  # function to public name
    omitted: Mapping[str, str] = field(default_factory=dict)  # function to reason

    @staticmethod
    def read(path: Path) -> Names:
        """Reads `names.yaml`; returns no entries if there is no such file. Raises TargetError if it is invalid."""
        if not path.exists():
            return Names()
        import yaml

        content = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
        sections = {"renamed": ("as", "because"), "omitted": ("because",)}
        found: dict[str, dict[str, dict[str, str]]] = {}
        for section, entries in content.items():
            if section not in sections:
                raise TargetError(f"{path}: {unknown('section', section, sections)}")
            for name, entry in (entries or {}).items():
                if not isinstance(entry, dict) or set(entry) != set(sections[section]):
                    raise TargetError(f"{path}: '{name}' must have the keys {', '.join(sections[section])}")
            found[section] = entries or {}
        return Names(
            {name: entry["as"] for name, entry in found.get("renamed", {}).items()},
            {name: entry["because"] for name, entry in found.get("omitted", {}).items()},
        )

    def check(self, definitions: Definitions) -> None:
        """Raises TargetError if an entry names a function that does not exist."""
        known = {function.name for function in definitions.functions}
        for name in (*self.renamed, *self.omitted):
            if name not in known:
                raise TargetError(f"names.yaml: {unknown('function', name, known)}")

    def of(self, name: str, rule: Callable[[str], str] = str, reserved: Collection[str] = ()) -> str:
        """Returns the public name: that of `names.yaml`, else `rule(name)`, with `_` appended to a reserved word."""
        if name in self.renamed:
            return self.renamed[name]
        ruled = rule(name)
        return f"{ruled}_" if any(word in reserved for word in ruled.split(".")[-1:]) else ruled

    def offered(self, definitions: Definitions) -> list[Function]:
        """Returns the functions that this target does not omit."""
        return [function for function in definitions.functions if function.name not in self.omitted]


def known_words(definitions: Definitions) -> frozenset[str]:
    """Returns the names with an underscore to which case rules apply in texts: of operators, arguments and others."""
    words = {part for op in definitions.ops for part in op.name.split(".")}
    words |= {argument.name for op in definitions.ops for argument in op.signature.arguments}
    words |= set(definitions.words)
    return frozenset(word for word in words if "_" in word.strip("_"))


def type_placeholders(says: str) -> list[str]:
    """Returns the words in braces of an error text that are not types."""
    wrong = []
    for word in re.findall(r"\{([^{}]*)\}", says):
        if word != "None":
            try:
                signatures.parse_type(word)
            except TextError:
                wrong.append(word)
    return wrong


def source_files(ops: Collection[Op]) -> list[str]:
    """Returns the definition files that contain these records, sorted."""
    return sorted({op.location.file for op in ops})


def fill(head: str, items: Collection[str], tail: str, width: int) -> str:
    """Joins `head`, comma-separated items and `tail`; lines of more than `width` columns are broken between items.

    Continuation lines are indented to the first item: fill("f(", ["int a", "int b"], ") {", 12) returns
    "f(int a,\\n  int b) {".
    """
    lines = [head]
    for position, item in enumerate(items):
        last = position == len(items) - 1
        text = item + ("" if last else ",")
        room = width - (len(tail) if last else 0)
        if position and len(lines[-1]) + 1 + len(text) > room:
            lines.append(" " * len(head) + text)
        else:
            lines[-1] += (" " if position else "") + text
    return "\n".join(lines) + tail


def in_lines(head: str, items: Collection[str], tail: str, indent: int, width: int) -> str:
    """Joins `head`, comma-separated items and `tail`: in one line or, if it is too long, with a line for the items.

    If that is too long as well, each item has a line. Lines except for the first one are indented by `indent` columns.
    """
    margin = " " * indent
    line = f"{head}{', '.join(items)}{tail}"
    if indent + len(line) <= width:
        return line
    inner = f"{margin}    {', '.join(items)}"
    if len(inner) > width:
        inner = ",\n".join(f"{margin}    {each}" for each in items)
    return f"{head}\n{inner}\n{margin}{tail}"
