"""Tests invalid records of classes: every mistake is found and located, with a text that says what to do."""

from __future__ import annotations

import pytest

from codegen import discover
from codegen.errors import DefinitionError
from codegen.language import Language
from codegen.load import load_text

GOOD = """\
- class: Counter
  handle: of_counter
  summary: A counter.
  create:
    new: "Counter(int start=0) -> self"
    calls: of_counter_create
    summary: Creates a counter.
  members:
  - property: count -> int
    calls: of_counter_count
    summary: The count.
  - method: "add(int amount=1) -> self"
    calls: of_counter_add
    summary: Adds.
    arguments: {amount: how much}
- record: Step
  summary: A step.
  fields:
    int before: The count before.
- constant: default_counter
  type: Counter
  calls: of_default_counter
  summary: The counter.
- function: "add(int amount=1) -> self"
  of: default_counter
  summary: Adds.
"""

CREATE = """\
  create:
    new: "Counter(int start=0) -> self"
    calls: of_counter_create
    summary: Creates a counter.
"""
ADD = 'add(int amount=1) -> self"\n    calls'
ABOUT = "    arguments: {amount: how much}\n"
SUMMARY = "  summary: A counter.\n"
BEFORE = "    int before: The count before.\n"


def test_the_unchanged_records_are_valid() -> None:
    objects = load_text(GOOD).objects
    assert [each.full_name for each in objects.members] == ["Counter", "Counter.count", "Counter.add"]
    assert [each.calls for each in objects.functions] == ["of_counter_add"]


def test_a_language_can_omit_a_class() -> None:
    records = GOOD.replace(SUMMARY, SUMMARY + "  omitted: {js: it has another}\n") + "- function: make() -> Counter\n"
    definitions = load_text(records + "  calls: of_make\n  summary: Makes one.\n")
    for each in discover.languages(definitions):
        assert isinstance(each, Language)
        assert [owner.name for owner in each.objects.classes] == ([] if each.name == "js" else ["Counter"])
        problems = [problem.text for problem in each.problems(definitions)]
        expected = [f"'{user}' needs 'Counter', which Node.js omits" for user in ("make", "default_counter")]
        assert [text for text in problems if "omits" in text] == (expected if each.name == "js" else [])
    assert not list(discover.unknown_languages(definitions))
    strange = load_text(GOOD.replace(SUMMARY, SUMMARY + "  omitted: {jss: it has another}\n"))
    assert [str(each) for each in discover.unknown_languages(strange)] == [
        "<text>:1:3: unknown language 'jss'; did you mean 'js'?"
    ]


def test_a_function_can_be_written_by_hand() -> None:
    text = GOOD + "- function: start() -> None\n  by_hand: true\n  work: always\n  summary: Starts.\n"
    objects = load_text(text).objects
    assert [each.name for each in objects.by_hand] == ["start"]
    assert [each.name for each in objects.declared] == ["add", "start"]
    assert "start" not in [each.name for each in objects.members]
    assert objects.by_hand[0].promised is None


