"""Fixtures of the tests of codegen."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.definitions import Definitions
from codegen.load import definition_files, load

HERE = Path(__file__).parent
FIXTURES = HERE / "fixtures"
GOLDEN = HERE / "golden"
REPOSITORY = HERE.parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files instead of comparing")


@pytest.fixture(scope="session")
def fixtures() -> Definitions:
    """Returns the definitions in fixtures/, a few records of several kinds."""
    return load(definition_files(FIXTURES), FIXTURES)


@pytest.fixture(scope="session")
def definitions() -> Definitions:
    """Returns the definitions of the project."""
    return load(definition_files(REPOSITORY), REPOSITORY)
