"""Tests the signature grammar: printing and parsing are inverse, and mistakes are located."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen import base_types
from codegen.definitions import Definitions
from codegen.errors import TextError
from codegen.signature import parse, parse_type, print_signature
from codegen.types import Alias, Argument, Literal, Result, Signature, Type

names = st.from_regex(re.compile(r"[a-z][a-z0-9]{0,3}(_[a-z0-9]{1,3})?", re.ASCII), fullmatch=True).filter(
    lambda name: name not in ("inf", "nan")
)
TENSOR = Type(base_types.TENSOR)
WITHOUT_LITERALS = (base_types.TENSOR, base_types.GENERATOR)
NESTED = (base_types.PAIR, base_types.INTS)  # only in lists
INTEGERS = (base_types.INT, base_types.DIM, base_types.SIZE)
types = (
    st.builds(
        Type,
        st.sampled_from([base for base in base_types.BASE_TYPES.values() if base not in NESTED]),
        optional=st.booleans(),
    )
    | st.builds(Type, st.sampled_from(NESTED), st.just(True), st.booleans())
    | st.builds(Type, st.sampled_from(INTEGERS), st.just(True), st.booleans())
    | st.builds(Type, st.just(base_types.TENSOR), st.just(True), optional_members=st.booleans())
)
aliases = st.none() | st.builds(Alias, st.sampled_from("ab"), st.booleans())


def literals(type_: Type) -> st.SearchStrategy[Literal]:
    """Returns a strategy for the defaults of a type."""
    plain: st.SearchStrategy[Literal]
    if type_.is_list and type_.base in (base_types.TENSOR, *NESTED):
        plain = st.just(())
    elif type_.is_list:
        item = literals(Type(type_.base, optional=type_.optional_members))
        plain = st.lists(item, max_size=3).map(tuple)
    elif type_.is_integer:
        plain = st.integers(-(2**63), 2**63 - 1)
    elif type_.base.only is not None:
        plain = st.just(type_.base.only)
    elif type_.base is base_types.BOOL:
        plain = st.booleans()
    elif type_.base in (base_types.STR, base_types.GROUP):
        plain = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=5)
    elif type_.base in (base_types.DTYPE, base_types.DEVICE):
        plain = st.sampled_from(["float32", "int64", "bool"])
    elif type_.base in WITHOUT_LITERALS:
        return st.none() if type_.optional else st.nothing()
    else:
        plain = st.floats(allow_nan=False)
    return plain | st.none() if type_.optional else plain


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    arguments: list[Argument] = []
    keyword_only = had_default = False
    for name in draw(st.lists(names, max_size=5, unique=True)):
        type_ = draw(types)
        keyword_only = keyword_only or draw(st.booleans())
        can_default = type_.base not in WITHOUT_LITERALS or type_.optional or type_.is_list
        draws_default = draw(st.booleans()) or (had_default and not keyword_only)
        if had_default and not can_default and not keyword_only:
            continue
        has_default = draws_default and can_default
        had_default = had_default or has_default
        alias = draw(aliases) if type_ == TENSOR else None
        default = draw(literals(type_)) if has_default else None
        arguments.append(Argument(name, type_, default, has_default, keyword_only, alias))
    result = st.builds(Result, st.just(TENSOR), st.none() | names, aliases)
    results = draw(st.lists(result, min_size=1, max_size=3, unique_by=lambda each: each.name or id(each)))
    return Signature(draw(names), tuple(arguments), tuple(results))


@given(signatures())
def test_print_and_parse_are_inverse(signature: Signature) -> None:
    assert parse(print_signature(signature)) == signature


def test_every_record_round_trips(definitions: Definitions) -> None:
    for op in definitions.ops:
        assert parse(print_signature(op.signature)) == op.signature


@given(st.text(max_size=30))
def test_any_string_is_parsed_or_rejected(text: str) -> None:
    try:
        parse(text)
    except TextError as error:
        found = error.offset
    else:
        found = 0
    assert 0 <= found <= len(text)


@pytest.mark.parametrize("text", ["Tensor", "dim[]?", "Tensor?[]", "Tensor|Number?", "Tensor?[]?"])
def test_types_print_as_written(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize(
    ("text", "offset", "says"),
    [
        ("abs(Tenosr input) -> Tensor", 4, "unknown type 'Tenosr'; did you mean 'Tensor'?"),
        ("abs(Tensor) -> Tensor", 10, "expected the argument's name, got ')'"),
        ("abs(Tensor input", 16, "expected ',', got the end"),
        ("abs(Tensor input) Tensor", 18, "expected '->', got 'Tensor'"),
        ("abs(Tensor input) -> Tensor extra more", 34, "expected the end, got 'more'"),
        ("Abs(Tensor input) -> Tensor", 0, "'Abs' is not a name in snake_case"),
        ("abs(Tensor Input) -> Tensor", 11, "'Input' is not a name in snake_case"),
        ("abs(Tensor a, Tensor a) -> Tensor", 14, "duplicate argument 'a'"),
        ("abs(int a=1, int b) -> Tensor", 13, "argument 'b' needs a default, since the one before it has one"),
        ("abs(int a='x') -> Tensor", 10, "the default 'x' is not of type int"),
        ("abs(int[] a=[1, 2.5]) -> Tensor", 12, "the default [1, 2.5] is not of type int[]"),
        ("abs(int a=True) -> Tensor", 10, "the default True is not of type int"),
        ("abs(int a=None) -> Tensor", 10, "the default None is not of type int"),
        ("abs(Tensor a, *) -> Tensor", 15, "no argument follows '*'"),
        ("abs(*, int a, *, int b) -> Tensor", 14, "a second '*'"),
        ("abs(Tensor a; int b) -> Tensor", 12, "unexpected character ';'"),
        ("abs(Tensor(a input) -> Tensor", 13, "expected ')', got 'input'"),
        ("abs(int a=) -> Tensor", 10, "expected a value, got ')'"),
        ("", 0, "expected the operator's name, got the end"),
        ("abs(Tensor a__b) -> Tensor", 11, "'a__b' is not a name in snake_case"),
        ("abs(str[] a) -> Tensor", 4, "a list must be of int, dim, size, pair, ints, device or Tensor, not of str"),
        ("abs(pair a) -> Tensor", 4, "a pair of integers must be an item of a list: pair[]"),
        ("abs(Tensor[]? a) -> Tensor", 4, "a list of tensors cannot be optional, but it may be empty"),
        ("abs(int?[] a) -> Tensor", 4, "only the items of a list of tensors can be optional"),
        ("abs(int(a) b) -> Tensor", 4, "only a Tensor can have an alias, not int"),
        ("abs(int a=9223372036854775808) -> Tensor", 10, "the default 9223372036854775808 does not fit into 64 bits"),
        ("abs(int a=" + "9" * 5000 + ") -> Tensor", 10, "the number has too many digits"),
        ("abs(int[] a=[[1]]) -> Tensor", 13, "expected a value, got '['"),
        ("abs(dtype a=flaot32) -> Tensor", 12, "unknown dtype 'flaot32'; did you mean 'float32'?"),
        ("abs(Tensor a) -> ()", 17, "an operator must have 1 to 4 results, got 0"),
        ("abs(Tensor a) -> (Tensor b, Tensor[] c)", 17, "a list of tensors must be the only result"),
        ("abs(device[] a=[cpu]) -> Tensor", 15, "the default of a list of devices must be None"),
        ("abs(Tensor a) -> Tensor?", 17, "a result must be Tensor or Tensor[], got Tensor?"),
        ("abs(Tensor a) -> (Tensor b, Tensor b)", 28, "duplicate result 'b'"),
        (
            "abs(" + ", ".join(f"int a{i}" for i in range(17)) + ") -> Tensor",
            138,
            "an operator must have at most 16 arguments",
        ),
    ],
)
def test_mistakes_are_located(text: str, offset: int, says: str) -> None:
    with pytest.raises(TextError) as caught:
        parse(text)
    assert (caught.value.offset, caught.value.text) == (offset, says)
