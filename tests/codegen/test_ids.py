"""Tests that ids follow what a record says, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen import ids, intrinsics
from codegen.definitions import Definitions
from codegen.load import load_text
from codegen.model import Op
from codegen.targets.cpu.printing import CpuPrinter

RECORD = """\
- op: f
  signature: "f(Tensor input, Tensor other, *, float scale=1.5, str mode='a') -> Tensor"
  summary: Does something.
  elementwise: {match: mode, a: "exp(input) * other", b: "input - scale"}
  dtype: {accepts: floating, result: promote}
  oracle: torch.mul
  examples: [{call: "f([1.0], [2.0])", gives: [5.4366]}]
  errors: [{call: "f('a', [1.0])", raises: TypeMismatch, says: "f: input must be {Tensor}, got {str}"}]
"""
REORDERED = """\
- errors: [{says: "f: input must be {Tensor}, got {str}", raises: TypeMismatch, call: "f('a', [1.0])"}]
  dtype: {result: promote, accepts: floating}
  elementwise: {b: "input-scale", a: "(exp(input)) * other", match: mode}
  oracle: torch.mul
  signature: "f( Tensor input,Tensor other, *, float scale=1.50, str mode='a' ) -> Tensor"
  summary: Does something else.
  examples: [{call: "f([1.0], [0.0])", gives: [0.0], note: another one}]
  op: f
"""


def record(text: str) -> Op:
    return load_text(text).ops[0]


def test_order_spacing_and_documentation_change_nothing() -> None:
    first, second = record(RECORD), record(REORDERED)
    assert first.signature_id == second.signature_id
    assert first.kernel_id == second.kernel_id


def test_names_for_parts_change_nothing_but_the_text() -> None:
    written_out = record(RECORD)
    parts = 'let: {power: exp(input), product: power * other}, match: mode, a: product, b: "input - scale"'
    named = record(RECORD.replace('match: mode, a: "exp(input) * other", b: "input - scale"', parts))
    assert named.kernel_id == written_out.kernel_id
    assert list(named.kind.definitions()) == [
        (None, "power = exp(input)"), (None, "product = power * other"), ("a", "product"), ("b", "input - scale"),
    ]  # fmt: skip
    kernels = [list(op.kind.kernels(op, CpuPrinter)) for op in (named, written_out)]
    assert [replace(each, comment="") for each in kernels[0]] == [replace(each, comment="") for each in kernels[1]]
    assert kernels[0][0].comment == "power = exp(input); product = power * other; product"


def test_ids_do_not_depend_on_the_version_of_python() -> None:
    """Compares with the ids that Python 3.11, 3.12 and 3.13 compute."""
    op = record(RECORD)
    assert (f"{op.signature_id:016x}", f"{op.kernel_id:016x}") == ("78f8b9af801cacc6", "034e2a198ed402ca")


@pytest.mark.parametrize(("before", "after"), [("scale=1.5", "scale=2.5"), ("Tensor other", "Tensor|Number other")])
def test_a_changed_signature_changes_both_ids(before: str, after: str) -> None:
    first, second = record(RECORD), record(RECORD.replace(before, after))
    assert first.signature_id != second.signature_id
    assert first.kernel_id != second.kernel_id


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("exp(input)", "exp2(input)"),
        ("accepts: floating", "accepts: any, compute: floating"),
        ("result: promote", "result: same"),
        ("input - scale", "scale - input"),
    ],
)
def test_a_changed_meaning_changes_the_kernel_id(before: str, after: str) -> None:
    first, second = record(RECORD), record(RECORD.replace(before, after))
    assert first.signature_id == second.signature_id
    assert first.kernel_id != second.kernel_id


def test_a_changed_complex_column_changes_the_kernel_id(definitions: Definitions) -> None:
    op = definitions.by_name["mul"]
    changed = replace(op, complex=definitions.by_name["div"].complex)
    assert changed.complex != op.complex
    assert changed.kernel_id != op.kernel_id
    assert changed.signature_id == op.signature_id


def test_another_version_of_an_intrinsic_changes_the_kernel_id(monkeypatch: pytest.MonkeyPatch) -> None:
    op = record(RECORD)
    before = op.kernel_id
    newer = {**intrinsics.FUNCTIONS, "exp": replace(intrinsics.FUNCTIONS["exp"], version=2)}
    monkeypatch.setattr(ids, "FUNCTIONS", newer)
    assert replace(op).kernel_id != before


def test_ids_are_different(definitions: Definitions) -> None:
    for found in ({op.signature_id for op in definitions.ops}, {op.kernel_id for op in definitions.ops}):
        assert len(found) == len(definitions.ops)
