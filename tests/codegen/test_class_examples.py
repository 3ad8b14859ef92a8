"""Tests what languages write for the examples of classes."""

from __future__ import annotations

import pytest

from codegen import discover
from codegen.errors import TextError
from codegen.load import load_text
from tests.codegen.test_classes import GOOD

PROGRAM = """\
first = Counter(3)
first.add(2)
first.add(amount=first.count).count == 10
f = lambda x: first
add(1) == "done"
"""


def written() -> dict[str, str]:
    definitions = load_text(GOOD)
    return {each.name: each.examples.program(PROGRAM) for each in discover.languages(definitions)}


def test_each_language_writes_a_program_in_its_own_way() -> None:
    texts = written()
    assert texts["python"].splitlines() == [
        "first = flow.Counter(3)", "first.add(2)", "first.add(amount=first.count).count  # 10", "f = lambda x: first",
        'flow.add(1)  # "done"',
    ]  # fmt: skip
    assert texts["js"].splitlines() == [
        "const first = new flow.Counter(3);", "first.add(2);", "first.add({amount: first.count}).count  // 10",
        "const f = (x) => first;", "flow.add(1)  // 'done'",
    ]  # fmt: skip
    assert texts["ruby"].splitlines() == [
        "first = OneFlow::Counter.new(3)", "first.add(2)", "first.add(amount: first.count).count  # 10",
        "f = ->(x) { first }", 'OneFlow.add(1)  # "done"',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("nothing(1)", "'nothing' is neither a function nor an operator"),
        ("for x in y: x", "'for x in y:\n    x' is not a line of an example"),
        ("x = {1, 2}", "'{1, 2}' is not a value of an example"),
    ],
)
def test_mistakes(program: str, text: str) -> None:
    language = discover.languages(load_text(GOOD))[0]
    with pytest.raises(TextError) as caught:
        language.examples.program(program)
    assert str(caught.value) == text
