"""Runs the benchmark programs and writes their results to benchmarks/results/.

Usage: run.py [--as NAME] [--to FOLDER] [--chart] [PROGRAM...]

Without programs, it runs all `bench_*` files in this folder and writes results/<date>. With programs, it writes
results/<date>-<name> if a name is given, and otherwise only prints the results. benchmarks/README.md describes what a
program prints. The exit status says whether the programs ran, not whether their bounds hold.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
INTERPRETERS = {".py": [sys.executable], ".mjs": ["node", "--expose-gc"], ".rb": ["ruby"], ".sh": ["bash"]}

Row = dict[str, Any]


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def run(program: Path) -> list[Row]:
    """Runs a program and returns the rows that it prints. Prints each row as soon as it is there."""
    print(f"== {program.relative_to(ROOT)}", flush=True)
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    rows = []
    with subprocess.Popen(
        [*INTERPRETERS[program.suffix], str(program)],
        cwd=program.parent,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith("{"):
                rows.append(json.loads(line))
                print(line_of(rows[-1]), flush=True)
    if running.returncode:
        raise SystemExit(f"{program} failed with status {running.returncode}")
    return rows


def ratio(row: Row, peer: str) -> float:
    """Returns ours / peer; the peer "best" is the fastest one."""
    peers = row["peers"]
    return float(row["ours"]) / float(
        min(peers.values()) if peer == "best" else {**peers, **row.get("references", {})}[peer]
    )


def holds(row: Row, bound: dict[str, Any]) -> bool:
    """Returns whether a bound of a row holds."""
    return ratio(row, bound["peer"]) <= float(bound["at_most"])


def verdicts(row: Row) -> list[str]:
    """Returns a text for each bound of a row: the ratio, and whether the bound holds."""
    texts = []
    for bound in row["bounds"]:
        verdict = "holds" if holds(row, bound) else "missed"
        texts.append(f"{ratio(row, bound['peer']):.2f} of {bound['peer']} (bound {bound['at_most']:.2f}: {verdict})")
    return texts


def with_means(rows: list[Row]) -> list[Row]:
    """Adds one row per group and peer: the geometric mean of the ratios, with the bound that the rows give."""
    groups: dict[tuple[str, str], tuple[float, list[float]]] = {}
    for row in rows:
        for mean in row.get("means", []):
            ratios = groups.setdefault((mean["group"], mean["peer"]), (mean["at_most"], []))[1]
            ratios.append(ratio(row, mean["peer"]))
    means = []
    for (name, peer), (at_most, ratios) in groups.items():
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        means.append(
            {
                "what": f"{name}: geometric mean",
                "unit": "ratio",
                "ours": round(mean, 3),
                "peers": {peer: 1.0},
                "bounds": [{"peer": peer, "at_most": at_most}],
            }
        )
    return rows + means


def line_of(row: Row) -> str:
    """Returns a row as a line of a table in Markdown."""
    peers = {**row["peers"], **row.get("references", {})}
    times = ", ".join(f"{name} {value:g}" for name, value in peers.items())
    ratios = "; ".join(verdicts(row)) or ", ".join(f"{ratio(row, name):.2f} of {name}" for name in peers)
    return f"| {row['what']} | {row['ours']:g} {row['unit']} | {times} | {ratios} |"


def table(rows: list[Row], heading: str) -> str:
    """Returns the rows as a table in Markdown."""
    lines = [f"# {heading}", "", "| what | oneflow | peers | ours / peer |", "|---|---|---|---|"]
    return "\n".join([*lines, *map(line_of, rows)]) + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--as", dest="name", default="")
    parser.add_argument("--chart", action="store_true", help="also draw a chart of the results")
    parser.add_argument("--to", type=Path, default=RESULTS, help="the folder to write to")
    parser.add_argument("programs", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    programs = [path.resolve() for path in options.programs] or sorted((ROOT / "benchmarks").rglob("bench_*"))
    programs = [p for p in programs if p.suffix in INTERPRETERS and "node_modules" not in p.parts]
    rows = with_means([row for program in programs for row in run(program)])
    day = datetime.date.today().isoformat()
    machine = ", ".join(filter(None, [options.name, cpu_name(), f"{os.cpu_count()} cores"]))
    text = table(rows, f"{day}, {machine}")
    print(text)
    if options.name or not options.programs:
        stem = "-".join(filter(None, [day, options.name]))
        options.to.mkdir(exist_ok=True)
        (options.to / f"{stem}.json").write_text(
            json.dumps({"date": day, "machine": machine, "rows": rows}, indent=1) + "\n"
        )
        (options.to / f"{stem}.md").write_text(text)
        if options.chart:
            from benchmarks.chart import draw  # only here, because it needs another package

            draw(rows, f"{day}, {machine}", options.to / f"{stem}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
