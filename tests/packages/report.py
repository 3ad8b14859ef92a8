"""Collects the seconds and bytes of installations, for the table at the end of the tests and for the documentation."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One measured step."""

    system: str
    step: str
    seconds: float
    megabytes: float | None = None


@dataclass
class Report:
    """All measured steps."""

    rows: list[Row] = field(default_factory=list)

    def add(self, system: str, step: str, seconds: float, size: int | None = None) -> None:
        self.rows.append(Row(system, step, round(seconds, 2), None if size is None else round(size / 1e6, 2)))

    def write(self, file: Path) -> None:
        file.write_text(json.dumps([asdict(row) for row in self.rows], indent=1) + "\n")

    def table(self) -> str:
        """Returns the steps as lines of text."""
        lines = [f"{'system':<10} {'step':<44} {'s':>7} {'MB':>8}"]
        for row in self.rows:
            size = "" if row.megabytes is None else f"{row.megabytes:.2f}"
            lines.append(f"{row.system:<10} {row.step:<44} {row.seconds:7.2f} {size:>8}".rstrip())
        return "\n".join(lines)
