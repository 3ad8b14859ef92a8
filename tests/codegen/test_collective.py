"""Tests the mistakes that are found in records of kind `collective`."""

from __future__ import annotations

import pytest

from codegen.errors import DefinitionError
from codegen.load import load_text

RECORDS = """\
- op: add
  signature: "add(Tensor input, Tensor other) -> Tensor"
  summary: Adds.
  elementwise: "input + other"
  oracle: torch.add
  examples:
    - call: "add([1.0], [1.0])"
      gives: [2.0]
  errors:
    - call: "add('a', [1.0])"
      raises: TypeMismatch
      says: "add: input must be {Tensor}, got {str}"
- op: both
  signature: "both(Tensor[] tensors, *, str op='sum') -> Tensor[]"
  summary: Adds.
  collective:
    pattern: local.all_reduce
    match: op
    merges: {sum: {by: add}}
  dtype: {result: same}
  oracle: torch.add
  examples:
    - call: "both([tensor([1.0])])"
      gives: [[1.0]]
  errors:
    - call: "both('a')"
      raises: TypeMismatch
      says: "both: tensors must be {Tensor[]}, got {str}"
"""


@pytest.mark.parametrize(
    ("text", "changed", "says"),
    [
        (
            "local.all_reduce",
            "local.all_reduced",
            "<text>:17:14: unknown pattern 'local.all_reduced'; did you mean 'local.all_reduce'?",
        ),
        ("match: op", "match: tensors", "<text>:18:12: argument 'tensors' must be a str, it is Tensor[]"),
        ("    match: op\n", "", "<text>:17:5: missing key 'match'"),
        ("{sum: {by: add}}", "{max: {by: add}}", "<text>:17:5: no merge for 'sum', the default of op"),
        ("{sum: {by: add}}", "{}", "<text>:19:13: expected a merge, got nothing"),
        ("{by: add}", "{by: ad}", "<text>:13:3: merge 'sum': unknown operator 'ad'; did you mean 'add'?"),
        ("{by: add}", "{by: add, at: 1}", "<text>:19:29: unknown key 'at'"),
        (
            "{by: add}",
            "{by: add, accepts: flotaing}",
            "<text>:19:38: unknown dtype set 'flotaing'; did you mean 'floating'?",
        ),
        ("local.all_reduce", "local.broadcast", "<text>:18:5: unknown key 'match'"),
        ("-> Tensor[]", "-> Tensor", "<text>:14:58: the result of local.all_reduce must be one Tensor[]"),
        (
            "(Tensor[] tensors,",
            "(Tensor[] tensors, Tensor? other=None,",
            "<text>:14:15: the first argument of local.all_reduce must be its only Tensor[]",
        ),
        ("gives: [[1.0]]", "gives: 1.0", "<text>:23:14: the example must give a list of tensors"),
    ],
)
def test_mistake_is_located_and_described(text: str, changed: str, says: str) -> None:
    assert text in RECORDS
    with pytest.raises(DefinitionError) as caught:
        load_text(RECORDS.replace(text, changed))
    assert says in [str(problem) for problem in caught.value.problems]


def test_only_native_operators_and_collectives_return_lists() -> None:
    with pytest.raises(DefinitionError) as caught:
        load_text(RECORDS.replace("other) -> Tensor", "other) -> Tensor[]"))
    says = "<text>:2:50: elementwise operators cannot return a list of tensors"
    assert says in [str(problem) for problem in caught.value.problems]
