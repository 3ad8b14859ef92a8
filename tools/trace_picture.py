"""Draws a trace, the JSON file that a profile saves, as SVG: time from left to right, the calls of a body below it.

python -m tools.trace_picture TRACE PICTURE [--from MS] [--to MS]
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

WIDTH, MARGIN, TOP = 1000, 12, 30  # of the picture, and where the first track begins
ROW, GAP = 22, 14  # the height of a call, and the distance between tracks
CHARACTER, PADDING = 6.7, 4  # the width of a character, and the space around a name
TICKS = 10  # about how many marks the axis has
COLOURS = {
    "composite": "#d9dee6",
    "contraction": "#f3a65f",
    "elementwise": "#9cc3e6",
    "generator": "#c9b3e6",
    "reduction": "#8fd3b0",
    "scan": "#8fd3b0",
    "native": "#e69ca6",
    "view": "#eeeeee",
}
OTHER = "#f2e29b"
STYLE = """\
  <style>
    text { font: 11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #222 }
    .axis { fill: #777; text-anchor: middle }
    .track { fill: #555; font-weight: 600 }
    line { stroke: #ddd }
    rect { stroke: #fff; stroke-width: 0.5 }
  </style>"""


@dataclass(frozen=True)
class Call:
    """A call, in microseconds; `depth` is the number of calls around it on its track."""

    name: str
    kind: str
    start: float
    time: float
    track: int
    depth: int
    operands: str


def calls_of(events: list[dict[str, Any]]) -> Iterator[Call]:
    """Yields the calls of all tracks, outer calls before inner ones."""
    around: dict[int, list[float]] = {}  # the ends of the calls around, per track
    complete = [event for event in events if event["ph"] == "X"]
    for event in sorted(complete, key=lambda event: (event["tid"], event["ts"], -event["dur"])):
        ends = around.setdefault(event["tid"], [])
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        yield Call(
            event["name"],
            event["cat"],
            event["ts"],
            event["dur"],
            event["tid"],
            len(ends),
            event["args"]["operands"],
        )
        ends.append(event["ts"] + event["dur"])


def step_of(length: float) -> float:
    """Returns a round distance between about TICKS marks of an axis."""
    exponent = math.pow(10, math.floor(math.log10(length / TICKS)))
    return next(factor * exponent for factor in (1, 2, 5, 10) if factor * exponent * TICKS >= length)


def time_text(microseconds: float) -> str:
    return f"{microseconds / 1000:g} ms" if microseconds >= 1000 else f"{microseconds:g} us"


def draw_axis(begin: float, end: float, height: float) -> Iterator[str]:
    step = step_of(end - begin)
    scale = (WIDTH - 2 * MARGIN) / (end - begin)
    for i in range(int((end - begin) / step) + 1):
        x = MARGIN + i * step * scale
        yield f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - 30}"/>'
        yield f'<text class="axis" x="{max(x, 2 * MARGIN):.1f}" y="{TOP - 12}">{time_text(round(i * step, 3))}</text>'


def draw_call(call: Call, begin: float, end: float, top: float) -> Iterator[str]:
    scale = (WIDTH - 2 * MARGIN) / (end - begin)
    x, width = MARGIN + (call.start - begin) * scale, max(call.time * scale, 0.5)
    y = top + call.depth * ROW
    tip = escape(f"{call.name}: {time_text(round(call.time, 2))}, {call.operands}")
    yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 2}" fill="{COLOURS.get(call.kind, OTHER)}">'
    yield f"<title>{tip}</title></rect>"
    if len(call.name) * CHARACTER + PADDING <= width:
        yield f'<text x="{x + PADDING / 2:.1f}" y="{y + 14}">{escape(call.name)}</text>'


def draw_legend(kinds: list[str], y: float) -> Iterator[str]:
    x: float = MARGIN
    for kind in kinds:
        yield f'<rect x="{x:.1f}" y="{y}" width="12" height="12" fill="{COLOURS.get(kind, OTHER)}"/>'
        yield f'<text x="{x + 16:.1f}" y="{y + 10}">{escape(kind)}</text>'
        x += 16 + (len(kind) + 3) * CHARACTER


def svg(trace: dict[str, Any], begin: float = 0, end: float = math.inf) -> str:
    """Draws the calls that begin between two times, in microseconds."""
    events = trace["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    calls = [call for call in calls_of(events) if begin <= call.start < end]
    if not calls:
        raise ValueError("the trace has no calls in this part of the time")
    begin, end = min(call.start for call in calls), max(call.start + call.time for call in calls)
    tracks = {call.track: 0 for call in calls}
    for call in calls:
        tracks[call.track] = max(tracks[call.track], call.depth + 1)
    height = TOP + sum(rows * ROW + ROW + GAP for rows in tracks.values()) + 30
    lines = list(draw_axis(begin, end, height))
    top: float = TOP
    for track, rows in tracks.items():
        lines.append(f'<text class="track" x="{MARGIN}" y="{top + 14}">{escape(names.get(track, str(track)))}</text>')
        top += ROW
        for call in calls:
            if call.track == track:
                lines.extend(draw_call(call, begin, end, top))
        top += rows * ROW + GAP
    lines.extend(draw_legend(sorted({call.kind for call in calls}), height - 20))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}">'
    return "\n".join([head, STYLE, '  <rect width="100%" height="100%" fill="#fff"/>', *lines, "</svg>\n"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--from", type=float, default=0, dest="begin", metavar="MS")
    parser.add_argument("--to", type=float, default=math.inf, dest="end", metavar="MS")
    options = parser.parse_args()
    picture = svg(json.loads(options.trace.read_text()), 1000 * options.begin, 1000 * options.end)
    options.picture.write_text(picture)


if __name__ == "__main__":
    main()
