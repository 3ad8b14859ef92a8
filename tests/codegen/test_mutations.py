"""Tests random changes of the project's records: they give located problems, or every target accepts them."""

from __future__ import annotations

import copy
import re
from functools import cache
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen import discover, emit
from codegen.errors import DefinitionError
from codegen.load import load_text
from tests.codegen.conftest import REPOSITORY

RECORDS = [
    record
    for path in sorted((REPOSITORY / "opdefs").glob("*.yaml"))
    for record in yaml.safe_load(path.read_text())
    if "op" in record
]
WORDS = """Tensor Tensor|Number Number int float bool str dim size dtype device dim[] Tensor[] str[] int? dim[]?
    Tensor(a)
    Tensor(a!) class default lambda end this self out result index count sizes total a.total row x_ input other dim
    exp minimum given uniform(0) swap(sizes,0,1) ( ) [ ] + - * / // % ** & << < == and not if else , . = -> 0 -1 0.5
    1e999 99999999999999999999 None True nan 'x' [] [1] lowest() i k ...""".split()
VALUES = [None, True, -1, 1.5, "", "x", "input", [], [1], {}, {"a": 1}, "ü", "\t", "*/", "a\nb", ["class"], ["add"]]


@cache
def called_by(name: str) -> tuple[int, ...]:
    """Returns the positions of an operator's records, and of all records that they call directly or indirectly."""
    found: set[int] = set()
    names = {name}
    while names:
        name = names.pop()
        for position, record in enumerate(RECORDS):
            if position not in found and name in (record["op"], *record.get("offered_as", ())):
                found.add(position)
                names |= set(re.findall(r"[a-z_][a-z_0-9.]*(?=\()", yaml.dump(record)))
    return tuple(sorted(found))


def paths(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [each for key, value in items for each in ((*path, key), *paths(value, (*path, key)))]


def changed(record: dict[str, Any], draw: st.DrawFn) -> dict[str, Any]:
    record = copy.deepcopy(record)
    *path, last = draw(st.sampled_from(paths(record)))
    owner: Any = record
    for key in path:
        owner = owner[key]
    value = owner[last]
    match draw(st.sampled_from(["words", "words", "words", "value", "nothing", "another"])):
        case "words" if isinstance(value, str):
            pieces = re.findall(r"\w+|\W", value) or [""]
            pieces[draw(st.integers(0, len(pieces) - 1))] = draw(st.sampled_from(WORDS))
            owner[last] = "".join(pieces)
        case "nothing":
            del owner[last]
        case "another" if isinstance(owner, dict):
            owner[draw(st.sampled_from(["overload", "match", "let", "offered_as", "override", "x"]))] = value
        case _:
            owner[last] = draw(st.sampled_from(VALUES))
    return record


@st.composite
def texts(draw: st.DrawFn) -> str:
    position = draw(st.integers(0, len(RECORDS) - 1))
    others = [RECORDS[other] for other in called_by(RECORDS[position]["op"]) if other != position]
    record = RECORDS[position]
    for _ in range(draw(st.integers(1, 2))):
        record = changed(record, draw)
    return str(yaml.dump([record, *others], sort_keys=False, width=10_000, allow_unicode=True))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts())
def test_changed_record_is_rejected_or_accepted_by_every_target(text: str) -> None:
    lines = text.split("\n")
    try:
        definitions = load_text(text, "x.yaml")
        targets = [discover.target(name, definitions) for name in discover.names()]
        if problems := [problem for target in targets for problem in target.problems(definitions)]:
            raise DefinitionError(problems)
    except DefinitionError as error:
        for problem in error.problems:
            assert 1 <= problem.location.line <= len(lines), problem
            assert 1 <= problem.location.column <= len(lines[problem.location.line - 1]) + 1, problem
        return
    for target in targets:
        assert emit.render(target, definitions) is not None


def test_records_are_found_and_mistakes_rejected() -> None:
    assert len(RECORDS) > 60
    with pytest.raises(DefinitionError):
        load_text(yaml.dump([{**RECORDS[0], "elementwise": "inptu"}]))
