"""Tests which records have kernels that compute in complex numbers."""

from __future__ import annotations

import pytest

from codegen.load import load_text

RECORD = """\
- op: neg
  signature: "neg(Tensor input) -> Tensor"
  summary: The negative.
  elementwise: "-input"
  dtype: {accepts: any, result: same}
  complex: parts
  oracle: torch.neg
  examples: [{call: "neg([1])", gives: [-1]}]
  errors: [{call: "neg('a')", raises: TypeMismatch, says: "neg: input must be {Tensor}, got {str}"}]
- op: f
  signature: "f(Tensor input, Tensor other, *, Number alpha=1) -> Tensor"
  summary: Does something.
  elementwise: "EXPRESSION"
  dtype: {accepts: any, result: promote}
  complex: COLUMN
  oracle: torch.mul
  examples: [{call: "f([1], [2])", gives: [2]}]
  errors: [{call: "f('a', [1])", raises: TypeMismatch, says: "f: input must be {Tensor}, got {str}"}]
"""


@pytest.mark.parametrize(
    ("expression", "column", "holds"),
    [
        ("input * other - input", "neg(input)", True),
        ("input if input != other else other + other", "neg(input)", True),
        ("input", "neg(input)", False),  # computes nothing, unlike the column `complex`
        ("input * other", "parts", False),  # is computed for each part separately
        ("alpha * other", "neg(input)", False),  # depends on a number, which is not a tensor with parts
        ("abs(input) * other", "neg(input)", False),
        ("input if input < other else other", "neg(input)", False),
        ("input * 2", "neg(input)", False),
    ],
)
def test_expressions_that_hold_for_complex_numbers(expression: str, column: str, holds: bool) -> None:
    definitions = load_text(RECORD.replace("EXPRESSION", expression).replace("COLUMN", column), "x.yaml")
    assert {op.name: op.kind.holds_for_complex(op) for op in definitions.ops} == {"neg": False, "f": holds}
