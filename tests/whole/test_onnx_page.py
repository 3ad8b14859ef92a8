"""Tests that docs/onnx.md lists the operators that the library loads.

`python -m tests.whole.test_onnx_page` writes the list.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import onnx
from onnx import TensorProto, helper

import oneflow_py as flow

PAGE = Path(__file__).parents[2] / "docs" / "onnx.md"
LIST = re.compile("(?<=<!-- operators -->\n).*(?=<!-- end -->)", re.DOTALL)


def can_load(name: str, path: Path) -> bool:
    """Returns whether the library has an operator: another one is refused before anything else is checked."""
    x, y = (helper.make_tensor_value_info(each, TensorProto.FLOAT, [2]) for each in ("x", "y"))
    graph = helper.make_graph([helper.make_node(name, ["x"], ["y"])], "graph", [x], [y])
    newest = helper.make_opsetid("", onnx.defs.onnx_opset_version())
    onnx.save(helper.make_model(graph, opset_imports=[newest], ir_version=10), path)
    try:
        flow.onnx.load(path)
    except flow.Error as error:
        return "operators that cannot be loaded" not in str(error)
    return True


def text(folder: Path) -> str:
    names = sorted({schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain})
    listed = ", ".join(f"`{name}`" for name in names if can_load(name, folder / "model.onnx"))
    return "\n".join(textwrap.wrap(f"{listed}.", 120)) + "\n"


def test_the_page_lists_the_operators(tmp_path: Path) -> None:
    found = LIST.search(PAGE.read_text())
    assert found
    assert found[0] == text(tmp_path)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        PAGE.write_text(LIST.sub(text(Path(temporary)), PAGE.read_text()))
