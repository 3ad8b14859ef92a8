"""Prints the outputs of the programs side by side, and checks that they agree digit for digit.

Usage: compare.py FILE...

There is one file per language, named after it. What the machine decides is shown and may differ: the hardware and
memory of the devices, and the time. Any other difference gives exit status 1, such as a device that one list lacks.
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
    """Shortens a value, so that it fits into the table."""
    return value if len(value) <= 32 else f"{value[:29]}..."


def is_of_the_machine(row):
    """Returns whether the machine decides the value of a row: that of a device, such as cpu:0, or the time."""
    return row == "time" or re.fullmatch(r"\w+:\d+", row) is not None


def main(paths):
    outputs = {path.stem: parse(path) for path in map(Path, paths)}
    names = list(outputs)
    rows = list(dict.fromkeys(row for values in outputs.values() for row in values))

    cells = [["", *names]]
    differing = []
    for row in rows:
        values = [outputs[name].get(row, "missing") for name in names]
        agree = "missing" not in values and (is_of_the_machine(row) or len(set(values)) == 1)
        if not agree:
            differing.append(row)
        cells.append([row, *(short(value) if agree else value for value in values)])
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
