"""Runs the benchmark programs and writes their figures to benchmarks/results/.

Usage: run.py [--as NAME] [PROGRAM...]; without programs all `bench_*` files under benchmarks/. Figures of all are kept,
as results/<date>; of some where a name says what they are, as results/<date>-<name>. How a program prints its figures
is described in benchmarks/README.md. The exit status says whether the programs ran, not whether bounds hold: that is
for people to read.
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
    print(f"== {program.relative_to(ROOT)}", flush=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*INTERPRETERS[program.suffix], str(program)],
        cwd=program.parent,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{program} failed with status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def ratio(row: Row, peer: str) -> float:
    peers = row["peers"]
    return float(row["ours"]) / float(min(peers.values()) if peer == "best" else peers[peer])


def verdicts(row: Row) -> list[str]:
    texts = []
    for bound in row["bounds"]:
        found = ratio(row, bound["peer"])
        holds = found <= bound["at_most"]
        texts.append(f"{found:.2f} of {bound['peer']} (bound {bound['at_most']:.2f}: {'holds' if holds else 'missed'})")
    return texts


def with_means(rows: list[Row]) -> list[Row]:
    """Adds one row per group: the geometric mean of the ratios to its peers, bounded as its members are."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if "group" in row:
            groups.setdefault(row["group"], []).append(row)
    means = []
    for name, members in groups.items():
        bound = members[0]["bounds"][0]
        logs = [math.log(ratio(row, bound["peer"])) for row in members]
        mean = math.exp(sum(logs) / len(logs))
        means.append(
            {
                "what": f"{name}: geometric mean",
                "unit": "ratio",
                "ours": round(mean, 3),
                "peers": {bound["peer"]: 1.0},
                "bounds": [bound],
            }
        )
    single = [{**row, "bounds": []} if "group" in row else row for row in rows]
    return single + means


def table(rows: list[Row], heading: str) -> str:
    lines = [f"# {heading}", "", "| what | oneflow | peers | ours / peer |", "|---|---|---|---|"]
    for row in rows:
        peers = ", ".join(f"{name} {value:g}" for name, value in row["peers"].items())
        ratios = "; ".join(verdicts(row)) or ", ".join(f"{ratio(row, name):.2f} of {name}" for name in row["peers"])
        lines.append(f"| {row['what']} | {row['ours']:g} {row['unit']} | {peers} | {ratios} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--as", dest="name", default="")
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
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{stem}.json").write_text(
            json.dumps({"date": day, "machine": machine, "rows": rows}, indent=1) + "\n"
        )
        (RESULTS / f"{stem}.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
