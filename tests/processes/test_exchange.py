"""Transfers between two ranks, parts of given sizes, groups that split, objects, graphs."""

from __future__ import annotations

import pytest

from tests.processes.jobs import command, run


@pytest.mark.parametrize(
    "languages", [("python",) * 3, ("js",) * 3, ("ruby",) * 3, ("ruby", "python", "js")], ids="-".join
)
def test_exchange(languages: tuple[str, ...]) -> None:
    found = run([command(language, "exchange") for language in languages])
    for rank, results in enumerate(found):
        expected: list[object] = [[float((rank + 2) % 3 + 1)] * 2, [rank + 1.0] * 2, True]
        if rank == 0:
            expected += [[5.0, 7.0]]
        if rank == 1:
            expected += [[2.0, 1.0]]
        if rank == 2:
            expected += [[0.0, 0.0]]
        summed = [0, 3, 6, 9, 12, 15]
        scattered = [10, 11, 12, 13, 14, 15]
        gathered = [[0, 10, 20], [], [each + 10 * other for other in range(3) for each in range(1, 6)]]
        expected += [[summed[:3], summed[3:5], summed[5:]][rank]]
        expected += [[scattered[:1], scattered[1:3], scattered[3:]][rank]]
        expected += [gathered[rank]]
        expected += [["1", 0, 1] if rank == 1 else ["2,0", rank == 0, 2]]
        expected += [[1] if rank == 1 else [2]]
        expected += [rank == 1]
        expected += [{"a": [1, 2.5, None, True, "ü"], "b": {}}]
        expected += [[2 * (3 + 3 * (i + 0.5)) + 1] * 2 for i in range(3)]
        assert results == expected, f"rank {rank}"
