"""Tests what the table of intrinsics says about functions and operators, against differences of their values."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import scipy.special

from codegen.expression import Binary, Conditional, Constant, Invoke, Node, Unary, Variable, parse_node
from codegen.intrinsics import BINARY, FUNCTIONS, SCALAR, UNARY, Intrinsic, Sort

POINTS = (-2.3, -0.7, 0.3, 0.6, 1.7)
PAIRS = [(x, y) for x in (-2.3, 0.7, 1.9) for y in (-1.3, 0.6, 2.2)]


def erfinv(x: float) -> float:
    if abs(x) >= 1:
        raise ValueError("math domain error")
    return float(scipy.special.erfinv(x))


VALUES: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in SCALAR if hasattr(math, name)},
    "abs": abs,
    "round": round,
    "sign": lambda x: math.copysign(1, x),
    "erfinv": erfinv,
    **{name: getattr(scipy.special, name) for name in ("digamma", "zeta", "i0", "i1")},
    "power_of_2": lambda x: 2.0 ** (math.frexp(x)[1] - 1),
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "pow": math.pow,
    "minimum": min,
    "maximum": max,
    "remainder": lambda x, y: x - math.floor(x / y) * y,
    "floordiv": lambda x, y: math.floor(x / y),
    "truncdiv": lambda x, y: math.trunc(x / y),
}
OPERATORS: dict[str, Callable[..., float]] = {
    "+": lambda *x: sum(x),
    "-": lambda x, *y: x - y[0] if y else -x,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "//": VALUES["floordiv"],
    "%": VALUES["remainder"],
    "**": math.pow,
    "<": lambda x, y: x < y,
    ">": lambda x, y: x > y,
    "<=": lambda x, y: x <= y,
    ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "and": lambda x, y: x and y,
}


def evaluate(node: Node, names: dict[str, float]) -> float:
    """Computes an expression in Python's numbers."""

    def value(each: Node) -> float:
        return evaluate(each, names)

    match node:
        case Constant(value=int() | float() as constant):
            return constant
        case Variable(name=name):
            return names[name]
        case Unary(operator=operator, operand=operand):
            return OPERATORS[operator](value(operand))
        case Binary(operator=operator, left=left, right=right):
            return OPERATORS[operator](value(left), value(right))
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return value(then) if value(condition) else value(otherwise)
        case Invoke(function=function, arguments=arguments):
            return VALUES[function](*map(value, arguments))
    raise TypeError(node)


def differentiable() -> list[tuple[str, Callable[..., float], Intrinsic]]:
    """Returns the functions and operators of numbers whose derivatives are known."""
    functions = [(name, VALUES[name], each) for name, each in SCALAR.items() if any(each.derivative)]
    operators = [(name, OPERATORS[name], each) for name, each in (*UNARY.items(), *BINARY.items()) if each.derivative]
    return functions + operators


def inside(intrinsic: Intrinsic, x: float) -> bool:
    return not intrinsic.domain or bool(evaluate(parse_node(intrinsic.domain), {"x": x}))


@pytest.mark.parametrize(("name", "function", "intrinsic"), differentiable(), ids=lambda each: str(each)[:20])
def test_derivatives_agree_with_differences(name: str, function: Callable[..., float], intrinsic: Intrinsic) -> None:
    step = 1e-6
    points = [(x,) for x in POINTS if inside(intrinsic, x)] if len(intrinsic.parameters) == 1 else PAIRS
    if name in ("pow", "**"):
        points = [pair for pair in PAIRS if pair[0] > 0]  # elsewhere it is a real number for integers only
    if name == "zeta":
        points = [pair for pair in PAIRS if pair[0] > 1 and pair[1] > 0]
    assert len(points) >= 2 or name == "acosh"
    for point in points:
        names = {**dict(zip("xy", point, strict=False)), "f": function(*point)}
        for position, text in enumerate(intrinsic.derivative):
            if not text:
                continue  # not known
            above, below = list(point), list(point)
            above[position] += step
            below[position] -= step
            difference = (function(*above) - function(*below)) / (2 * step)
            assert evaluate(parse_node(text), names) == pytest.approx(difference, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("name", [name for name, each in FUNCTIONS.items() if each.monotone])
def test_monotone_functions(name: str) -> None:
    intrinsic = FUNCTIONS[name]
    values = [VALUES[name](x) for x in POINTS if inside(intrinsic, x)]
    assert values == sorted(values, reverse=intrinsic.monotone < 0)


@pytest.mark.parametrize("name", [name for name, each in SCALAR.items() if each.domain])
def test_functions_are_not_defined_outside_of_their_domain(name: str) -> None:
    outside = [x for x in (*POINTS, -0.5) if not inside(SCALAR[name], x)]
    assert outside
    for x in outside:
        with pytest.raises(ValueError, match=r"math domain error|expected"):
            VALUES[name](x)


def test_every_function_of_numbers_says_how_it_changes() -> None:
    """Checks that a function without a derivative says so: a missing one is \"\", not an empty tuple."""
    for name, each in SCALAR.items():
        if each.result is Sort.VALUE and each.parameters:
            assert len(each.derivative) == len(each.parameters), name
