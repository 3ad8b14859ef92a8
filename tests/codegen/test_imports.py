"""Modules of the generator, and of the Python package, import each other without cycles.

Imports in functions and for types count as well.
"""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ["codegen", "bindings/python/oneflow_py"]  # that of CommNet has a test of its own


def modules(package: Path) -> dict[str, Path]:
    """Returns the files of a package by the names of their modules; a compiled module is known by its stub."""
    found = {}
    for path in (*package.rglob("*.pyi"), *package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name: str, path: Path) -> Iterator[str]:
    """Yields the names that a module may import: of a module, or of a module with a name in it; none for a stub."""
    if path.suffix == ".pyi":
        return
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{start}.{each.name}" for each in node.names)


def dependencies(package: Path) -> dict[str, set[str]]:
    """Returns the modules of a package that each of them imports."""
    files = modules(package)
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        wanted = {each if each in files else each.rpartition(".")[0] for each in imported(name, path)}
        found[name] = (wanted & files.keys()) - {name}
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_imports_itself_through_others(package: str) -> None:
    found = dependencies(ROOT / package)
    assert any(found.values())
    graphlib.TopologicalSorter(found).prepare()


def test_a_compiled_module_is_not_its_package(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").write_text("from package.first import name\n")
    (folder / "first.py").write_text("from package import compiled\n")
    (folder / "compiled.pyi").write_text("from package import *\n")
    graphlib.TopologicalSorter(dependencies(folder)).prepare()


@pytest.mark.parametrize(
    "text",
    [
        "from package import first",
        "from package.first import name",
        "from . import first",
        "from .first import name",
        "import package.first",
        "def use():\n    from package.first import name",
        "if TYPE_CHECKING:\n    from package.first import name",
    ],
)
def test_every_form_of_an_import_counts(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "first.py").write_text("from package import second\n")
    (folder / "second.py").write_text(f"{text}\n")
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(dependencies(folder)).prepare()
