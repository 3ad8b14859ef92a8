"""The summary of the test steps counts each test once."""

from __future__ import annotations

import pytest

from tests.run_steps import Counts

CTEST = """\
1: [==========] 3 tests from 1 test suite ran.
1: [  PASSED  ] 3 tests.
1/3 Test #1: base_tests ............   Passed    0.10 sec
2: [  PASSED  ] 4 tests.
2: [  SKIPPED ] 1 test, listed below:
2: [  FAILED  ] 2 tests, listed below:
2/3 Test #2: device_tests ..........***Failed    0.20 sec
3: all is well
3/3 Test #3: examples ..............   Passed    0.10 sec
67% tests passed, 1 tests failed out of 3
"""


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ("=== 1 failed, 12 passed, 3 skipped in 1.5s ===", {"passed": 12, "failed": 1, "skipped": 3}),
        ("9 runs, 20 assertions, 2 failures, 0 errors, 1 skips", {"passed": 7, "failed": 2, "skipped": 1}),
        ("# pass 5\n# fail 0", {"passed": 5, "failed": 0}),
        ("100% tests passed, 0 tests failed out of 7", {"passed": 7, "failed": 0}),
        (CTEST, {"passed": 3 + 4 + 1, "failed": 2, "skipped": 1}),
        (CTEST + CTEST, {"passed": 16, "failed": 4, "skipped": 2}),
    ],
)
def test_tests_are_counted_once(output: str, counts: dict[str, int]) -> None:
    found = Counts()
    for line in output.splitlines():
        found.read(line)
    assert found.tests == counts
