"""Reads the text of a picture: finds lines of text, turns those that are upside down, and reads each.

Usage: ocr.py FOLDER PICTURE. FOLDER has what convert.py writes; PICTURE is a bitmap (PBM, P4), whose sizes are
multiples of 32. This folder has the same program in JavaScript, Ruby and C++.
"""

import sys
from pathlib import Path

import oneflow_py as flow

HEIGHT, TURNER_WIDTH = 48, 192


def read_bitmap(path):
    """Returns a picture of shape (1, 3, height, width), with 1 for white and -1 for black."""
    _, sizes, bits = path.read_bytes().split(b"\n", 2)
    width, height = map(int, sizes.split())
    pixels = [1.0 - 2 * (byte >> bit & 1) for byte in bits for bit in range(7, -1, -1)]
    return flow.tensor(pixels).reshape(1, 1, height, width).expand(1, 3, height, width)


def components(rows):
    """Yields the connected parts of a mask as boxes (left, top, right, bottom)."""
    width, height = len(rows[0]), len(rows)
    for y in range(height):
        for x in range(width):
            if not rows[y][x]:
                continue
            left, top, right, bottom = x, y, x, y
            rows[y][x] = False
            waiting = [(x, y)]
            while waiting:
                column, row = waiting.pop()
                left, right = min(left, column), max(right, column)
                top, bottom = min(top, row), max(bottom, row)
                for i, j in ((column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)):
                    if 0 <= i < width and 0 <= j < height and rows[j][i]:
                        rows[j][i] = False
                        waiting.append((i, j))
            yield left, top, right + 1, bottom + 1


def find_lines(detector, picture):
    """Yields the boxes of the lines of text. The detector marks their middles, so that boxes grow."""
    height, width = picture.shape[2:]
    marks = detector(picture)[0, 0]
    for left, top, right, bottom in components((marks > 0.3).tolist()):
        columns, rows = right - left, bottom - top
        if min(columns, rows) < 3 or marks[top:bottom, left:right].mean().item() < 0.5:
            continue
        margin = 4 * columns * rows // (5 * (columns + rows))
        yield max(left - margin, 0), max(top - margin, 0), min(right + margin, width), min(bottom + margin, height)


def is_upside_down(turner, line):
    """Returns whether a line is turned by 180 degrees."""
    width = min(-(-HEIGHT * line.shape[3] // line.shape[2]), TURNER_WIDTH)
    strip = flow.interpolate(line, size=(HEIGHT, width), mode="bilinear")
    return turner(flow.pad(strip, (0, TURNER_WIDTH - width)))[0, 1].item() > 0.9


def read_line(reader, characters, line):
    """Returns the text of a line: at each position the most probable character, or none."""
    width = -(-HEIGHT * line.shape[3] // line.shape[2])
    strip = flow.interpolate(line, size=(HEIGHT, width), mode="bilinear")
    best = reader(strip)[0].argmax(dim=1).tolist()
    changes = [now for before, now in zip([0, *best], best, strict=False) if now != before and now != 0]
    return "".join(characters[number - 1] for number in changes)


def main(folder, path):
    detector, turner, reader = (flow.graph.load(folder / f"{name}.flow") for name in ("detector", "turner", "reader"))
    characters = (folder / "characters.txt").read_text(encoding="utf-8").split("\n")
    picture = read_bitmap(path)
    for left, top, right, bottom in find_lines(detector, picture):
        line = picture[:, :, top:bottom, left:right]
        if is_upside_down(turner, line):
            line = line.flip([2, 3])
        print(f"{left},{top} {right},{bottom} {read_line(reader, characters, line)}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
