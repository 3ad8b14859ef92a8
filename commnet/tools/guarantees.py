"""Check that each test which docs/guarantees.md names exists. Usage: guarantees.py PROGRAM_WITH_THE_TESTS"""

import fnmatch
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "guarantees.md"
TEST = re.compile(r"`(?:Transports/)?([A-Z]\w+\.(?:[A-Z]\w+|\*))`")


def list_tests(program: str) -> set[str]:
    """Return the names of all tests, "Suite.Test", without prefixes and parameters."""
    output = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    tests: set[str] = set()
    suite = ""
    for line in output.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith(" "):
            tests.add(suite + name.split("/")[0])
        else:
            suite = name.split("/")[-1]
    return tests


def main() -> None:
    tests = list_tests(sys.argv[1])
    named = {name for name in TEST.findall(PAGE.read_text()) if name != "Life.X"}
    missing = sorted(name for name in named if not fnmatch.filter(tests, name))
    if missing or not named:
        sys.exit(f"{PAGE.name} names tests that there are not: {', '.join(missing) or 'none at all'}")
    print(f"{len(named)} tests are there")


main()
