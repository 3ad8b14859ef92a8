"""comm.spawn: a running program starts the ranks of a job."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.launch.conftest import Launcher, launcher, restore_signals, wait_until  # noqa: F401
from tests.processes.jobs import DEADLINE, LANGUAGES, command

ALL = pytest.mark.parametrize("language", LANGUAGES)


@cache
def _run(language: str) -> tuple[list[str], list[str], dict[str, list[Any]]]:
    """Returns the lines that ranks have written to standard output and error, and the outcomes by scenario."""
    inherited = {name: value for name, value in os.environ.items() if name != "ONEFLOW_NUM_THREADS"}
    done = subprocess.run(
        command(language, "spawn", "all"),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=inherited,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    outcomes: dict[str, list[Any]] = {}
    for line in lines:
        if line.startswith('["'):
            name, outcome = json.loads(line)
            outcomes.setdefault(name, []).append(outcome)
    return [line for line in lines if not line.startswith('["')], done.stderr.splitlines(), outcomes


def _outcome(language: str, name: str) -> Any:
    (outcome,) = _run(language)[2][name]
    return outcome


def _error(language: str, name: str, kind: str = "CommunicationError") -> str:
    outcome = _outcome(language, name)
    assert outcome["class"] == kind, outcome
    text = outcome["text"]
    assert text.startswith("comm.spawn: ")
    return str(text.removeprefix("comm.spawn: "))


@ALL
def test_each_rank_gets_the_arguments_and_returns_a_result(language: str) -> None:
    assert _outcome(language, "values") == [[[6.5, 12.5], [rank, 3, rank, 3]] for rank in range(3)]


@ALL
def test_the_output_of_ranks_is_that_of_the_caller(language: str) -> None:
    out, err, outcomes = _run(language)
    assert outcomes["output"] == [[None, None]]
    assert sorted(out) == ["[0] out 0", "[1] out 1"]
    assert sorted(err) == ["[0] err 0", "[1] err 1"]


@ALL
def test_a_rank_that_raises_ends_the_others(language: str) -> None:
    text = _error(language, "raises")
    assert text.startswith("rank 1 raised ")
    summary, _, trace = text.partition("\n\n")
    kind = {"js": "RangeError"}.get(language, "IndexError")
    assert summary == f"rank 1 raised {kind}: no luck"
    assert "unlucky" in trace
    assert _outcome(language, "raises")["cause"] == kind


@ALL
def test_a_rank_that_ends_early_is_named(language: str) -> None:
    assert _error(language, "killed").startswith("rank 1 was killed by signal 9 ")
    assert _error(language, "exits").startswith("rank 1 ended with exit status 3 before ")
    status = 1 if language == "js" else 0  # Node.js can tell that the function has not returned
    assert _error(language, "leaves").startswith(f"rank 1 ended with exit status {status} before ")


@ALL
def test_a_result_that_cannot_be_passed(language: str) -> None:
    text = _error(language, "result")
    assert text.startswith("rank 0 raised ")
    assert "TypeMismatch: comm.spawn: the result" in text
    cause = "Error" if language == "js" else "TypeMismatch"  # clones know the classes of JavaScript alone
    assert _outcome(language, "result")["cause"].endswith(cause)


@pytest.mark.parametrize("language", ["python", "js"])
def test_arguments_that_cannot_be_passed(language: str) -> None:
    assert "arguments cannot be" in _error(language, "arguments", "TypeMismatch")


@ALL
def test_what_cannot_be_called(language: str) -> None:
    assert _error(language, "function", "TypeMismatch") in (
        "function must be callable, got int",
        "fn must be function or path of a module, got number",
        "missing block",
    )


@ALL
def test_the_number_of_ranks_must_be_positive(language: str) -> None:
    outcomes = _run(language)[2]["n"]
    assert [each["class"] for each in outcomes] == ["TypeMismatch"] * 4 + ["InvalidArgument"] * 2
    for each in outcomes:
        assert each["text"].lower().startswith("comm.spawn: n must be a positive int")


@ALL
def test_a_rank_can_start_a_job(language: str) -> None:
    assert _outcome(language, "nested") == [[0, [2, 2]]]


def test_forks_of_a_rank_that_has_joined_take_no_part() -> None:
    assert "in which its forks take no part: call spawn before the job is joined" in _error("ruby", "joined")


def test_a_block_of_ruby_must_return() -> None:
    assert "rank 0 raised LocalJumpError: the block was left by break, return or throw" in _error("ruby", "returns")
    assert "rank 0 raised SystemExit" in _error("ruby", "exit")
    assert _outcome("ruby", "at_exit") is True  # of the caller alone


def test_classes_that_only_a_fork_of_ruby_has() -> None:
    assert "the result of rank 0 cannot be read by Marshal: undefined class" in _error("ruby", "class")
    assert "rank 0 raised Strange: strange" in _error("ruby", "raised class")
    assert _outcome("ruby", "raised class")["cause"] is None


def test_functions_of_node() -> None:
    assert "outside is not defined; the function runs in another process" in _error("js", "outside")
    for name in ("native", "method"):
        assert "fn must be a function with a source" in _error("js", name, "TypeMismatch")
    assert _outcome("js", "module") == [40, 41]
    assert _outcome("js", "path") == [1]
    assert "must export a function as its default" in _error("js", "exports")
    assert "TypeError: nobody waits" in _error("js", "rejected")


def test_values_of_node_are_cloned() -> None:
    assert _outcome("js", "copies") == [True, True, True]


@ALL
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ranks_end_with_their_caller(launcher: Launcher, language: str, number: signal.Signals) -> None:  # noqa: F811
    with subprocess.Popen(
        command(language, "spawn", "waits"),
        stdout=subprocess.PIPE,
        text=True,
        env=launcher.environment,
        preexec_fn=restore_signals,
    ) as process:
        assert process.stdout
        for _ in range(2):
            assert "ready" in process.stdout.readline()
        process.send_signal(number)
        rest = process.stdout.read()
        process.wait(timeout=DEADLINE)
    is_told = number == signal.SIGINT and language != "js"  # which has no error for it
    assert rest == ("interrupted\n" if is_told else "")
    wait_until(lambda: not launcher.processes())


def test_functions_of_a_notebook_need_cloudpickle(tmp_path: Path) -> None:
    (tmp_path / "cloudpickle.py").write_text("raise ImportError\n")
    (tmp_path / "functions.py").write_text(
        "import oneflow_py as flow\n\n\ndef double(x):\n    return flow.comm.all_reduce(x) * 2\n"
    )
    program = """
import functions, oneflow_py as flow
print([each.tolist() for each in flow.comm.spawn(functions.double, 2, flow.ones(1))])
def own(): pass
for function in (own, lambda: 1):
    try:
        flow.comm.spawn(function, 2)
    except TypeError as error:
        print(error)
"""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=variables, check=True)
    first, *errors = done.stdout.splitlines()
    assert first == "[[4.0], [4.0]]"
    assert len(errors) == 2
    for each in errors:
        assert each.startswith(
            "comm.spawn: function must be one of a module, got one of __main__; pip install cloudpickle"
        )
