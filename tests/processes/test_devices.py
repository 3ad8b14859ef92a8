"""Collectives of tensors on devices, which go from device to device where all ranks can: by the test accelerator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.processes.drivers import Drivers
from tests.processes.jobs import BUILD, LANGUAGES, Job, check_error, faults, run

PLUGIN = {"ONEFLOW_DEVICE_PATH": str(BUILD / "test_plugins" / "accel.so")}
ON_DEVICE = {**PLUGIN, "TEST_DEVICE": "accel"}


def _counts(languages: Sequence[str], folder: Path, variables: dict[str, str]) -> list[int]:
    """Runs all cases, and returns how many collectives the device of each rank has run."""
    drivers = Drivers(folder, len(languages))
    run([drivers.command(each) for each in languages], variables)
    return [each["device_collectives"] for each in drivers.check()]


def test_all_collectives(tmp_path: Path) -> None:
    counts = _counts(LANGUAGES, tmp_path, PLUGIN | {"TEST_DEVICE": "accel:1"})
    assert min(counts) > 50


def test_a_device_without_communicator(tmp_path: Path) -> None:
    assert _counts(["python"] * 2, tmp_path, ON_DEVICE | {"ACCEL_FAULT": "no_communicator"}) == [0, 0]


def test_a_rank_without_the_device() -> None:
    found = run(faults("host"), ON_DEVICE, of_last={"ONEFLOW_DEVICE_PATH": "", "TEST_DEVICE": "cpu"})
    assert found == [[[3, 3, 3]] * 2] * 3


def test_a_tensor_of_the_host_among_those_of_devices() -> None:
    for error, result in run(faults("host"), ON_DEVICE):
        check_error(error, "the ranks differ at call 0", "all_reduce(float32 [3] of accel", "all_reduce(float32 [3],")
        assert result == [3, 3, 3]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("no_communicator", "the links were told to be missing"),
        ("shared_devices", "there are fewer devices than ranks"),
    ],
)
def test_why_tensors_go_through_the_host(fault: str, why: str) -> None:
    """It is counted, and an error where fallbacks are."""
    for *results, error, later in run(faults("through_host"), ON_DEVICE | {"ACCEL_FAULT": fault}):
        assert results == [[3, 3, 3], [3, 3, 3], [2]]
        for name, text in (error, later):
            assert name.startswith("Unsupported")
            assert text.endswith(f": accel:0 has no communicator for group 0-2: {why}")


def test_ranks_call_something_else() -> None:
    for error, result in run(faults("operators"), ON_DEVICE):
        check_error(error, "the ranks differ at call 0", "all_gather(float32 [?] of accel")
        assert result == [3, 3, 3]


def test_a_rank_is_killed() -> None:
    with Job(faults("busy_killed"), ON_DEVICE) as job:
        ranks = job.wait()
    assert ranks[1].status == -9
    for rank in (0, 2):
        opened, error, others = ranks[rank].results
        assert opened == [3, 3, 3]
        check_error(error, "all_reduce: ", "rank 1 is lost")
        assert others == [2, 2, 2]


def test_a_rank_stops() -> None:
    with Job(faults("busy_stopped"), ON_DEVICE) as job:
        for rank in (0, 2):
            opened, error, others = job.wait_for(rank).results
            assert opened == [3, 3, 3]
            check_error(error, "all_reduce: ", "rank 1 is lost" if "lost" in error[1] else "within 2 seconds")
            assert others == [2, 2, 2]


def test_a_device_is_late() -> None:
    for rank, (opened, error, others) in enumerate(run(faults("busy_late", ["python"] * 3), ON_DEVICE)):
        assert opened == [3, 3, 3]
        check_error(error, "all_reduce: ", "the devices of the ranks have not done it within 2 seconds")
        assert others == ([1, 1, 1] if rank == 1 else [2, 2, 2])


def test_a_rank_stops_before_it_is_asked() -> None:
    with Job(faults("stopped"), ON_DEVICE) as job:
        for rank in (0, 2):
            (error,) = job.wait_for(rank).results
            check_error(error, "rank 1 ")


def test_a_device_fails() -> None:
    for rank, (error, result) in enumerate(run(faults("failing"), ON_DEVICE)):
        check_error(error, "all_reduce: ", "a link was told to fail", "" if rank == 1 else "rank 1 has failed")
        assert result == [3, 3, 3]


def test_transfers_in_any_order() -> None:
    for rank, results in enumerate(run(faults("swaps", ["python"] * 2), ON_DEVICE)):
        assert results == [100_000 * (1 - rank), [2, 2], [0, 0], [1, 1], [[0, 0], [1, 1], [2, 2]], 1 - rank]


def test_many_are_under_way() -> None:
    assert run(faults("many", ["python"] * 2), ON_DEVICE) == [[True]] * 2


def test_graphs() -> None:
    for results in run(faults("graph", ["python"] * 2), ON_DEVICE):
        assert results == [[6, 6], [8, 8], [12, 12]]


def test_a_rank_leaves_early() -> None:
    error = run(faults("unfinished", ["python"] * 2), ON_DEVICE)[0][0]
    check_error(error, "rank 1 ")
