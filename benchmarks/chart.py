"""Draws results as a bar chart: the speed of each row relative to the best peer, on a logarithmic axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROW_INCHES = 0.24


def draw(rows: list[dict[str, Any]], heading: str, path: Path) -> None:
    """Writes an SVG file with one bar per row. Rows of ratios, such as means, are left out."""
    rows = [row for row in rows if row["unit"] != "ratio"]
    factors = [min(row["peers"].values()) / row["ours"] for row in rows]
    labels = [f"{row['what']}  ({min(row['peers'], key=row['peers'].get)})" for row in rows]
    plt.rcParams["svg.hashsalt"] = "oneflow"  # makes the file reproducible
    figure, axes = plt.subplots(figsize=(11, 1.2 + ROW_INCHES * len(rows)), layout="constrained")
    bars = axes.barh(labels, factors, color=["#2a7f62" if factor >= 1 else "#b5523b" for factor in factors])
    axes.bar_label(bars, [f"{factor:.2f}" for factor in factors], padding=3, fontsize=7)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=7)
    axes.set_xlabel("speed relative to the best peer, which is in brackets")
    axes.set_title(heading, fontsize=9)
    figure.savefig(path, metadata={"Date": None})
