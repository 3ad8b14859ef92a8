#!/usr/bin/env python3
"""Measures CommNet against other libraries in one run, and prints a table of ratios.

run.py FOLDER [--rounds N] [--only WORD] [--write]

FOLDER has the programs. In each round, each measurement runs once, CommNet's and those of the others in turn; ratios
are of the best of all rounds. All run on two cores, and with a high priority where that is permitted. --only runs the
rows whose names contain a word; --write writes results.md, too. The exit status says whether what is installed could be
measured, not whether the bounds hold.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).with_name("results.md")
LONGEST = 60  # seconds of a measurement

PORTS = itertools.count(20_000 + os.getpid() % 10_000)

Values = dict[str, float]


class Absent(Exception):
    """Something that cannot be measured here; the text says why."""


class Failed(Exception):
    """A measurement that went wrong."""


class Machine:
    """Where the measurements run: the folder of the programs, and the cores of the two sides."""

    folder: Path
    cores: tuple[int, int]

    @classmethod
    def choose(cls, folder: Path) -> None:
        cores = sorted(os.sched_getaffinity(0))[:2]
        os.sched_setaffinity(0, cores)
        with contextlib.suppress(PermissionError):
            os.nice(-20)
        cls.folder, cls.cores = folder.resolve(), (cores[0], cores[-1])

    @classmethod
    def program(cls, name: str) -> Path:
        path = cls.folder / f"commnet_{name}"
        if not path.exists():
            raise Absent("not installed")
        return path


def output_of(command: list[str], environment: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)} takes longer than {LONGEST} s") from None
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def last_object(output: str) -> Values:
    """Returns the numbers of the JSON object in the last line."""
    values = json.loads(output.strip().splitlines()[-1])
    return {key: value for key, value in values.items() if not isinstance(value, str)}


# ---------------------------------------------------------------------------------------------- what can be measured


@dataclass(frozen=True)
class Program:
    """A program of this folder that measures one library."""

    name: str
    arguments: tuple[str, ...]
    cores: str = "two"  # two: a core for each side, one: the same core for both, any: not pinned
    ucx: str = ""  # the transports that UCX may take

    def run(self) -> Values:
        first, second = Machine.cores
        pinned = {"two": [f"cpus={first},{second}"], "one": [f"cpus={first},{first}"], "any": []}[self.cores]
        command = [str(Machine.program(self.name)), *self.arguments, *pinned]
        return last_object(output_of(command, ucx_environment(self.ucx)))


@dataclass(frozen=True)
class Mpi:
    """All that peer_mpi measures, over shared memory."""

    def run(self) -> Values:
        if not shutil.which("mpirun"):
            raise Absent("not installed")
        first, second = Machine.cores
        options = "--allow-run-as-root --oversubscribe --bind-to none -n 2 --mca pml ob1 --mca btl vader,self"
        command = ["mpirun", *options.split(), str(Machine.program("peer_mpi")), f"cpus={first},{second}"]
        return last_object(output_of(command, {}))


@dataclass(frozen=True)
class Perftest:
    """Tests of ucx_perftest in one session, which may repeat them. Yields microseconds and GB/s of each test."""

    tests: tuple[tuple[str, int, int], ...]  # name, size, iterations
    ucx: str  # the transports that it may take

    def run(self) -> Values:
        if not shutil.which("ucx_perftest"):
            raise Absent("not installed")
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as batch:
            for name, size, count in self.tests:
                batch.write(f"{name}:{size} -t {name} -s {size} -n {count} -w {max(1, count // 10)}\n")
            batch.flush()
            output = self.output(["ucx_perftest", "-p", str(next(PORTS)), "-f", "-b", batch.name])
        best: Values = {}
        # The columns: test, iterations, median, average and overall microseconds, and others.
        for test, us in re.findall(r"^\s*(\w+:\d+)\s+\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)", output, re.MULTILINE):
            best[test] = min(best.get(test, float(us)), float(us))
        if len(best) < len(set(self.tests)):
            raise Failed(f"ucx_perftest prints something else: {output}")
        return {**best, **{f"gb_s {test}": int(test.split(":")[1]) / us / 1e3 for test, us in best.items()}}

    def output(self, command: list[str]) -> str:
        """Runs both sides, and returns what that which measures prints."""
        environment = ucx_environment(self.ucx)
        first, second = Machine.cores
        with subprocess.Popen(
            [*command, "-c", str(second)],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as server:
            try:
                # The server does not say when it listens.
                for seconds in (0.2, 1, 3):
                    time.sleep(seconds)
                    with contextlib.suppress(Failed):
                        return output_of([*command, "-c", str(first), "127.0.0.1"], environment)
                raise Failed(f"{' '.join(command)} does not succeed")
            finally:
                server.kill()


def ucx_environment(transports: str) -> dict[str, str]:
    """Returns how UCX is told to take some transports of this machine; "tcp" also makes connections."""
    return {"UCX_TLS": transports, "UCX_NET_DEVICES": "lo,memory"} if transports else {}


@dataclass(frozen=True)
class SystemCalls:
    """How many system calls a round trip takes on each side of an endpoint with eight connected peers."""

    arguments: tuple[str, ...]

    def run(self) -> Values:
        if not shutil.which("perf"):
            raise Absent("perf is not installed")
        command = [str(Machine.program("bench_latency")), *self.arguments, "peers=8", "pids=1"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as measured:
            assert measured.stdin
            assert measured.stdout
            try:
                client, *servers = measured.stdout.readline().split()
                counters = {"client": self.count([client]), "servers": self.count(servers)}
                measured.stdin.write("\n")
                measured.stdin.close()
                round_trips = last_object(measured.stdout.read())["round_trips"]
                return {side: self.end(counter) / round_trips for side, counter in counters.items()}
            except BaseException:
                measured.kill()
                raise

    @staticmethod
    def count(processes: list[str]) -> subprocess.Popen[str]:
        """Counts the calls of processes, from when the function returns."""
        own_control, control = os.pipe()
        acknowledgement, own_acknowledgement = os.pipe()
        options = f"stat -x, -e raw_syscalls:sys_enter -D -1 --control fd:{own_control},{own_acknowledgement}"
        counter = subprocess.Popen(
            ["perf", *options.split(), "-p", ",".join(processes)],
            pass_fds=(own_control, own_acknowledgement),
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(own_control)
        os.close(own_acknowledgement)
        with open(control, "w") as asked, open(acknowledgement) as answers:
            with contextlib.suppress(BrokenPipeError):
                print("enable", file=asked, flush=True)
            if "ack" not in answers.readline():
                counter.kill()
                raise Absent("perf is not permitted")
        return counter

    @staticmethod
    def end(counter: subprocess.Popen[str]) -> float:
        _, output = counter.communicate()
        found = re.search(r"^(\d+),.*raw_syscalls", output, re.MULTILINE)
        if not found:
            raise Failed(f"perf prints something else: {output}")
        return float(found[1])


Measurable = Program | Mpi | Perftest | SystemCalls


@dataclass(frozen=True)
class Value:
    """One of the numbers that a measurement yields."""

    source: Measurable
    key: str


# ---------------------------------------------------------------------------------------------- the rows


@dataclass(frozen=True)
class Row:
    what: str
    unit: str
    own: Value
    others: dict[str, Value]
    must: float | None = None
    aim: float | None = None
    is_absolute: bool = False  # whether the bounds are for the number, not for the ratio

    @property
    def more_is_better(self) -> bool:
        return self.unit in ("GB/s", "M/s")


def latency(cores: str = "two", **arguments: object) -> Program:
    return Program("bench_latency", words(arguments), cores)


def words(arguments: dict[str, object]) -> tuple[str, ...]:
    return tuple(f"{key}={value}" for key, value in arguments.items())


def name_of(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


SIZES = (64 << 10, 1 << 20, 64 << 20)
MPI = Mpi()
SMALL_UCX = Perftest((("tag_lat", 8, 5000), ("ucp_am_lat", 8, 5000)) * 4, "sm,tcp")
LARGE_UCX = Perftest(
    (("tag_bw", 64 << 10, 128), ("tag_bw", 1 << 20, 16), ("ucp_get", 64 << 10, 256), ("ucp_get", 1 << 20, 32)) * 3
    + (("tag_bw", 64 << 20, 4), ("ucp_get", 64 << 20, 4)),
    "sm,tcp",
)
TCP_UCX = Perftest((("ucp_get", 1 << 20, 32),) * 2, "tcp")


def small_rows() -> Iterator[Row]:
    yield Row(
        "half a round trip of 8 B, shared memory, both polling, pinned to two cores",
        "us",
        Value(latency(transport="shared", wait="spin"), "half_us"),
        {
            "UCX tag_lat": Value(SMALL_UCX, "tag_lat:8"),
            "UCX ucp_am_lat": Value(SMALL_UCX, "ucp_am_lat:8"),
            "Open MPI": Value(MPI, "half_us"),
        },
        must=0.6,
        aim=0.25,
        is_absolute=True,
    )
    for cores, place in (("two", "two cores"), ("one", "one core")):
        # After the pause, nobody looks for work any more. On one core, nobody can, while the other side works.
        for pause, when in ((200, "after a pause of 200 us"), (0, "without a pause")):
            sleeps = pause > 0 or cores == "one"
            yield Row(
                f"round trip of 8 B, shared memory, no busy polling, {when}, pinned to {place}",
                "us",
                Value(latency(cores, transport="shared", wait="sleep", pause_us=pause), "us"),
                {"Unix sockets": Value(Program("peer_sockets", ("transport=unix", f"pause_us={pause}"), cores), "us")},
                must=1.2 if sleeps else None,
                aim=0.8 if sleeps else None,
            )
    yield Row(
        "round trip of 8 B, shared memory, default options, without a pause, pinned to two cores",
        "us",
        Value(latency(transport="shared", wait="thread"), "us"),
        {"Unix sockets": Value(Program("peer_sockets", ("transport=unix", "pause_us=0")), "us")},
    )
    yield Row(
        "round trip of 8 B, TCP, no busy polling, without a pause, pinned to two cores",
        "us",
        Value(latency(transport="tcp", wait="sleep"), "us"),
        {
            "sockets": Value(Program("peer_sockets", ("transport=tcp",)), "us"),
            "ZeroMQ": Value(Program("peer_zeromq", ("what=round_trips",)), "us"),
            "gloo": Value(Program("peer_gloo", ("what=round_trips",)), "us"),
        },
    )
    yield Row(
        "messages of 8 B, TCP, default options",
        "M/s",
        Value(Program("bench_rate", ("transport=tcp",), "any"), "per_us"),
        {"ZeroMQ": Value(Program("peer_zeromq", ("what=rate",), "any"), "per_us")},
        must=0.8,
        aim=1.2,
    )
    # Many share the cores in turns, which take longer than a round trip of one.
    pairs = Value(latency("any", pairs=8, window_ms=60), "us")
    # A pair alone has a core for each side and need not sleep, unlike one on one core, or one of eight on two.
    for cores, place in (("any", "1 pair there"), ("one", "1 pair on one core")):
        yield Row(
            f"round trip of 8 B, 8 pairs on two cores against {place}, default options",
            "us",
            pairs,
            {"1 pair": Value(latency(cores, pairs=1, window_ms=60), "us")},
            must=6,
            aim=4,
        )
    yield Row(
        "the same against 8 pairs over sockets",
        "us",
        pairs,
        {"Unix sockets": Value(Program("peer_sockets", ("transport=unix", "pairs=8", "window_ms=60"), "any"), "us")},
    )


def large_rows() -> Iterator[Row]:
    for size in SIZES:
        depth = {64 << 10: 16, 1 << 20: 4, 64 << 20: 2}[size]
        for what in ("messages", "reads", "writes", "allocated reads"):
            kind = what.split()[-1]
            arguments = {"transport": "shared", "wait": "spin", "what": kind, "size": size, "depth": depth}
            if what != kind:
                arguments["allocated"] = 1
            others = {"Open MPI": Value(MPI, f"{what} {size}")}
            # ucx_perftest gets memory that UCX has allocated. The program's own is faster sent as a message there.
            test = "tag_bw" if what == kind else "ucp_get"
            others[f"UCX {test}"] = Value(LARGE_UCX, f"gb_s {test}:{size}")
            yield Row(
                f"{name_of(size)} one way, shared memory, {what}",
                "GB/s",
                Value(Program("bench_transfer", words(arguments)), "gb_s"),
                others,
                must=0.85,
                aim=1.0,
            )
    mib = 1 << 20
    arguments = {"transport": "tcp", "wait": "spin", "what": "messages", "size": mib, "depth": 4}
    yield Row(
        "1 MiB one way, TCP, messages",
        "GB/s",
        Value(Program("bench_transfer", words(arguments)), "gb_s"),
        {
            "ZeroMQ": Value(Program("peer_zeromq", ("what=messages",)), "gb_s"),
            "gloo": Value(Program("peer_gloo", ("what=messages",)), "gb_s"),
        },
    )
    for transports, name in (("tcp", "TCP"), ("sm,tcp", "shared memory")):
        # Over TCP, ucx_perftest reads memory that was never written; over shared memory, memory that UCX has allocated.
        own = {"written": 0} if transports == "tcp" else {"allocated": 1}
        arguments = {"transport": "ucx", "wait": "spin", "what": "reads", "size": mib, "depth": 4, **own}
        yield Row(
            f"1 MiB read, UCX over {name}",
            "GB/s",
            Value(Program("bench_transfer", words(arguments), ucx=transports), "gb_s"),
            {"ucx_perftest": Value(TCP_UCX if transports == "tcp" else LARGE_UCX, f"gb_s ucp_get:{mib}")},
            must=0.9,
            aim=1.0,
        )


def rows_beside_others() -> Iterator[Row]:
    for cores, place in (("any", "not pinned"), ("two", "pinned to two cores")):
        alone = Value(Program("bench_beside", ("reads=0",), cores), "us")
        for reads, what in (("from", "it reads 4 MiB from another peer"), ("by", "another peer reads 4 MiB from it")):
            yield Row(
                f"round trip of 8 B while {what}, {place}",
                "us",
                Value(Program("bench_beside", (f"reads={reads}",), cores), "us"),
                {"without reads": alone},
            )
    for turns, what in ((0, "one of 8 peers"), (1, "8 peers in turn")):
        counted = SystemCalls(words({"turns": turns}))
        for side in ("client", "servers"):
            yield Row(f"system calls per round trip with {what}: {side}", "calls", Value(counted, side), {})


# ---------------------------------------------------------------------------------------------- the table


class Best:
    """The best of what was measured, and why something could not be."""

    def __init__(self) -> None:
        self.values: dict[Value, float] = {}
        self.reasons: dict[Measurable, str] = {}
        self.failures: list[str] = []

    def take(self, rows: list[Row]) -> None:
        """Measures everything once, in the order of the rows."""
        found: dict[Measurable, Values] = {}
        for row in rows:
            for value in (row.own, *row.others.values()):
                source = value.source
                if source not in found and source not in self.reasons:
                    try:
                        found[source] = source.run()
                    except Absent as absent:
                        self.reasons[source] = str(absent)
                    except Failed as failed:
                        self.reasons[source] = "failed"
                        self.failures.append(str(failed))
                if source in found:
                    number, better = found[source][value.key], max if row.more_is_better else min
                    self.values[value] = better(self.values.get(value, number), number)

    def text(self, value: Value) -> str:
        return number_text(self.values[value]) if value in self.values else self.reasons[value.source]


def number_text(number: float) -> str:
    return f"{number:.3g}" if number < 1000 else f"{number:,.0f}"


def line_of(row: Row, best: Best) -> list[str]:
    """Returns the cells of a row."""
    known = [best.values[each] for each in row.others.values() if each in best.values]
    own = best.values.get(row.own)
    ratio = None
    if own is not None and known:
        ratio = own / (max(known) if row.more_is_better else min(known))
    judged = own if row.is_absolute else ratio

    def holds(bound: float) -> bool:
        assert judged is not None
        return judged >= bound if row.more_is_better else judged <= bound

    verdict = ""
    if row.must is not None and judged is not None:
        verdict = "aim" if row.aim is not None and holds(row.aim) else "yes" if holds(row.must) else "NO"
    sign, unit = (">=" if row.more_is_better else "<="), (f" {row.unit}" if row.is_absolute else " x")
    return [
        row.what,
        f"{best.text(row.own)} {row.unit}" if row.own in best.values else best.text(row.own),
        ", ".join(f"{name} {best.text(value)}" for name, value in row.others.items()),
        f"{ratio:.2f}" if ratio is not None else "",
        f"{sign} {row.must:g}{unit}" if row.must is not None else "",
        f"{row.aim:g}" if row.aim is not None else "",
        verdict,
    ]


def table_of(rows: list[Row], best: Best) -> str:
    lines = [["", "commnet", "others", "ratio", "must", "aim", "holds"], *(line_of(row, best) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def processor() -> str:
    found = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else "an unknown processor"


def system() -> str:
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', Path("/etc/os-release").read_text(), re.MULTILINE)
    return found[1] if found else "an unknown system"


def regions_table() -> str:
    lines = [
        "| | 1 region | 10,000, always the same | 10,000, a random one | copies: the same, random |",
        "|---|---:|---:|---:|---:|",
    ]
    for over, name in (("unix", "Unix socket"), ("tcp", "TCP"), ("memory", "`memory`")):
        for line in output_of([str(Machine.program("bench_regions")), over], {}).splitlines():
            row = json.loads(line)
            numbers = [f"{row[key]:.2f}" for key in ("1 region", "10,000, the same", "10,000, any")]
            copies = f"{row['copy, the same']:.2f}, {row['copy, any']:.2f}"
            size = re.search(r"read of (\d+) bytes", row["what"])
            assert size
            lines.append(f"| {size[1]} bytes, {name} | {' | '.join(numbers)} | {copies} |")
    return "\n".join(lines)


def results_of(table: str, rounds: int) -> str:
    """Returns the text of results.md."""
    compact = re.sub(r"-+ \|", "--- |", re.sub(r" +\|", " |", table))
    return RESULTS_TEXT.format(
        day=datetime.date.today(),
        processor=processor(),
        system=system(),
        rounds=rounds,
        table=compact,
        regions=regions_table(),
    )


RESULTS_TEXT = """\
# Results

