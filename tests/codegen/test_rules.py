"""Tests what rules of graphs say, and the errors of wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.definitions import Definitions
from codegen.errors import DefinitionError
from codegen.explain import explain_text
from codegen.load import load_text
from tests.codegen.conftest import FIXTURES, REPOSITORY

RULE = """
- rule: twice
  summary: Finds gelu.
  variables: "Tensor x"
  left: gelu(gelu(x))
  right: gelu(x)
  error: 1e-6
  try: {x: "[n]"}
"""
OPERATORS = (FIXTURES / "opdefs" / "arithmetic.yaml").read_text()


def problems(changes: dict[str, str]) -> list[str]:
    """Returns the problems of the rule with changes, without the file and the line."""
    text = RULE
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(DefinitionError) as caught:
        load_text(OPERATORS + text, "x.yaml")
    first = OPERATORS.count("\n") + 1
    return [f"{p.location.line - first}:{p.location.column}: {p.text}" for p in caught.value.problems]


def test_a_rule_is_read() -> None:
    (rule,) = load_text(OPERATORS + RULE).rules
    assert (rule.name, rule.left, rule.right, rule.error) == ("twice", "gelu(gelu(x))", "gelu(x)", 1e-6)
    assert [call.op.full_name for call in rule.calls] == ["gelu", "gelu"]
    assert rule.trials == {"x": (("n",),)}


def test_one_item_stands_for_several_rules(fixtures: Definitions) -> None:
    assert [rule.name for rule in fixtures.rules] == ["gelu_of_sum_none", "gelu_of_sum_tanh"]
    assert [rule.family for rule in fixtures.rules] == ["gelu_of_sum_*"] * 2
    assert fixtures.rules[1].left.endswith("approximate='tanh')")


NO_SIZE = "is no size: expected an integer, a name, or sums and products of them"
NO_CALL = "the left side of a rule consists of calls that write to nothing"
WRONG = {
    "no such operator": ({"right: gelu(x)": "right: gelo(x)"}, ["5:10: unknown operator 'gelo'; did you mean 'gelu'?"]),
    "no such variable": ({"right: gelu(x)": "right: gelu(y)"}, ["5:15: unknown name 'y'"]),
    "an unused variable": (
        {'"Tensor x"': '"Tensor x, float eps"', 'x: "[n]"': 'x: "[n]", eps: [1.0]'},
        ["3:15: the left side does not contain the variable eps"],
    ),
    "nothing to try": ({'{x: "[n]"}': "{}"}, ["7:8: nothing to try for the variable x"]),
    "an unknown variable to try": ({'"[n]"': '"[n]", y: "[n]"'}, ["7:19: unknown key 'y'"]),
    "a wrong shape": ({'"[n]"': '"[n / 2]"'}, [f"7:12: 'n / 2' {NO_SIZE}"]),
    "no shape": ({'"[n]"': '"n"'}, ['7:12: expected a shape: "[n, 2 * n]"']),
    "an error above 1": ({"1e-6": "2.0"}, ["6:10: expected the largest relative error, such as 1e-6, or 'none'"]),
    "a constant that is no variable": (
        {"  left": "  constants: [y]\n  left"}, ["4:15: unknown variable 'y'"],
    ),
    "finite numbers of what is no variable": (
        {"  left": "  finite: [y]\n  left"}, ["4:12: unknown variable 'y'"],
    ),
    "a left side that is no call": ({"left: gelu(gelu(x))": "left: x"}, [f"4:9: {NO_CALL}"]),
    "a condition that is none": ({"  right": "  when: rank(x)\n  right"}, ["5:9: expected a condition, got int"]),
    "an unknown key": ({"  right": "  rigth: x\n  right"}, ["5:3: unknown key 'rigth'"]),
    "a wrong name": ({"rule: twice": "rule: Twice"}, ["1:9: 'Twice' is not a name in snake_case"]),
    "unknown variants": ({"  left": "  each: lists\n  left"}, ["4:9: unknown list of variants 'lists'"]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_reported(name: str) -> None:
    changes, expected = WRONG[name]
    assert problems(changes) == expected


def test_all_problems_are_reported_at_once() -> None:
    assert len(problems({"left: gelu(gelu(x))": "left: gelu(gelo(x))", "1e-6": "2.0", "Finds gelu.": '""'})) == 2


def test_two_rules_cannot_have_one_name() -> None:
    with pytest.raises(DefinitionError, match="there is a rule 'twice' already"):
        load_text(OPERATORS + RULE + RULE, "x.yaml")


def test_a_rule_is_explained(definitions: Definitions) -> None:
    text = explain_text("silu", definitions, Path(REPOSITORY))
    assert "left       mul(x, sigmoid(x))" in text
    assert "error      at most 1e-06, relative" in text
    assert "finds      mul <- sigmoid" in text
