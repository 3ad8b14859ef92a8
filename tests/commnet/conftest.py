"""Where commnet and oneflow are for programs of each language."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("COMMNET_BUILD", ROOT / "build" / "commnet"))
sys.path.insert(0, str(BUILD / "python"))


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Returns the environment in which Python, Node.js and Ruby find both libraries."""
    modules = tmp_path_factory.mktemp("node_modules")
    (modules / "oneflow-js").symlink_to(ROOT / "bindings" / "js")
    ruby = [ROOT / "commnet/bindings/ruby/lib", BUILD / "bindings/ruby/lib", ROOT / "bindings/ruby/lib"]
    return os.environ | {
        "PYTHON": sys.executable,
        "PYTHONPATH": f"{BUILD / 'python'}:{ROOT / 'build' / 'python'}",
        "NODE_PATH": f"{BUILD / 'node_modules'}:{modules}",
        "COMMNET_NODE_ADDON": str(BUILD / "bindings/js/commnet.node"),
        "RUBYLIB": ":".join(map(str, ruby)),
    }
