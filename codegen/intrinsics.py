"""The functions and operators of scalar expressions: everything that code derives from them is in one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Sort(Enum):
    """The static type of a part of an expression."""

    VALUE = "a number"  # of the compute type
    TRUTH = "a boolean"
    INTEGER = "an integer"  # int64: positions, sizes, strides
    LIST = "a list of integers"
    TENSOR = "a tensor"
    TEXT = "a string"
    OPTIONAL = "an optional argument"  # that may be null
    NAME = "the name of an argument"

    @property
    def is_scalar(self) -> bool:
        """Returns whether it is a number or a boolean, which convert to each other."""
        return self in (Sort.VALUE, Sort.TRUTH, Sort.INTEGER)


class Cost(Enum):
    """A class of operations by the time that one takes."""

    SIMPLE = "simple operation"  # one instruction or a few
    DIVISION = "division"  # or a root
    FUNCTION = "function"  # a polynomial or more


@dataclass(frozen=True)
class Intrinsic:
    """A function, or an operator, of scalar expressions.

    `derivative` has an expression for each parameter, in which the parameters are `x` and `y` and the value is `f`; ""
    says that it is not known. A function with steps has the derivative 0, as in PyTorch.
    """

    parameters: tuple[Sort, ...]
    result: Sort
    cost: Cost = Cost.SIMPLE
    derivative: tuple[str, ...] = ()
    domain: str = ""  # the condition on `x` for real results; "": any number
    monotone: int = 0  # 1 if it increases with its only parameter, -1 if it decreases
    is_linear: bool = False  # in each parameter, if the others are constant
    holds_for_complex: bool = False  # whether the devices that compute in complex numbers have it
    divides: bool = False  # whether it reports an integer division by zero
    needs_integers: bool = False
    needs_floats: bool = False
    is_approximate: bool = False  # whether its last bits depend on how the compiler vectorises the loop that calls it
    is_fraction: bool = False  # whether the results are random fractions, which only floating-point types hold
    version: int = 1  # raise it when devices compute something else: kernels of older versions are then not used


_V, _T, _I = Sort.VALUE, Sort.TRUTH, Sort.INTEGER


def _function(
    derivative: str, monotone: int = 0, domain: str = "", cost: Cost = Cost.FUNCTION, approximate: bool = True
) -> Intrinsic:
    """Returns a function of one floating-point number."""
    return Intrinsic((_V,), _V, cost, (derivative,), domain, monotone, is_approximate=approximate, needs_floats=True)


def _step(monotone: int = 1) -> Intrinsic:
    """Returns a function of one number whose value changes in steps only."""
    return Intrinsic((_V,), _V, derivative=("0",), monotone=monotone)


def _test(*parameters: Sort) -> Intrinsic:
    return Intrinsic(parameters, _T)


def _of_two(
    cost: Cost, first: str, second: str, *, divides: bool = False, approximate: bool = False, floats: bool = False
) -> Intrinsic:
    """Returns a function of two numbers."""
    derivatives = (first, second)
    return Intrinsic((_V, _V), _V, cost, derivatives, divides=divides, is_approximate=approximate, needs_floats=floats)


def _shared(comes_first: str) -> tuple[str, str]:
    """Returns the derivatives of the selection of one of two numbers; both have half of it if they are equal."""
    first, second = (f"0.5 if x == y else (1 if {a} {comes_first} {b} else 0)" for a, b in ("xy", "yx"))
    return first, second


# Functions in scalar expressions of every kind.
SCALAR: Mapping[str, Intrinsic] = {
    "exp": _function("f", 1),
    "exp2": _function("f * 0.6931471805599453", 1),
    "expm1": _function("exp(x)", 1),
    "log": _function("1 / x", 1, "x > 0"),
    "log2": _function("1.4426950408889634 / x", 1, "x > 0"),
    "log10": _function("0.4342944819032518 / x", 1, "x > 0"),
    "log1p": _function("1 / (1 + x)", 1, "x > -1"),
    "sqrt": _function("0.5 / f", 1, "x >= 0", Cost.DIVISION, approximate=False),
    "rsqrt": _function("-0.5 * f * f * f", -1, "x > 0", Cost.DIVISION, approximate=False),
    "sin": _function("cos(x)"),
    "cos": _function("-sin(x)"),
    "tan": _function("1 + f * f"),
    "asin": _function("rsqrt((1 - x) * (1 + x))", 1, "-1 <= x <= 1"),
    "acos": _function("-rsqrt((1 - x) * (1 + x))", -1, "-1 <= x <= 1"),
    "atan": _function("1 / (1 + x * x)", 1),
    "sinh": _function("cosh(x)", 1),
    "cosh": _function("sinh(x)"),
    # Of large numbers, 1 - f would be 0, although the derivative is not.
    "tanh": _function("4 * sigmoid(2 * x) * sigmoid(-2 * x)", 1),
    "sigmoid": _function("f * sigmoid(-x)", 1),
    "asinh": _function("rsqrt(x * x + 1)", 1),
    "acosh": _function("rsqrt(x * x - 1)", 1, "x >= 1"),
    "atanh": _function("1 / (1 - x * x)", 1, "-1 < x < 1"),
    "erf": _function("1.1283791670955126 * exp(-x * x)", 1),
    "erfc": _function("-1.1283791670955126 * exp(-x * x)", -1),
    "erfinv": _function("0.886226925452758 * exp(f * f)", 1, "-1 < x < 1"),
    "lgamma": _function("digamma(x)"),
    "digamma": _function("zeta(2, x)"),
    "zeta": _of_two(Cost.FUNCTION, "", "-x * zeta(x + 1, y)", approximate=True, floats=True),
    "i0": _function("i1(x)"),
    "i1": _function("i0(x) - f / (x if x != 0 else 1) if x != 0 else 0.5"),
    "floor": _step(),
    "ceil": _step(),
    "trunc": _step(),
    "round": _step(),
    "sign": _step(),
    "power_of_2": _step(monotone=0),  # the largest one that is at most |x|; 0 for 0
    "abs": Intrinsic((_V,), _V, derivative=("sign(x)",)),
    "atan2": _of_two(  # 0 at the origin, as in PyTorch; squares of the coordinates might overflow or be 0
        Cost.FUNCTION,
        "1 / (y + x / y * x) if abs(x) < abs(y) else 0 if x == 0 else y / x / (x + y / x * y)",
        "-x / y / (y + x / y * x) if abs(x) < abs(y) else 0 if x == 0 else -1 / (x + y / x * y)",
        approximate=True,
        floats=True,
    ),
    "pow": _of_two(
        Cost.FUNCTION,
        "0 if y == 0 else y * pow(x, y - 1)",
        "0 if f == 0 else f * log(x) if x != 0 else 0 if isfinite(f) else f * log(x)",
        divides=True,
        approximate=True,
    ),
    "fmod": _of_two(Cost.DIVISION, "1", "-trunc(x / y)", divides=True),
    "remainder": _of_two(Cost.DIVISION, "1", "-floor(x / y)", divides=True),
    "floordiv": _of_two(Cost.DIVISION, "0", "0", divides=True),
    "truncdiv": _of_two(Cost.DIVISION, "0", "0", divides=True),
    "copysign": _of_two(Cost.SIMPLE, "sign(x) * copysign(1, y)", "0"),
    "minimum": _of_two(Cost.SIMPLE, *_shared("<")),
    "maximum": _of_two(Cost.SIMPLE, *_shared(">")),
    "gcd": Intrinsic((_V, _V), _V, Cost.FUNCTION, derivative=("", ""), needs_integers=True),
    "isnan": _test(_V),
    "isinf": _test(_V),
    "isfinite": _test(_V),
    "bool_type": _test(_V),
    "float_type": _test(_V),
    "given": _test(Sort.NAME),
    "lowest": Intrinsic((), _V),
    "highest": Intrinsic((), _V),
}

# Functions in generators. `spaced` returns the number at an index, of those from x to y in a number of equal steps;
# integers are truncated towards zero. The others return the k-th random number of an element.
SPACED: Mapping[str, Intrinsic] = {"spaced": Intrinsic((_V, _V, _I, _V), _V, Cost.DIVISION)}
RANDOM: Mapping[str, Intrinsic] = {
    "uniform": Intrinsic((_I,), _V, Cost.FUNCTION, is_fraction=True),
    "normal": Intrinsic((_I,), _V, Cost.FUNCTION, is_fraction=True, is_approximate=True),
    "below": Intrinsic((_I, _V), _V, Cost.FUNCTION),
}

# Functions in reductions and scans.
FOLD: Mapping[str, Intrinsic] = {
    "first_of_max": _test(_V, _I, _V, _I),
    "first_of_min": _test(_V, _I, _V, _I),
    "last_index": Intrinsic((), _I),
}


def _bits(*parameters: Sort) -> Intrinsic:
    return Intrinsic(parameters, _V, needs_integers=True)


def _comparison(*, holds_for_complex: bool = False) -> Intrinsic:
    return Intrinsic((_V, _V), _T, holds_for_complex=holds_for_complex)


# The operators of scalar expressions, by their number of operands.
UNARY: Mapping[str, Intrinsic] = {
    "-": Intrinsic((_V,), _V, derivative=("-1",), monotone=-1, is_linear=True),
    "+": Intrinsic((_V,), _V, derivative=("1",), monotone=1, is_linear=True),
    "~": _bits(_V),
    "not": _test(_T),
}
BINARY: Mapping[str, Intrinsic] = {
    "+": Intrinsic((_V, _V), _V, derivative=("1", "1"), is_linear=True, holds_for_complex=True),
    "-": Intrinsic((_V, _V), _V, derivative=("1", "-1"), is_linear=True, holds_for_complex=True),
    "*": Intrinsic((_V, _V), _V, derivative=("y", "x"), is_linear=True, holds_for_complex=True),
    "/": Intrinsic((_V, _V), _V, Cost.DIVISION, derivative=("1 / y", "-f / y"), needs_floats=True),
    "//": SCALAR["floordiv"],
    "%": SCALAR["remainder"],
    "**": SCALAR["pow"],
    "&": _bits(_V, _V),
    "|": _bits(_V, _V),
    "^": _bits(_V, _V),
    "<<": _bits(_V, _V),
    ">>": _bits(_V, _V),
    "==": _comparison(holds_for_complex=True),
    "!=": _comparison(holds_for_complex=True),
    "<": _comparison(),
    "<=": _comparison(),
    ">": _comparison(),
    ">=": _comparison(),
    "and": _test(_T, _T),
    "or": _test(_T, _T),
}

FUNCTIONS: Mapping[str, Intrinsic] = {**SCALAR, **SPACED, **RANDOM, **FOLD}
