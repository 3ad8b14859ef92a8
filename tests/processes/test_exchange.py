"""Transfers while others are under way, groups that split, objects, graphs."""

from __future__ import annotations

import pytest

from tests.processes.jobs import command, run


# Each language is each rank.
@pytest.mark.parametrize("languages", [("python", "js", "ruby"), ("js", "ruby", "python"), ("ruby", "python", "js")])
def test_exchange(languages: tuple[str, ...]) -> None:
    found = run([command(language, "exchange") for language in languages])
    for rank, results in enumerate(found):
        expected: list[object] = [[float((rank + 2) % 3 + 1)] * 2, [rank + 1.0] * 2, True]
        if rank == 0:
            expected += [[5.0, 7.0]]
        if rank == 2:
            expected += [[0.0, 0.0]]
        expected += [["1", 0, 1] if rank == 1 else ["2,0", rank == 0, 2]]
        expected += [[1] if rank == 1 else [2]]
        expected += [rank == 1]
        expected += [{"a": [1, 2.5, None, True, "ü"], "b": {}}]
        expected += [[2 * (3 + 3 * (i + 0.5)) + 1] * 2 for i in range(3)]
        assert results == expected, f"rank {rank}"
