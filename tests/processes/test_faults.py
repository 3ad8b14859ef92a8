"""What goes wrong in a job: ranks that die, stop, leave or part company raise an error on the others."""

from __future__ import annotations

import pytest

from tests.processes.jobs import LANGUAGES, Job, check_error, faults, run

# Something happens to rank 1, of which one rank in each language is told.
AROUND_RANK_1 = ("python", "ruby", "js", "ruby")


def test_a_rank_is_killed() -> None:
    with Job(faults("killed", AROUND_RANK_1)) as job:
        ranks = job.wait()
    assert ranks.pop(1).status == -9
    for first, second, third in (each.results for each in ranks):
        check_error(first, "rank 1")
        check_error(second, "rank 1")
        assert third == [3, 3, 3]  # the others go on


def test_a_rank_stops() -> None:
    with Job(faults("stopped", AROUND_RANK_1)) as job:
        for rank in (0, 2, 3):
            (error,) = job.wait_for(rank).results
            check_error(error, "rank 1")


@pytest.mark.parametrize(
    ("scenario", "texts"),
    [
        ("operators", ("all_reduce(float32 [3]", "all_gather(float32 [?]")),
        ("shapes", ("all_reduce(float32 [3]", "all_reduce(float32 [4]")),
        ("dtypes", ("all_reduce(int64 [3]", "all_reduce(float32 [3]")),
        ("roots", ("root=0", "root=1")),
    ],
)
def test_ranks_call_something_else(scenario: str, texts: tuple[str, str]) -> None:
    for results in run(faults(scenario)):
        # A rank that was content with what it got hears of it at its next call.
        error = next(each for each in results if each[0] == "CommunicationError")
        check_error(error, "call 0", *texts)


def test_a_tensor_requires_a_gradient_on_one_rank_only() -> None:
    found = run(faults("gradients", ["python"] * 2))
    for error, after in found:
        check_error(error)
        assert after == [2, 2]
    check_error(found[0][0], "the operand of comm.all_reduce must require a gradient on all ranks, or on none")


def test_all_ranks_give_a_size_or_none_does() -> None:
    for (error,) in run(faults("parts", ["python"] * 3)):
        check_error(error, "the ranks differ at call 0")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_rank_leaves_early(language: str) -> None:
    found = run(faults("leaves", ["ruby", language, "ruby"]))
    for rank in (0, 2):
        check_error(found[rank][0], "rank 1")


def test_a_rank_never_starts() -> None:
    for (error,) in run(faults("never"), size=4):
        check_error(error, "rank 3")


def test_jobs_are_joined_once() -> None:
    for again, result, after in run(faults("twice")):
        assert again[0] == "InvalidArgument"
        assert "joined before" in again[1]
        assert result == [3]
        check_error(after, "was left")


def test_a_forked_child_takes_no_part() -> None:
    for of_child, result in run(faults("forks", ["python", "ruby"])):
        check_error(of_child, "was forked from rank")
        assert result == [2]


def test_many_are_under_way() -> None:
    assert run(faults("many")) == [[True]] * 3


def test_a_wait_is_interrupted() -> None:
    *interrupted, late = run(faults("interrupted", ["python", "ruby", "ruby"]))
    assert [each[0][0] for each in interrupted] == ["KeyboardInterrupt", "Interrupt"]
    assert late[0] == [3, 3, 3]  # the collective has gone on
    assert [each[1] for each in (*interrupted, late)] == [[3, 3]] * 3


def test_lists_of_tensors_have_functions_of_their_own() -> None:
    for refused, gathered in run(faults("lists")):
        assert refused[0] == "TypeMismatch"
        assert "must be one Tensor, got several: the functions of comm.local take" in refused[1]
        assert gathered == [[1, 0], [1, 1], [1, 2]]  # a list of numbers is a tensor


def test_a_wrong_secret() -> None:
    for (error,) in run(faults("secrets"), of_last={"ONEFLOW_SECRET": "another"}):
        check_error(error)
