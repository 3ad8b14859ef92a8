"""What Python has of its own for the classes of records."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oneflow_py import _native  # makes the modules oneflow_py.comm and oneflow_py.graph
from oneflow_py.spawn import spawn

if TYPE_CHECKING:
    from oneflow_py._native import Profile, TensorFile
    from oneflow_py.graph import Graph


def _represent_graph(graph: Graph) -> str:
    """Returns `<graph(x: float32[batch, 2]) of 3 calls>`."""
    inputs = ", ".join(f"{name}: {dtype}[{', '.join(shape)}]" for name, dtype, _, shape in graph.inputs)
    calls = graph.call_count
    return f"<graph({inputs}) of {calls} call{'' if calls == 1 else 's'}>"


def _picture(graph: Graph) -> str:
    """Shows the picture in notebooks."""
    return graph.picture()


def _represent_profile(profile: Profile) -> str:
    """Returns `<profile of 3 calls>`."""
    calls = len(profile.entries)
    return f"<profile of {calls} call{'' if calls == 1 else 's'}>"


def _save(self: Profile, path: str | bytes | os.PathLike[str]) -> None:
    """Writes the trace to a file."""
    Path(os.fsdecode(path)).write_text(self.trace(), encoding="utf-8")


def _represent_file(file: TensorFile) -> str:
    """Returns `<file of 3 tensors>`."""
    if file.closed:
        return "<closed file>"
    return f"<file of {len(file)} tensor{'' if len(file) == 1 else 's'}>"


def install() -> None:
    """Extends the classes."""
    graph: Any = sys.modules["oneflow_py.graph"].Graph
    graph.__repr__ = _represent_graph
    graph._repr_svg_ = _picture
    profile: Any = _native.Profile
    profile.__repr__ = _represent_profile
    profile.save = _save
    files: Any = _native.TensorFile
    files.__repr__ = _represent_file
    _save.__name__, _save.__qualname__ = "save", "Profile.save"
    comm: Any = sys.modules["oneflow_py.comm"]
    comm.spawn = spawn
    spawn.__module__ = comm.__name__
