#!/usr/bin/env python3
"""Measures collectives between processes against other libraries in one run, and prints a table.

run.py [--rounds N] [--only WORD] [--before FOLDER] [--write]

In each round, each measurement runs once, oneflow's and those of the others in turn; the table has the best of all
rounds. --only runs the rows whose names contain a word. --before names a checkout with a build of an earlier commit,
whose collectives of one process are compared. --write writes results.md, too. The exit status says whether what is
installed could be measured, not whether the bounds hold.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
PROGRAMS = BUILD / "benchmarks" / "parallel"
RESULTS = FOLDER / "results.md"
LONGEST = 120  # seconds of a measurement

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter")
SMALL = (8, 64, 512, 4 << 10, 64 << 10)
LARGE = (1 << 20, 8 << 20, 64 << 20)

Values = dict[str, float]


class Absent(Exception):
    """Something that cannot be measured here; the text says why."""


class Failed(Exception):
    """A measurement that went wrong."""


# ---------------------------------------------------------------------------------------------- programs


def compile_programs() -> None:
    """Compiles measure.c with each library that is installed."""
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    include = [f"-I{ROOT}/runtime/include", f"-I{ROOT}/runtime/generated/include"]
    library = [f"-L{BUILD}/lib", "-loneflow", f"-Wl,-rpath,{BUILD}/lib"]
    for name, compiler, source, flags in (
        ("oneflow", "cc", "oneflow.c", [*include, *library]),
        ("openmpi", "mpicc.openmpi", "mpi.c", []),
        ("mpich", "mpicc.mpich", "mpi.c", []),
    ):
        if shutil.which(compiler):
            sources = [str(FOLDER / "measure.c"), str(FOLDER / source)]
            subprocess.run([compiler, "-O2", *sources, *flags, "-o", str(PROGRAMS / name)], check=True)


def output_of(commands: list[tuple[list[str], Mapping[str, str]]]) -> Values:
    """Runs commands with additions to their environment at the same time. Returns what the first one prints."""
    running: list[subprocess.Popen[str]] = []
    try:
        for command, environment in commands:
            running.append(
                subprocess.Popen(
                    command,
                    env={**os.environ, **environment},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        outputs = [each.communicate(timeout=LONGEST) for each in running]
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(commands[0][0])} takes longer than {LONGEST} s") from None
    finally:
        for each in running:
            each.kill()
    for each, (_, errors) in zip(running, outputs, strict=True):
        if each.returncode:
            raise Failed(f"{' '.join(commands[0][0])}: {errors.strip()}")
    found: Values = json.loads(outputs[0][0].strip().splitlines()[-1])
    return found


def ranks(command: list[str], count: int, meeting: str) -> list[tuple[list[str], Mapping[str, str]]]:
    """Returns the command for each rank of a job on this host, which has its share of the processors."""
    threads = max(1, len(os.sched_getaffinity(0)) // count)
    common = {
        "ONEFLOW_WORLD_SIZE": str(count),
        "ONEFLOW_LOCAL_WORLD_SIZE": str(count),
        "ONEFLOW_MEETING": meeting,
        "ONEFLOW_SECRET": "of a benchmark",
        "ONEFLOW_NUM_THREADS": str(threads),
        "PYTHONWARNINGS": "ignore",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(BUILD / "python"), os.environ.get("PYTHONPATH")])),
    }
    return [(command, {**common, "ONEFLOW_RANK": str(i), "ONEFLOW_LOCAL_RANK": str(i)}) for i in range(count)]


def plan(collective: str, size: int) -> str:
    return f"{collective}:{size}"


# ---------------------------------------------------------------------------------------------- measurements


class Measurement:
    """What yields numbers by their names, in one run."""

    def run(self) -> Values:
        raise NotImplementedError


@dataclass(frozen=True)
class Job(Measurement):
    """A program, of which all processes are ranks of oneflow."""

    command: tuple[str, ...]
    count: int = 2
    needs: str = ""  # a package of Python

    def run(self) -> Values:
        if self.needs and importlib.util.find_spec(self.needs) is None:
            raise Absent("not installed")
        with tempfile.TemporaryDirectory() as meeting, tempfile.TemporaryDirectory() as other:
            command = [other if each == "{folder}" else each for each in self.command]
            return output_of(ranks(command, self.count, f"file:{meeting}"))


@dataclass(frozen=True)
class Mpi(Measurement):
    """measure.c with an MPI, or with oneflow over it."""

    name: str
    plans: tuple[str, ...]
    count: int = 2
    program: str = ""  # default: that of the MPI

    def run(self) -> Values:
        if not (PROGRAMS / self.name).exists():
            raise Absent("not installed")
        options = {
            "openmpi": "--allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle "
            + str(int(self.count > len(os.sched_getaffinity(0)))),
            "mpich": "",
        }[self.name]
        command = [f"mpirun.{self.name}", *options.split(), "-n", str(self.count)]
        return output_of([([*command, str(PROGRAMS / (self.program or self.name)), *self.plans], {})])


@dataclass(frozen=True)
class Python(Measurement):
    """A script in one process."""

    script: str
    arguments: tuple[str, ...] = ()
    root: Path = ROOT

    def run(self) -> Values:
        path = str((BUILD if self.root == ROOT else self.root / "build") / "python")
        return output_of([([sys.executable, str(FOLDER / self.script), *self.arguments], {"PYTHONPATH": path})])


@dataclass(frozen=True)
class SlowLink(Measurement):
    """A script of two ranks in network namespaces of their own, between which is a link of 1 Gbit/s."""

    script: str

    def run(self) -> Values:
        if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc"):
            raise Absent("needs root, ip and tc")
        names = [f"of-bench-{os.getpid()}-{i}" for i in range(2)]
        with contextlib.ExitStack() as made:
            try:
                self.make(names, made)
            except subprocess.CalledProcessError as error:
                raise Absent(f"no network namespaces: {error.stderr.strip()}") from None
            started = ranks([sys.executable, str(FOLDER / self.script)], 2, "tcp://10.77.0.1:7700")
            return output_of(
                [
                    (["ip", "netns", "exec", name, *command], {**environment, "ONEFLOW_LISTEN": f"10.77.0.{i + 1}"})
                    for i, (name, (command, environment)) in enumerate(zip(names, started, strict=True))
                ]
            )

    @staticmethod
    def make(names: list[str], made: contextlib.ExitStack) -> None:
        def call(command: str) -> None:
            subprocess.run(command.split(), check=True, capture_output=True, text=True)

        for name in names:
            call(f"ip netns add {name}")
            made.callback(subprocess.run, ["ip", "netns", "del", name], check=False)
        call(f"ip link add veth0 netns {names[0]} type veth peer name veth1 netns {names[1]}")
        for i, name in enumerate(names):
            call(f"ip -n {name} address add 10.77.0.{i + 1}/24 dev veth{i}")
            call(f"ip -n {name} link set veth{i} up")
            call(f"ip -n {name} link set lo up")
            call(f"ip netns exec {name} tc qdisc add dev veth{i} root tbf rate 1gbit burst 256kb latency 50ms")


class Best:
    """The least of the numbers of each measurement, and why there are none."""

    def __init__(self) -> None:
        self.values: dict[Measurement, Values] = {}
        self.reasons: dict[Measurement, str] = {}
        self.failures: list[str] = []

    def take(self, measurements: list[Measurement]) -> None:
        """Runs each measurement once."""
        for each in measurements:
            if each in self.reasons:
                continue
            try:
                found = each.run()
            except Absent as absent:
                self.reasons[each] = str(absent)
            except Failed as failed:
                self.reasons[each] = "failed"
                self.failures.append(str(failed))
            else:
                known = self.values.setdefault(each, found)
                self.values[each] = {key: min(known[key], value) for key, value in found.items()}


# ---------------------------------------------------------------------------------------------- rows


@dataclass(frozen=True)
class Row:
    """A row of the table: what was found, with its bounds."""

    what: str
    measurements: tuple[Measurement, ...]
    must: float | None = None
    aim: float | None = None
    unit: str = "x"
    more_is_better: bool = True

    def number(self, best: Best) -> float:
        """Returns what was found. Raises KeyError if there is nothing."""
        raise NotImplementedError

    def detail(self, best: Best) -> str:
        return ""


@dataclass(frozen=True)
class Speed(Row):
    """How often as fast oneflow is as the fastest of the others: the geometric mean over several calls."""

    plans: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # of the others

    def number(self, best: Best) -> float:
        ours, *others = (best.values.get(each, {}) for each in self.measurements)
        ratios = [min(each[plan] for each in others if each) / ours[plan] for plan in self.plans if any(others)]
        if not ratios:
            raise KeyError(self.what)
        return math.exp(sum(map(math.log, ratios)) / len(ratios))

    def detail(self, best: Best) -> str:
        texts = []
        for each, name in zip(self.measurements, ("oneflow", *self.names), strict=True):
            times = best.values.get(each)
            texts.append(
                f"{name} {', '.join(time_text(times[plan]) for plan in self.plans)}"
                if times
                else f"{name}: {best.reasons.get(each, 'nothing')}"
            )
        return "; ".join(texts)


@dataclass(frozen=True)
class Added(Row):
    """How many microseconds oneflow takes more than the other for a call."""

    plan: str = ""

    def number(self, best: Best) -> float:
        ours, other = (best.values[each][self.plan] for each in self.measurements)
        return ours - other

    def detail(self, best: Best) -> str:
        return next((best.reasons[each] for each in self.measurements if each in best.reasons), "")


@dataclass(frozen=True)
class Number(Row):
    """A number of one measurement."""

    key: str = ""
    factor: float = 1.0

    def number(self, best: Best) -> float:
        return best.values[self.measurements[0]][self.key] * self.factor

    def detail(self, best: Best) -> str:
        return best.reasons.get(self.measurements[0], "")


def size_text(size: int) -> str:
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"


def time_text(us: float) -> str:
    return f"{us / 1e3:.3g} ms" if us >= 1000 else f"{us:.3g} us"


def program(*plans: str) -> tuple[str, ...]:
    return (str(PROGRAMS / "oneflow"), *plans)


def rows_against_gloo() -> Iterator[Row]:
    plans = tuple(plan(each, size) for each in COLLECTIVES for size in SMALL + LARGE)
    script = str(FOLDER / "measure.py")
    ours = Job((sys.executable, script, "oneflow", "{folder}", *plans))
    gloo = Job((sys.executable, script, "gloo", "{folder}", *plans), needs="torch")
    for sizes, must, aim in ((SMALL, 3, 5), (LARGE, 1.3, 2)):
        for collective in COLLECTIVES:
            yield Speed(
                f"{collective}, {', '.join(map(size_text, sizes))}, against gloo, from Python",
                (ours, gloo),
                must,
                aim,
                plans=tuple(plan(collective, size) for size in sizes),
                names=("gloo",),
            )
        yield Speed(
            f"the three, {size_text(sizes[0])} to {size_text(sizes[-1])}, against gloo, from Python",
            (ours, gloo),
            must,
            aim,
            plans=tuple(plan(each, size) for each in COLLECTIVES for size in sizes),
            names=("gloo",),
        )


def rows_against_mpi() -> Iterator[Row]:
    names = ("openmpi", "mpich")
    plans = tuple(plan(each, size) for each in COLLECTIVES for size in (8, *LARGE))
    all_of = (Job(program(*plans)), *(Mpi(name, plans) for name in names))
    for collective in COLLECTIVES:
        own = plan(collective, 8)
        yield Speed(f"{collective} of 8 B, against MPI, from C", all_of, aim=1.5, plans=(own,), names=names)
        for size in LARGE:
            what = f"{collective} of {size_text(size)}, against MPI, from C"
            yield Speed(what, all_of, 0.8, 1, plans=(plan(collective, size),), names=names)
    plans = tuple(plan(each, 1 << 20) for each in COLLECTIVES)
    four = (Job(program(*plans), 4), *(Mpi(name, plans, 4) for name in names))
    for each in plans:
        what = f"{each.partition(':')[0]} of 1 MiB, 4 processes, against MPI that yields, from C"
        yield Speed(what, four, 0.8, 1.2, plans=(each,), names=names)


def rows_over_mpi() -> Iterator[Row]:
    plans = tuple(plan(each, size) for each in COLLECTIVES for size in (8, *LARGE))
    for name in ("openmpi", "mpich"):
        both = (Mpi(name, plans, program="oneflow"), Mpi(name, plans))
        for collective in COLLECTIVES:
            own = plan(collective, 8)
            what = f"{collective} of 8 B over {name}, beyond {name} itself"
            yield Added(what, both, 1.5, unit="us", more_is_better=False, plan=own)
            what = f"{collective}, {', '.join(map(size_text, LARGE))}, over {name}, against {name} itself"
            large = tuple(plan(collective, size) for size in LARGE)
            yield Speed(what, both, 0.95, plans=large, names=(name,))


def other_rows(before: Path | None) -> Iterator[Row]:
    waiting = Job((sys.executable, str(FOLDER / "waiting.py")))
    what = "share of a processor that a rank takes that waits, from 10 ms to 2 s"
    yield Number(what, (waiting,), 2, 1, "%", False, key="share", factor=100)
    what = "share of an all_reduce over 1 Gbit/s that is not hidden behind products of matrices"
    yield Number(what, (SlowLink("overlap.py"),), 40, 10, "%", False, key="exposed", factor=100)
    local = Python("local.py")
    what = "all_reduce of 64 MiB over 4 CPU devices of one process"
    yield Number(what, (local,), unit="ms", more_is_better=False, key="us", factor=1e-3)
    if before:
        both = (local, Python("local.py", ("before",), before.resolve()))
        yield Speed(f"{what}, against the earlier commit", both, 0.95, 1, plans=("us",), names=("before",))


# ---------------------------------------------------------------------------------------------- the table


def cells(row: Row, best: Best) -> list[str]:
    try:
        number = row.number(best)
    except KeyError:
        return [row.what, "", "", "", "", row.detail(best)]

    def holds(bound: float) -> bool:
        return number >= bound if row.more_is_better else number <= bound

    verdict = ""
    if row.must is not None:
        verdict = "aim" if row.aim is not None and holds(row.aim) else "yes" if holds(row.must) else "NO"
    sign, unit = (">=" if row.more_is_better else "<="), f" {row.unit}".rstrip()
    return [
        row.what,
        f"{sign} {row.must:g}{unit}" if row.must is not None else "",
        f"{row.aim:g}" if row.aim is not None else "",
        f"{number:.3g}{unit}",
        verdict,
        row.detail(best),
    ]


def table_of(rows: list[Row], best: Best) -> str:
    lines = [["", "must", "aim", "found", "holds", "best times"], ["---"] * 6, *(cells(row, best) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def named(path: str, name: str) -> str:
    """Returns the value of a name in a file of the system."""
    for line in Path(path).read_text().splitlines():
        key, _, value = line.replace("=", ":", 1).partition(":")
        if key.strip() == name:
            return value.strip().strip('"')
    return "unknown"


RESULTS_TEXT = """\
# Results

