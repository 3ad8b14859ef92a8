"""What goes wrong in a job: ranks that die, stop, leave or part company raise an error on the others."""

from __future__ import annotations

import pytest

from tests.processes.jobs import LANGUAGES, Job, Rank, command, run

ALL = pytest.mark.parametrize("language", LANGUAGES)


def _start(language: str, scenario: str, size: int = 3) -> Job:
    return Job([command(language, "faults", scenario)] * size)


def _results(ranks: list[Rank]) -> list[list[object]]:
    for each in ranks:
        assert each.status == 0, each.errors
    return [each.results for each in ranks]


def _is_communication_error(outcome: object) -> bool:
    return isinstance(outcome, list) and outcome[0] == "CommunicationError"


@ALL
def test_a_rank_is_killed(language: str) -> None:
    with _start(language, "killed") as job:
        ranks = job.wait()
    assert ranks[1].status == -9
    for each in (ranks[0], ranks[2]):
        assert each.status == 0, each.errors
        first, second, third = each.results
        assert _is_communication_error(first)
        assert "rank 1" in first[1]
        assert _is_communication_error(second)
        assert "rank 1" in second[1]
        assert third == [2, 2, 2]  # the others go on


@ALL
def test_a_rank_stops(language: str) -> None:
    with _start(language, "stopped") as job:
        for rank in (0, 2):
            (first,) = job.wait_for(rank).results
            assert _is_communication_error(first)
            assert "rank 1" in first[1]


@ALL
@pytest.mark.parametrize(
    ("scenario", "texts"),
    [
        ("operators", ("all_reduce(float32 [3]", "all_gather(float32 [?]")),
        ("shapes", ("all_reduce(float32 [3]", "all_reduce(float32 [4]")),
        ("dtypes", ("all_reduce(int64 [3]", "all_reduce(float32 [3]")),
        ("roots", ("root=0", "root=1")),
    ],
)
def test_ranks_call_something_else(language: str, scenario: str, texts: tuple[str, str]) -> None:
    found = run([command(language, "faults", scenario)] * 3)
    # A rank that was content with what it got hears of it at its next call.
    errors = [next(each for each in results if _is_communication_error(each)) for results in found]
    for error in errors:
        said = error[1].replace("_", "").lower()  # Node.js names some functions by its own rule
        for text in ("call 0", *texts):
            assert text.replace("_", "") in said, error


def test_a_tensor_requires_a_gradient_on_one_rank_only() -> None:
    found = run([command("python", "faults", "gradients")] * 2)
    for error, after in found:
        assert _is_communication_error(error)
        assert after == [2, 2]
    assert "the operand of comm.all_reduce must require a gradient on all ranks, or on none" in found[0][0][1]


def test_all_ranks_give_a_size_or_none_does() -> None:
    for (error,) in run([command("python", "faults", "parts")] * 3):
        assert _is_communication_error(error)
        assert "the ranks differ at call 0" in error[1]


@ALL
def test_a_rank_leaves_early(language: str) -> None:
    found = run([command(language, "faults", "leaves")] * 3)
    for results in (found[0], found[2]):
        assert _is_communication_error(results[0])
        assert "rank 1" in results[0][1]


@ALL
def test_a_rank_never_starts(language: str) -> None:
    with Job([command(language, "faults", "never")] * 2, size=3) as job:
        found = _results(job.wait())
    for results in found:
        assert _is_communication_error(results[0])
        assert "rank 2" in results[0][1]


@ALL
def test_jobs_are_joined_once(language: str) -> None:
    for results in run([command(language, "faults", "twice")] * 2):
        assert results[0][0] == "InvalidArgument"
        assert "joined before" in results[0][1]
        assert results[1] == [2]
        assert _is_communication_error(results[2])
        assert "was left" in results[2][1]


@pytest.mark.parametrize("language", ["python", "ruby"])
def test_a_forked_child_takes_no_part(language: str) -> None:
    for results in run([command(language, "faults", "forks")] * 2):
        assert _is_communication_error(results[0])
        assert "was forked from rank" in results[0][1]
        assert results[1] == [2]


@ALL
def test_many_are_under_way(language: str) -> None:
    assert run([command(language, "faults", "many")] * 3) == [[True]] * 3


@pytest.mark.parametrize("language", ["python", "ruby"])
def test_a_wait_is_interrupted(language: str) -> None:
    first, second = run([command(language, "faults", "interrupted")] * 2)
    assert first[0][0] in ("KeyboardInterrupt", "Interrupt")
    assert second[0] == [2, 2, 2]  # the collective has gone on
    assert first[1] == second[1] == [2, 2]


@ALL
def test_lists_of_tensors_have_functions_of_their_own(language: str) -> None:
    for refused, gathered in run([command(language, "faults", "lists")] * 2):
        assert refused[0] == "TypeMismatch"
        assert "must be one Tensor, got several: the functions of comm.local take" in refused[1]
        assert gathered == [[1, 0], [1, 1]]  # a list of numbers is a tensor


@ALL
def test_a_wrong_secret(language: str) -> None:
    with Job([command(language, "faults", "secrets")] * 2, of_last={"ONEFLOW_SECRET": "another"}) as job:
        for results in _results(job.wait()):
            assert _is_communication_error(results[0])
