"""The modules of the package import each other without cycles; imports in functions and for types count as well."""

import ast
import graphlib
import pathlib
from collections.abc import Iterator

import commnet

PACKAGE = pathlib.Path(commnet.__file__).parent
# The extension is known by its stub.
MODULES = {path.stem: path for pattern in ("*.py", "*.pyi") for path in PACKAGE.glob(pattern)}


def imported(path: pathlib.Path) -> Iterator[str]:
    """Yields the modules of the package that a file imports; the package itself is "__init__"."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not used here"
            names = [f"{node.module}.{each.name}" for each in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "commnet":
                module = rest.partition(".")[0]
                yield module if module in MODULES else "__init__"


def test_no_module_imports_itself_through_others() -> None:
    graph = {name: set(imported(path)) for name, path in MODULES.items()}
    assert graph["endpoint"] >= {"memory", "operation", "peer"}
    graphlib.TopologicalSorter(graph).prepare()