{day}, {processor}, two cores, {system} and its packages of the other libraries. `make bench-commnet` prints these rows;
with `BENCH_OPTIONS=--write`, it writes this page.

Each number is the best of {rounds} rounds, in which CommNet and the others take turns, and within a round that of many
short windows of time. The ratio is to the best of the others. "Holds" says whether the aim or what must be is reached.
In shared memory, large transfers look for work all the time on both sides, as those of UCX and Open MPI do, and all
memory was written before. "Allocated" memory comes from the library, which lets other processes map it. `ucx_perftest`
reads memory of that kind over shared memory, and over TCP memory that was never written; CommNet does the same there.

{table}

## Registered regions

A read of 64 bytes and of 4 KiB, in us of processor time of both sides, from an endpoint with one registered region and
from one with 10,000; `bench_regions.cpp` has the method. That there are more costs nothing. To read a random one of
them costs cache misses: those of the bytes and of the tokens, which copies in the same order have, too, and those of
the library's own record of each region.

{regions}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    Machine.choose(options.folder)
    rows = [row for row in (*small_rows(), *large_rows(), *rows_beside_others()) if options.only in row.what]
    best = Best()
    begin = time.monotonic()
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        best.take(rows)
    table = table_of(rows, best)
    print(table)
    print(f"The run took {time.monotonic() - begin:.0f} s.", file=sys.stderr)
    if options.write:
        RESULTS.write_text(results_of(table, options.rounds))
    for failure in best.failures:
        print(failure, file=sys.stderr)
    return 1 if best.failures else 0


if __name__ == "__main__":
    sys.exit(main())
