"""Draws the pictures of docs/einsum.md: common equations, with numbers that can be checked by hand.

python -m tools.einsum_pictures    writes docs/einsum/<name>.svg
"""

from pathlib import Path

from tools.einsum_pictures.drawing import svg
from tools.einsum_pictures.table import PICTURES

folder = Path(__file__).parents[2] / "docs" / "einsum"
folder.mkdir(exist_ok=True)
for picture in PICTURES:
    (folder / f"{picture.name}.svg").write_text(svg(picture), encoding="utf-8")
