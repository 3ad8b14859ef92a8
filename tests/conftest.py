"""Settings of all Python tests."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Keeps the garbage collector from looking through thousands of tests, and what they import, again and again."""
    gc.freeze()
