"""Prints the outputs of the programs side by side, and checks that they agree digit for digit.

Usage: compare.py FILE...

There is one file per language, named after it. Only the lines that begin with "time:" may differ; any other difference
gives exit status 1.
"""

import re
import sys
from pathlib import Path


def parse(path):
    """Returns the named values of an output. The confusion matrix is the list of its numbers, row by row."""
    head, _, rest = path.read_text().partition("confusion matrix:\n")
    matrix, _, tail = rest.rpartition("time:")
    values = dict(line.split(": ", 1) for line in head.splitlines())
    values["confusion matrix"] = " ".join(re.findall(r"-?\d+", matrix.partition("]]")[0]))
    values["time"] = tail.strip()
    return values


def short(value):
    """Shortens a value that all outputs share, so that it fits into the table."""
    return value if len(value) <= 32 else f"{value[:29]}..."


def main(paths):
    outputs = {path.stem: parse(path) for path in map(Path, paths)}
    names = list(outputs)
    rows = list(next(iter(outputs.values())))
    shown = {row: short(value) for row, value in outputs[names[0]].items()}

    cells = [["", *names]]
    differing = []
    for row in rows:
        values = [outputs[name].get(row) for name in names]
        agree = row == "time" or all(value == values[0] for value in values)
        if not agree:
            differing.append(row)
        cells.append([row, *(shown[row] if agree and row != "time" else value or "missing" for value in values)])
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    print()
    for line in cells:
        print(" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
    print()
    if differing:
        print(f"The outputs differ in: {', '.join(differing)}")
        return 1
    print(f"The outputs of {', '.join(names)} agree digit for digit.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
