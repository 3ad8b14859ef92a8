"""Tests expressions: parsing, sorts, and printing in the syntax of C."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen import checking
from codegen.checking import Scope
from codegen.errors import Location, TextError
from codegen.expression import Binary, Conditional, Constant, Node, Unary, Variable, parse, parse_node
from codegen.intrinsics import FOLD, SCALAR, Sort
from codegen.printer import Printer

SCALARS = Scope(
    {"input": Sort.VALUE, "other": Sort.VALUE, "condition": Sort.TRUTH, "index": Sort.INTEGER, "mode": Sort.TEXT},
    {**SCALAR, **FOLD},
    {"total": Sort.VALUE, "at": Sort.INTEGER},
    arguments={"input", "other"},
)
PLACES = Scope(
    {"i": Sort.INTEGER, "k": Sort.INTEGER, "shifts": Sort.LIST, "index": Sort.TENSOR, "start": Sort.OPTIONAL},
    {},
    number=Sort.INTEGER,
    refused=checking.POSITIONS,
)
FLOATS_ONLY = replace(SCALARS, refused=checking.FLOATS)
FOLDED = replace(SCALARS, refused=checking.FOLDS)


def test_expression_has_text_names_functions_and_locations() -> None:
    expression = parse("exp(input) * other", Location("x.yaml", 3, 7))
    assert expression.text == "exp(input) * other"
    assert expression.names == {"input", "other"}
    assert expression.functions == {"exp"}
    assert isinstance(expression.root, Binary)
    assert str(expression.locate(expression.root.right)) == "x.yaml:3:20"


def test_expressions_are_equal_by_their_text() -> None:
    assert parse("a + b", Location("x", 1, 1)) == parse("a + b", Location("y", 2, 2))


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("input + 1", Sort.VALUE),
        ("index + index", Sort.INTEGER),
        ("index + 1", Sort.VALUE),
        ("input < other", Sort.TRUTH),
        ("0 < input < 1", Sort.TRUTH),
        ("condition & condition", Sort.TRUTH),
        ("input & other", Sort.VALUE),
        ("input if condition else other", Sort.VALUE),
        ("condition if condition else input", Sort.VALUE),
        ("input or other if bool_type(input) else input + other", Sort.VALUE),
        ("not condition", Sort.TRUTH),
        ("-input", Sort.VALUE),
        ("a.total + b.total", Sort.VALUE),
        ("a.at", Sort.INTEGER),
        ("first_of_max(a.total, a.at, b.total, b.at)", Sort.TRUTH),
        ("last_index()", Sort.INTEGER),
        ("given(other)", Sort.TRUTH),
    ],
)
def test_sorts_of_scalar_expressions(text: str, sort: Sort) -> None:
    assert SCALARS.sort(parse_node(text)) is sort


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("shifts[k] * 2 - i", Sort.INTEGER),
        ("index[i] % 3", Sort.INTEGER),
        ("index[...]", Sort.INTEGER),
    ],
)
def test_sorts_of_index_maps(text: str, sort: Sort) -> None:
    assert PLACES.sort(parse_node(text)) is sort


@pytest.mark.parametrize(
    ("scope", "text", "offset", "says"),
    [
        (SCALARS, "input + ohter", 8, "unknown name 'ohter'; did you mean 'other'?"),
        (SCALARS, "xep(input)", 0, "unknown function 'xep'; did you mean 'exp'?"),
        (SCALARS, "exp(input, other)", 0, "exp takes 1 argument, got 2"),
        (SCALARS, "exp(x=input)", 4, "exp takes no keyword arguments"),
        (SCALARS, "1 + mode", 4, "expected a number, got a string"),
        (SCALARS, "exp(mode)", 4, "expected a number, got a string"),
        (SCALARS, "a.totl", 0, "unknown state 'totl'; did you mean 'total'?"),
        (SCALARS, "c.total", 0, "'c.total' is not defined here"),
        (SCALARS, "input[0]", 0, "a number cannot be indexed"),
        (SCALARS, "given(1)", 6, "expected the name of an argument"),
        (SCALARS, "None", 0, "None is not allowed here: use given(argument)"),
        (PLACES, "shifts + 1", 0, "expected a number, got a list of integers"),
        (PLACES, "[1, i]", 0, "this is not allowed here"),
        (PLACES, "i / 2", 0, "'/' is not allowed here: positions and sizes are integers"),
        (PLACES, "start + 1", 0, "expected a number, got an optional argument"),
        (
            FLOATS_ONLY,
            "input << 1",
            0,
            "'<<' is not allowed here: it requires integers: accept integral or bool",
        ),
        (
            FLOATS_ONLY,
            "~input",
            0,
            "'~' is not allowed here: it requires integers: accept integral or bool",
        ),
        (
            SCALARS,
            "(input > 0) / (input < 0)",
            0,
            "'/' is not allowed here: both operands are integers or truth values",
        ),
        (FOLDED, "input % 2", 0, "'%' is not allowed here: a fold cannot report a division by zero"),
        (FOLDED, "fmod(input, 2)", 0, "'fmod' is not allowed here: a fold cannot report a division by zero"),
        (PLACES, "i * 0.5", 4, "expected an integer, got 0.5"),
        (PLACES, "shifts if k else k", 0, "the branches differ: a list of integers and an integer"),
    ],
)
def test_sort_errors_are_located(scope: Scope, text: str, offset: int, says: str) -> None:
    with pytest.raises(TextError) as caught:
        scope.sort(parse_node(text))
    assert (caught.value.offset, caught.value.text) == (offset, says)


@pytest.mark.parametrize(
    ("text", "offset", "says"),
    [
        ("1 +* 2", 3, "cannot parse the expression '1 +* 2': invalid syntax"),
        ("lambda: 1", 0, "'lambda: 1' is not supported in a definition"),
        ("1 + {x for x in y}", 4, "'{x for x in y}' is not supported in a definition"),
        ("x is None", 0, "'x is None' is not supported in a definition"),
        ("x @ y", 0, "'x @ y' is not supported in a definition"),
        ("f(**x)", 2, "'**' is not supported in a definition"),
        ("x[1:]", 2, "'1:' is not supported in a definition"),
        ("'\u00e9' + x @ y", 6, "'x @ y' is not supported in a definition"),
        ("x + 99999999999999999999", 4, "'99999999999999999999' does not fit into 64 bits"),
        ("x + 1e999", 4, "'1e309' does not fit into 64 bits"),
        ("x" + " + x" * 100, 0, "the expression is nested too deeply"),
        ("(f)(1)(2)", 0, "'f(1)(2)' is not supported in a definition"),
    ],
)
def test_syntax_errors_are_located(text: str, offset: int, says: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_node(text)
    assert (caught.value.offset, caught.value.text) == (offset, says)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0.5 * input * (1 + erf(input))", "0.5 * input * (1 + erf(input))"),
        ("a - (b - c)", "a - (b - c)"),
        ("a - b - c", "a - b - c"),
        ("a / (b * c)", "a / (b * c)"),
        ("-(a + b)", "-(a + b)"),
        ("-(-a)", "-(-a)"),
        ("a - -1", "a - -1"),
        ("a ** 2", "pow(a, 2)"),
        ("a // b % c", "remainder(floordiv(a, b), c)"),
        ("not (a and b)", "!(a && b)"),
        ("a and b or c", "(a && b) || c"),
        ("a and (b or c)", "a && (b || c)"),
        ("a < b and b < c", "a < b && b < c"),
        ("a & b | c", "(a & b) | c"),
        ("a << b + c", "a << (b + c)"),
        ("a & b == c", "(a & b) == c"),
        ("x if c else y if d else z", "c ? x : d ? y : z"),
        ("(x if c else y) + 1", "(c ? x : y) + 1"),
        ("(x if c else y) if d else z", "d ? (c ? x : y) : z"),
        ("a.total + b.total", "a.total + b.total"),
        ("True", "true"),
        ("'a\"b'", '"a\\"b"'),
        ("sizes[dim + 1]", "sizes[dim + 1]"),
        ("[1, a + b]", "{1, a + b}"),
    ],
)
def test_printing_in_the_syntax_of_c(text: str, printed: str) -> None:
    assert Printer().print(parse_node(text)) == printed


class Words(Printer):
    """A printer that overrides the spelling of constants, functions and conditionals."""

    def constant(self, node: Constant) -> str:
        return f"T({node.value})"

    def function(self, name: str, arguments: list[str]) -> str:
        return f"math::{name}({', '.join(arguments)})"

    def conditional(self, node: Conditional) -> str:
        return f"select({self.print(node.condition)}, {self.print(node.then)}, {self.print(node.otherwise)})"


def test_printer_uses_overridden_spellings() -> None:
    text = Words().print(parse_node("(exp(x) if c else x ** 2) * 3"))
    assert text == "select(c, math::exp(x), math::pow(x, T(2))) * T(3)"


def nodes() -> st.SearchStrategy[Node]:
    leaves = st.builds(Variable, st.sampled_from("xyz")) | st.builds(Constant, st.integers(0, 9))
    return st.recursive(
        leaves,
        lambda parts: (
            st.builds(Binary, st.sampled_from(["+", "-", "*", "<", "==", "&", "|", "<<"]), parts, parts)
            | st.builds(Unary, st.sampled_from(["-", "~"]), parts)
        ),
    )


@given(nodes())
def test_parentheses_keep_the_meaning(node: Node) -> None:
    """Parses the printed expression by the precedence of C, and compares it with the fully parenthesised one."""
    text = Printer().print(node)
    fully = _parenthesised(node)
    values = {"x": 3, "y": 5, "z": 2}
    assert _c_value(text, values) == _c_value(fully, values)


def _parenthesised(node: Node) -> str:
    match node:
        case Binary(operator=operator, left=left, right=right):
            return f"({_parenthesised(left)} {operator} {_parenthesised(right)})"
        case Unary(operator=operator, operand=operand):
            return f"({operator}{_parenthesised(operand)})"
        case Variable(name=name):
            return name
        case Constant(value=value):
            return str(value)
    raise AssertionError(node)


def _c_value(text: str, values: dict[str, int]) -> object:
    """Parses an expression by the precedence of C, and returns it as nested tuples."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").replace("~", " ~ ").replace("-", " - ").split()
    levels = {"|": 1, "&": 2, "==": 3, "<": 4, "<<": 5, "+": 6, "-": 6, "*": 7}
    position = 0

    def prefix() -> object:
        nonlocal position
        token = tokens[position]
        position += 1
        if token in "-~":
            return (token, prefix())
        if token == "(":
            inner = climb(1)
            position += 1
            return inner
        return values.get(token, token)

    def climb(level: int) -> object:
        nonlocal position
        left = prefix()
        while position < len(tokens) and levels.get(tokens[position], 0) >= level:
            operator = tokens[position]
            position += 1
            left = (operator, left, climb(levels[operator] + 1))
        return left

    return climb(1)
