"""Draws an equation as SVG: the tensors as grids of elements, and the computation of one element of the result."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from tools.einsum_pictures.table import Picture
from tools.einsum_pictures.worked import Tensor, Worked

CELL, GAP = 30, 10  # the size of an element, and the gap between blocks of elements
LABEL_STEP = 24  # distance between lines of labels
MARGIN, BETWEEN = 20, 34
TIMES, BECOMES = "\u00d7", "\u2192"  # signs between tensors
BASELINE = 5  # distance of the baseline of a line of text from its middle
KEPT, SUMMED = "#3b6a9c", "#b9560b"  # colours of labels
TINTS = ("#fde6d0", "#fbcb9b", "#f3a65f")  # colours of elements that are read, by their index along the summed label

STYLE = f"""\
  <style>
    text {{ font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #222 }}
    .title {{ font: 14px system-ui, sans-serif; fill: #555 }}
    .equation {{ font-weight: 600; font-size: 16px }}
    .element, .label, .sign {{ text-anchor: middle }}
    .unread {{ fill: #bbb }}
    .followed {{ fill: #fff; font-weight: 600 }}
    .label {{ font-weight: 600; font-size: 15px }}
    .sign {{ font-size: 20px; fill: #555 }}
    .kept {{ fill: {KEPT} }}
    .summed {{ fill: {SUMMED} }}
    .small {{ font-size: 11px }}
    path {{ fill: none; stroke-width: 1.2 }}
  </style>"""


@dataclass(frozen=True)
class Axes:
    """The dimensions of a tensor that are drawn along one direction, the outermost one first."""

    dims: tuple[int, ...]
    sizes: tuple[int, ...]

    def block(self, level: int) -> int:
        """Returns the distance between neighbouring indices of a dimension."""
        if level == len(self.dims) - 1:
            return CELL
        return self.extent(level + 1) + GAP

    def extent(self, level: int = 0) -> int:
        """Returns the length of this dimension and those inside it, as drawn."""
        if level == len(self.dims):
            return CELL
        return self.block(level) * self.sizes[level] - (GAP if level < len(self.dims) - 1 else 0)

    def offset(self, place: tuple[int, ...]) -> int:
        """Returns the coordinate of an element along this direction."""
        return sum(place[dim] * self.block(level) for level, dim in enumerate(self.dims))


@dataclass(frozen=True)
class Drawn:
    """A tensor and the directions of its dimensions. Higher ranks are drawn as blocks of matrices."""

    tensor: Tensor
    across: Axes
    down: Axes
    is_result: bool

    @property
    def left(self) -> int:
        """The width of the labels to the left of the tensor."""
        return LABEL_STEP * len(self.down.dims)


def drawn(tensor: Tensor, worked: Worked) -> Drawn:
    """Assigns the dimensions of a tensor to directions."""
    rank = len(tensor.labels)
    dims: tuple[tuple[int, ...], tuple[int, ...]]
    if rank == 1:
        dims = ((), (0,)) if is_column(tensor.labels, worked) else ((0,), ())
    else:
        dims = {0: ((), ()), 2: ((1,), (0,)), 3: ((2,), (0, 1)), 4: ((1, 3), (0, 2))}[rank]
    across, down = (Axes(each, tuple(worked.sizes[tensor.labels[dim]] for dim in each)) for each in dims)
    return Drawn(tensor, across, down, tensor is worked.result)


def is_column(label: str, worked: Worked) -> bool:
    """Returns whether a vector is drawn as a column: its label indexes the rows of a matrix, and never columns."""
    matrices = [each.labels for each in (*worked.operands, worked.result) if len(each.labels) > 1]
    return any(labels[-2] == label for labels in matrices) and all(labels[-1] != label for labels in matrices)


def element(drawing: Drawn, place: tuple[int, ...], worked: Worked) -> str:
    """Draws one element: a cell with its number."""
    tensor = drawing.tensor
    x, y = drawing.across.offset(place), drawing.down.offset(place)
    actual = tuple(min(at, size - 1) for at, size in zip(place, tensor.shape, strict=True))
    readers = [term for term in worked.terms(worked.picture.place) if agrees(term.at, tensor.labels, place)]
    fill, stroke, kind = "#fff", "#999", "element"
    if drawing.is_result:
        is_followed = place == worked.picture.place
        fill, stroke = (KEPT if is_followed else "#eef4fb"), KEPT
        kind += " followed" if is_followed else ""
    elif readers:
        fill = TINTS[readers[0].at[worked.summed]] if len(worked.summed) == 1 else TINTS[1]
    elif len({*zip(tensor.labels, place, strict=True)}) > len({*tensor.labels}):
        kind += " unread"  # off the diagonal
    dashes = ' stroke-dasharray="3 3"' if actual != place else ""
    return (
        f'    <rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{stroke}"{dashes}/>\n'
        f'    <text x="{x + CELL // 2}" y="{y + CELL // 2 + BASELINE}" class="{kind}">{tensor.values[actual]}</text>'
    )


def agrees(at: dict[str, int], labels: str, place: tuple[int, ...]) -> bool:
    """Returns whether the values of the labels select the element at this index."""
    return all(at[label] == value for label, value in zip(labels, place, strict=True))


def label_lines(drawing: Drawn, worked: Worked) -> Iterator[str]:
    """Draws each label next to a line along its dimension, with the labels of outer dimensions further away."""
    for axes, is_across in ((drawing.across, True), (drawing.down, False)):
        for level, dim in enumerate(axes.dims):
            label = drawing.tensor.labels[dim]
            kind, colour = ("summed", SUMMED) if label in worked.summed else ("kept", KEPT)
            far = -8 - LABEL_STEP * (len(axes.dims) - 1 - level)
            end = axes.extent(level)
            if is_across:
                path, x, y = f"M1 {far}H{end - 1}", end // 2, far - 5
            else:
                path, x, y = f"M{far} 1V{end - 1}", far - 9, end // 2 + BASELINE
            yield f'    <path d="{path}" stroke="{colour}"/>'
            yield f'    <text x="{x}" y="{y}" class="label {kind}">{label}</text>'


def tensor_group(drawing: Drawn, worked: Worked, x: int, y: int) -> str:
    """Draws a tensor with its labels at the given coordinates."""
    shape = [worked.sizes[label] for label in drawing.tensor.labels]
    parts = [element(drawing, place, worked) for place in itertools.product(*map(range, shape))]
    return "\n".join([f'  <g transform="translate({x} {y})">', *parts, *label_lines(drawing, worked), "  </g>"])


def formula(worked: Worked) -> tuple[str, int]:
    """Returns the equation as an indexed sum, in SVG text, and its width in characters."""

    def indexed(name: str, labels: str) -> str:
        return f"{name}[{','.join(labels)}]" if labels else name

    def marked(text: str) -> str:
        return "".join(f'<tspan class="summed">{c}</tspan>' if c in worked.summed else c for c in text)

    factors = [indexed(name, each.labels) for name, each in zip("ABC", worked.operands, strict=False)]
    left, right = indexed("R", worked.output), " · ".join(factors)
    columns = len(left) + 5 + len(worked.summed) + len(right)
    right = marked(right)
    sign = ""
    if worked.summed:
        sign = f'Σ<tspan class="summed small" dy="4">{worked.summed}</tspan>'
        right = f'<tspan dx="8" dy="-4">{right}</tspan>'
    return f"{left} = {sign}{right}", columns


def followed(worked: Worked) -> str:
    """Returns the computation of the element that the picture shows."""
    place = ",".join(map(str, worked.picture.place))
    terms = worked.terms(worked.picture.place)
    sums = ["·".join(map(str, term.factors)) for term in terms]
    value = worked.result.values[worked.picture.place]
    steps = [" + ".join(sums)] + ([str(value)] if len(sums) > 1 or len(worked.operands) > 1 else [])
    return " = ".join([f"R[{place}]" if place else "R", *steps])


def svg(picture: Picture) -> str:
    """Returns the whole picture."""
    worked = Worked(picture)
    drawings = [drawn(each, worked) for each in (*worked.operands, worked.result)]
    above = LABEL_STEP * max(len(each.across.dims) for each in drawings)
    top = 44 + above
    height = max(each.down.extent() for each in drawings)
    middle = top + height // 2

    groups, x = [], MARGIN
    for i, each in enumerate(drawings):
        if i > 0:
            sign = BECOMES if each.is_result else TIMES
            groups.append(f'  <text x="{x + BETWEEN // 2}" y="{middle + BASELINE}" class="sign">{sign}</text>')
            x += BETWEEN
        x += each.left
        groups.append(tensor_group(each, worked, x, middle - each.down.extent() // 2))
        x += each.across.extent()

    text, columns = formula(worked)
    last = followed(worked)
    bottom = top + height + 32
    width = max(x, 20 + 9 * max(columns, len(last)), 20 + 10 * len(picture.equation) + 8 * len(picture.title)) + MARGIN
    spaced = escape(picture.equation)
    heading = f'<tspan class="equation">{spaced}</tspan>  <tspan class="title" dx="8">{escape(picture.title)}</tspan>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 40}"'
            f' viewBox="0 0 {width} {bottom + 40}">',
            f"  <title>{spaced}: {escape(picture.title)}</title>",
            STYLE,
            f'  <rect width="{width}" height="{bottom + 40}" fill="#fff"/>',
            f'  <text x="{MARGIN}" y="26">{heading}</text>',
            *groups,
            f'  <text x="{MARGIN}" y="{bottom}">{text}</text>',
            f'  <text x="{MARGIN}" y="{bottom + 22}">{last}</text>',
            "</svg>\n",
        ]
    )
