"""Checks that the programs of all languages print the same losses and the same accuracy, digit for digit.

Usage: compare.py FILE...

There is one file per language, named after it, with the output of its program. The images per second may differ; any
other difference gives exit status 1.
"""

import re
import sys
from itertools import zip_longest
from pathlib import Path


def lines_of(path):
    """Returns the lines of an output without their rates."""
    return [re.sub(r", \d+ images/s$", "", line) for line in path.read_text().splitlines()]


def main(paths):
    outputs = {path.stem: lines_of(path) for path in map(Path, paths)}
    names = list(outputs)
    rows = list(zip_longest(*outputs.values(), fillvalue="missing"))
    differing = [row for row in rows if len(set(row)) > 1]
    for row in differing:
        print("\n".join(f"{name}: {line}" for name, line in zip(names, row, strict=True)))
    if differing:
        print(f"The outputs differ in {len(differing)} of {len(rows)} lines.")
        return 1
    if not rows or not rows[-1][0].startswith("accuracy: "):
        print("The outputs do not end with an accuracy.")
        return 1
    print(f"{', '.join(names)}: {len(rows) - 1} losses agree digit for digit; {rows[-1][0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