# Each row changes one part of the records: the old text, the new text, and the problems that follow.
WRONG = [
    # keys
    ("  handle:", "  handel:", "x.yaml:1:3: missing key 'handle'\nx.yaml:2:3: unknown key 'handel'; did you mean 'handle'?"),
    ("handle: of_counter", "handle: of-counter", "x.yaml:2:11: 'of-counter' is not a handle of the C API or a class of runtime/objects"),
    (SUMMARY, SUMMARY + "  header: counter.h\n", "x.yaml:4:11: 'counter.h' is not a public header, such as oneflow/graph.h"),
    ("- class: Counter", "- class: counter", "x.yaml:1:10: 'counter' is not a name in PascalCase, perhaps after a namespace"),
    ("- class: Counter", "- class: Counter\n  constant: x", "x.yaml:2:3: unknown key 'constant'"),
    ("    summary: Adds.\n    arg", "    arg", "x.yaml:12:5: missing key 'summary'"),
    ("of_counter_add\n", "of_counter_add\n    work_: x\n", "x.yaml:14:5: unknown key 'work_'; did you mean 'work'?"),
    ("- method", "- methd", "x.yaml:12:5: missing key 'method'\nx.yaml:12:5: unknown key 'methd'; did you mean 'method'?"),
    (BEFORE, BEFORE + "  fild: 1\n", "x.yaml:20:3: unknown key 'fild'"),
    ("The count before.", "[1]", "x.yaml:19:17: expected a string, got a list"),
    # what runs
    ("    calls: of_counter_add\n", "", "x.yaml:12:5: expected one of the keys 'calls', 'runs' and 'by_hand'"),
    ("of_counter_add\n", "of_counter_add\n    runs: counter_add\n", "x.yaml:12:5: expected one of the keys 'calls', 'runs' and 'by_hand'"),
    ("calls: of_counter_add", "calls: counter_add", "x.yaml:12:5: expected one of the keys 'calls', 'runs' and 'by_hand'\nx.yaml:13:12: 'counter_add' is not a function of the C API"),
    ("  of: default_counter\n", "", "x.yaml:24:3: expected one of the keys 'calls', 'runs' and 'by_hand'"),
    ("  of: default_counter\n", "  of: default_counter\n  calls: of_add\n", "x.yaml:24:3: expected one of the keys 'calls', 'runs' and 'by_hand'"),
    ("of: default_counter", "of: default_countr", "x.yaml:24:3: unknown constant 'default_countr'; did you mean 'default_counter'?"),
    ('- function: "add(', '- function: "plus(', "x.yaml:24:3: 'default_counter' has no method 'plus'"),
    ("of_counter_count\n", "of_counter_count\n    sets: {value: the count}\n", "x.yaml:11:11: missing key 'runs'"),
    (ABOUT, "    work: Always\n", "x.yaml:15:11: 'Always' is not a name in snake_case"),
    # constructors
    (CREATE, "", "x.yaml:1:3: a class has either the key 'create' or 'made_by'"),
    (SUMMARY, SUMMARY + "  made_by: x\n", "x.yaml:1:3: a class has either the key 'create' or 'made_by'"),
    ("Counter(int start", "Countr(int start", "x.yaml:5:10: expected the signature 'Counter(...) -> self'"),
    ("start=0) -> self", "start=0) -> int", "x.yaml:5:10: expected the signature 'Counter(...) -> self'"),
    # signatures
    (ADD, ADD.replace("=1", "="), "x.yaml:12:29: expected a literal, got ')'"),
    (ADD, ADD.replace("=1", "='a'"), "x.yaml:12:29: 'a' is not a default for int"),
    (ADD, ADD.replace("amount=1", "amount=1, int b"), "x.yaml:12:36: 'b' needs a default, like those before it"),
    (ADD, ADD.replace("amount=1", "amount, int amount"), "x.yaml:12:34: duplicate parameter 'amount'"),
    (ADD, ADD.replace("self", ""), "x.yaml:12:35: expected a type, got the end"),
    (ADD, ADD.replace("self", "int[]x"), "x.yaml:12:40: expected the end, got 'x'"),
    (ADD, ADD.replace(")", ""), "x.yaml:12:31: expected ',', got '->'"),
    ("count -> int", "count int", "x.yaml:9:21: expected '->', got 'int'"),
    ("- method", "- property", "x.yaml:12:19: expected '->', got '('"),
    ("int before:", "int before after:", "x.yaml:19:16: expected the end, got 'after'"),
    # types
    (ADD, ADD.replace("int", "itn"), "x.yaml:12:5: add: unknown type 'itn'; did you mean 'int'?"),
    ("count -> int", "count -> Strp[]", "x.yaml:9:5: count: unknown type 'Strp'; did you mean 'Step'?"),
    ("int before", "itn before", "x.yaml:16:3: Step: unknown type 'itn'; did you mean 'int'?"),
    ("type: Counter", "type: Countr", "x.yaml:20:3: default_counter: unknown type 'Countr'; did you mean 'Counter'?\nx.yaml:24:3: 'default_counter' has no method 'add'"),
    # methods that subclasses override
    (ABOUT, ABOUT + "    overridable: true\n", "x.yaml:12:13: an overridable method returns one of None, bool, int, float, str, dtype, device, Tensor"),
    (ADD, ADD.replace('self"', 'int"\n    overridable: true'), "x.yaml:2:3: a class with overridable methods has a class of runtime/objects as its handle"),
    ("    calls: of_counter_count\n", "    calls: of_counter_count\n    overridable: true\n", "x.yaml:11:5: unknown key 'overridable'"),
    ('- function: "add(', '- tensor_method: "plus(int amount=1) -> int"\n  calls: of_plus\n  work: always\n  summary: Adds.\n- function: "add(', "x.yaml:26:9: methods of tensors have no promise variants"),
    # names of parameters, fields and members
    ("{amount: how", "{amont: how", "x.yaml:15:17: unknown parameter 'amont'; did you mean 'amount'?"),
    (ABOUT, "    arguments: [amount]\n", "x.yaml:15:16: expected a mapping, got a list"),
    (ABOUT, "    block: stepp\n", "x.yaml:15:12: unknown parameter 'stepp'"),
    (ABOUT, "    only_here: [x]\n", "x.yaml:15:17: unknown parameter 'x'"),
    (ABOUT, "    absent: {x: 1}\n", "x.yaml:15:14: unknown parameter 'x'"),
    (ABOUT, "    renamed: {js: {amont: n}}\n", "x.yaml:15:20: unknown parameter 'amont'; did you mean 'amount'?"),
    (ABOUT, "    names: {python: Add}\n", "x.yaml:15:21: 'Add' is not a name in snake_case"),
    (SUMMARY, SUMMARY + "  text: add\n", "x.yaml:4:9: unknown member without parameters 'add'"),
    (SUMMARY, SUMMARY + "  equality: add\n", "x.yaml:4:13: unknown property 'add'"),
    (SUMMARY, SUMMARY + "  items: {keys: add, get: count}\n", "x.yaml:4:17: unknown property 'add'\nx.yaml:4:27: unknown method 'count'"),
    (SUMMARY, SUMMARY + "  context: {enter: a, leve: b}\n", "x.yaml:4:12: missing key 'leave'\nx.yaml:4:23: unknown key 'leve'; did you mean 'leave'?"),
    (SUMMARY, SUMMARY + "  examples: x\n", "x.yaml:4:13: expected a list, got a string"),
    ("  summary: A step.\n", "  summary: A step.\n  renamed: {js: {after: next}}\n", "x.yaml:18:18: unknown field 'after'"),
    (SUMMARY, SUMMARY + "  state: state\n", "x.yaml:4:10: the class has no method 'get_state'"),
    ("  summary: A step.\n", "  summary: A step.\n  text: befor\n", "x.yaml:18:9: unknown field 'befor'; did you mean 'before'?"),
    # names that are given twice
    ("record: Step", "record: Counter", "x.yaml:16:3: 'Counter' is already defined at x.yaml:1:3"),
    (ADD, ADD.replace("add", "count"), "x.yaml:12:5: 'Counter.count' is already defined at x.yaml:9:5\nx.yaml:24:3: 'default_counter' has no method 'add'"),
    ("- function:", '- function: "add() -> int"\n  calls: of_add\n  summary: Adds.\n- function:', "x.yaml:27:3: 'add' is already defined at x.yaml:24:3"),
    (BEFORE, BEFORE + "    float before: The.\n", "x.yaml:20:5: duplicate field 'before'"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), WRONG)
def test_mistake_is_located(old: str, new: str, expected: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(DefinitionError) as caught:
        load_text(GOOD.replace(old, new), "x.yaml")
    assert "\n".join(map(str, caught.value.problems)) == expected
