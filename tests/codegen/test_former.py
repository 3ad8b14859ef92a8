"""Tests operators of earlier versions: what a record says about them, and what its mistakes are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.definitions import Definitions
from codegen.errors import DefinitionError, Location
from codegen.explain import explain_text
from codegen.former import check_formers, former_arguments, stored_text
from codegen.load import load_text
from codegen.model import FormerOperator, Word
from codegen.reader import Report
from codegen.restrict import restrict
from codegen.signature import parse
from tests.codegen.conftest import REPOSITORY
from tests.codegen.test_ids import RECORD

HERE = Location("x.yaml", 1, 1)

# The signature of RECORD: f(Tensor input, Tensor other, *, float scale=1.5, str mode='a') -> Tensor


def load(*formerly: str) -> Definitions:
    return load_text(RECORD + f"  formerly: [{', '.join(formerly)}]\n", "x.yaml")


def converted(former: str) -> list[tuple[str, object]]:
    """Returns the names and the defaults of the arguments of stored calls; `...` for those that calls must give."""
    op = load(former).ops[0]
    return [(each.name, each.default if each.has_default else ...) for each in former_arguments(op.formerly[0], op)]


def test_a_changed_default_is_that_of_the_former_signature() -> None:
    former = "{operator: \"f: f(Tensor input, Tensor other, *, float scale=2.0, str mode='b') -> Tensor\"}"
    assert converted(former) == [("input", ...), ("other", ...), ("scale", 2.0), ("mode", "b")]


def test_an_argument_that_calls_lack_has_its_default() -> None:
    former = '{operator: "f: f(Tensor input, Tensor other) -> Tensor"}'
    assert converted(former) == [("input", ...), ("other", ...), ("", 1.5), ("", "a")]


def test_a_record_says_what_calls_lack_if_it_is_not_the_default() -> None:
    former = '{operator: "f: f(Tensor input, Tensor other) -> Tensor", values: {mode: b, scale: 2}}'
    assert converted(former) == [("input", ...), ("other", ...), ("", 2), ("", "b")]


def test_arguments_and_operators_are_renamed() -> None:
    former = '{operator: "g.two: g(Tensor x, Tensor input) -> Tensor", renames: {x: input, input: other}}'
    assert converted(former) == [("x", ...), ("input", ...), ("", 1.5), ("", "a")]
    assert stored_text(load(former).ops[0].formerly[0]) == "g.two: g(Tensor x, Tensor input) -> Tensor"


def test_arguments_are_dropped() -> None:
    former = '{operator: "f: f(Tensor input, bool fast=True, *, Tensor other) -> Tensor", drops: [fast]}'
    assert converted(former) == [("input", ...), ("other", ...), ("", 1.5), ("", "a"), ("fast", True)]


def test_a_gradient_has_former_signatures_in_the_record(definitions: Definitions) -> None:
    signature = parse("smooth(Tensor grad, Tensor x) -> Tensor")
    renames = ((Word("x", HERE), Word("input", HERE)),)
    values = ((Word("approximate", HERE), "none"),)
    former = FormerOperator("smooth.gradient_input", signature, renames, values, (), HERE)
    ops = tuple(replace(op, formerly=(former,)) if op.full_name == "gelu" else op for op in definitions.ops)
    changed = replace(definitions, ops=ops)
    assert changed.formers == {**definitions.formers, "gelu.gradient_input": (former,)}
    check_formers(changed, report := Report())
    assert not report.problems
    gradient = next(op for op in definitions.gradients["gelu"].operators)
    found = [(each.name, each.default) for each in former_arguments(former, gradient)]
    assert found == [("grad", None), ("x", None), ("", "none")]
    restricted = restrict(changed, ["smooth.gradient_input"], REPOSITORY)
    assert "gelu.gradient_input" in [op.full_name for each in restricted.gradients.values() for op in each.operators]


def test_ids_do_not_depend_on_former_signatures() -> None:
    op = load('{operator: "g: g(Tensor input, Tensor other) -> Tensor"}').ops[0]
    assert op.kernel_id == load_text(RECORD).ops[0].kernel_id


@pytest.mark.parametrize(
    ("former", "says"),
    [
        (
            "{operator: f(Tensor input)}",
            "9:25: expected a name and a signature, as graph files have them: 'f: f(Tensor x) -> Tensor'",
        ),
        ('{operator: "f: g(Tensor x) -> Tensor"}', "9:26: 'f' is not an overload or a gradient of 'g'"),
        ('{operator: "f: f(Tensr x) -> Tensor"}', "9:31: unknown type 'Tensr'; did you mean 'Tensor'?"),
        (
            '{operator: "f: f(Tensor a, Tensor other) -> Tensor", renames: {a: inputs}}',
            "9:80: unknown argument 'inputs'; did you mean 'input'?",
        ),
        (
            '{operator: "f: f(Tensor aa, Tensor other) -> Tensor", renames: {ab: input}}',
            "9:78: unknown former argument 'ab'; did you mean 'aa'?",
        ),
        (
            '{operator: "f: f(Tensor input, Tensor other, Tensor x) -> Tensor"}',
            "9:26: f has no argument 'x' any more: `renames` or `drops` must say what becomes of it",
        ),
        (
            '{operator: "f: f(Tensor input) -> Tensor"}',
            "9:26: calls lack 'other', which has no default: `values` must give it",
        ),
        (
            '{operator: "f: f(Tensor input, Tensor other, int mode=3) -> Tensor"}',
            "9:26: the default 3 does not fit str mode",
        ),
        (
            '{operator: "f: f(Tensor input, Tensor other) -> Tensor", values: {scale: a}}',
            "9:26: the default 'a' does not fit float scale",
        ),
        (
            '{operator: "f: f(Tensor input, Tensor other, float scale=1.0) -> Tensor", values: {scale: 2.0}}',
            "9:97: calls give 'scale' themselves",
        ),
        (
            '{operator: "f: f(Tensor input, Tensor other) -> (Tensor, Tensor)"}',
            "9:26: f has other results: f(Tensor input, Tensor other, *, float scale=1.5, str mode='a') -> Tensor",
        ),
        (
            "{operator: \"f: f(Tensor input, Tensor other, *, float scale=1.5, str mode='a') -> Tensor\"}",
            "9:26: 'f: f(Tensor input, Tensor other, *, float scale=1.5, str mode='a') -> Tensor' is f already",
        ),
        (
            '{operator: "f.gradient_x: f(Tensor grad) -> Tensor"}',
            "9:26: unknown gradient of f 'f.gradient_x'",
        ),
        (
            '{operator: "f: f(Tensor input) -> Tensor", rename: {}}',
            "9:57: unknown key 'rename'; did you mean 'renames'?",
        ),
    ],
)
def test_mistakes_are_located(former: str, says: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        load(former)
    assert str(caught.value.problems[0]).split("\n")[0].startswith(f"x.yaml:{says}")


def test_explain_lists_former_signatures() -> None:
    definitions = load('{operator: "g: g(Tensor input, Tensor other) -> Tensor"}')
    assert "  formerly    g: g(Tensor input, Tensor other) -> Tensor\n" in explain_text("f", definitions, REPOSITORY)
