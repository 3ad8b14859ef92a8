"""Tests that a library can be generated with only the operators that given ones need."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codegen import discover, emit
from codegen.definitions import Definitions
from codegen.errors import TargetError
from codegen.restrict import restrict
from codegen.runtime_calls import RuntimeSources
from codegen.targets.runtime.families import OperatorSource
from tests.codegen.conftest import REPOSITORY


def names(definitions: Definitions) -> set[str]:
    return {op.full_name for op in definitions.ops}


@pytest.mark.parametrize(
    "name", ["relu", "batch_norm", "layer_norm", "sort", "index_put_", "einsum", "comm.local.all_reduce"]
)
def test_what_an_operator_calls_is_kept(definitions: Definitions, name: str) -> None:
    found = restrict(definitions, [name], REPOSITORY)
    kept = names(found)
    assert name in kept
    assert len(kept) < 100
    for op in found.ops:
        assert {each.full_name for each in OperatorSource(op, definitions).called} <= kept
        assert {*op.kind.called_by_name} <= kept
    assert found.by_name[name] is definitions.by_name[name]  # with the same identifiers


def test_gradients_and_rules_are_left_out(definitions: Definitions) -> None:
    found = restrict(definitions, ["softmax"], REPOSITORY)
    assert not any(each.ops for each in found.gradients.values())
    assert found.rules == ()


def test_a_gradient_can_be_asked_for(definitions: Definitions) -> None:
    found = restrict(definitions, ["softmax.gradient_input"], REPOSITORY)
    kept = {op.full_name for each in found.gradients.values() for op in each.operators}
    assert kept == {"softmax.gradient_input"}
    assert "softmax" in names(found)


def test_sessions_have_the_operators_that_they_call(definitions: Definitions) -> None:
    assert {"cast", "clone", "copy", "lazy_clone", "to_device"} <= names(restrict(definitions, ["relu"], REPOSITORY))


def test_unknown_operators_are_errors(definitions: Definitions) -> None:
    with pytest.raises(TargetError, match="unknown operator 'rellu'"):
        restrict(definitions, ["rellu"], REPOSITORY)


@pytest.mark.parametrize("target", ["runtime", "cpu", "c", "cpp"])
def test_targets_render_what_is_left(definitions: Definitions, target: str) -> None:
    found = restrict(definitions, ["conv2d", "softmax"], REPOSITORY)
    whole = emit.render(discover.target(target, definitions), definitions)
    files = emit.render(discover.target(target, found), found)
    # The loops of reductions are named after the first operator that uses them, which may be another one here.
    assert {path for path in files if "/folds/" not in path} <= whole.keys()
    assert sum(map(len, files.values())) < sum(map(len, whole.values())) / 3


def test_the_command_line_takes_operators(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "opdefs", tmp_path / "opdefs")
    (tmp_path / "runtime").mkdir()
    command = [sys.executable, "-m", "codegen", "--root", tmp_path, "generate", "--only", "runtime", "--operators"]
    subprocess.run([*command, "relu,tanh"], cwd=REPOSITORY, check=True, capture_output=True)
    generated = {path.stem for path in (tmp_path / "runtime" / "generated").iterdir()}
    assert "rules" in generated
    assert "convolution" not in generated
    done = subprocess.run([*command, "rellu"], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 1
    assert "unknown operator 'rellu'" in done.stderr


def test_calls_of_the_runtime_follow_includes(tmp_path: Path) -> None:
    texts = {
        "ops/a.h": '#include "base/b.h"\n',
        "ops/a.cpp": '#include "ops/a.h"\nconstinit const OperatorName kCopy("copy");\n',
        "base/b.h": "class OperatorName;\n",
        "base/b.cpp": '#include "base/b.h"\nstatic const OperatorName one("add"), other("max.dim");\n',
        "ops/declared.h": "",
        "ops/one.cpp": '#include "ops/declared.h"\nconst OperatorName kOne("one");\n',
        "ops/other.cpp": '#include "ops/declared.h"\n#include "ops/a.h"\nconst OperatorName kTwo("two");\n',
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    sources = RuntimeSources(tmp_path)
    assert sources.called(["base/b.h"]) == {"add", "max.dim"}
    assert sources.called(["ops/a.h"]) == {"add", "copy", "max.dim"}
    assert sources.called(["ops/declared.h"]) == {"one", "two", "add", "copy", "max.dim"}
    assert sources.called(["ops/missing.h"]) == set()