{day}, {processor}, {cores} cores, {system} and its packages of MPI. `make bench-parallel` prints
these rows; with `BENCH_OPTIONS=--write`, it writes this page.

Two processes, unless a row says otherwise. Each time is the best of {rounds} rounds, in which oneflow and the others
take turns, and within a round that of several batches of calls; it is that of one call. "Found" is how often as fast as
the fastest of the others oneflow is, the geometric mean where there are several sizes; "holds" says whether the aim or
what must be is reached. Sizes are those of the larger side of a collective. From C, each process keeps to one
processor; oneflow allocates its results, MPI writes into memory that it gets.

{table}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    compile_programs()
    rows = [
        row
        for row in (
            *rows_against_gloo(),
            *rows_against_mpi(),
            *rows_over_mpi(),
            *other_rows(options.before),
        )
        if options.only in row.what
    ]
    measurements = list(dict.fromkeys(each for row in rows for each in row.measurements))
    best = Best()
    begin = time.monotonic()
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        best.take(measurements)
    table = table_of(rows, best)
    print(table)
    print(f"The run took {time.monotonic() - begin:.0f} s.", file=sys.stderr)
    if options.write:
        RESULTS.write_text(
            RESULTS_TEXT.format(
                day=datetime.date.today(),
                processor=named("/proc/cpuinfo", "model name"),
                cores=len(os.sched_getaffinity(0)),
                system=named("/etc/os-release", "PRETTY_NAME"),
                rounds=options.rounds,
                table=table,
            )
        )
    for failure in best.failures:
        print(failure, file=sys.stderr)
    return 1 if best.failures else 0


if __name__ == "__main__":
    sys.exit(main())
