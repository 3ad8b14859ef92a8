"""Compares einsum with NumPy and PyTorch: the tables of equations.py, random equations, layouts, dtypes and errors."""

from __future__ import annotations

import string
import sys
import unicodedata
from random import Random
from typing import Any

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import strategies as st

import oneflow_py as flow
from tests.einsum.equations import EQUATIONS, ERRORS, in_letters

Array = np.ndarray[Any, np.dtype[Any]]

# Relative to the sum of the absolute values of the addends.
TOLERANCES = {"float64": 1e-14, "float32": 4e-6, "float16": 2e-3}


def draw(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.3)
    if dtype.startswith("float"):
        return np.asarray(rng.standard_normal(shape)).astype(dtype)
    return np.asarray(rng.integers(0 if dtype == "uint8" else -20, 20, shape)).astype(dtype)


def laid_out(values: Array, layout: str) -> Array:
    """Returns the values in another memory layout."""
    if layout == "transposed":
        return np.array(values.T, order="C").T
    if layout == "reversed":
        flipped = np.array(values[(slice(None, None, -1),) * values.ndim])
        return flipped[(slice(None, None, -1),) * values.ndim]
    if layout == "spaced":
        memory = np.zeros([2 * size for size in values.shape], values.dtype)
        memory[(slice(None, None, 2),) * values.ndim] = values
        return memory[(slice(None, None, 2),) * values.ndim]
    return values


def expected(equation: str, operands: list[Array]) -> tuple[Array, Array]:
    """Returns the result in double precision, and the sum of the absolute values of the addends."""
    wide = [each.astype(np.float64) for each in operands]
    equation = in_letters(equation)
    return (
        np.asarray(np.einsum(equation, *wide, optimize=True)),
        np.asarray(np.einsum(equation, *[np.abs(each) for each in wide], optimize=True)),
    )


def check(equation: str, operands: list[Array], dtype: str) -> None:
    result = flow.einsum(equation, *[flow.from_numpy(each) for each in operands])
    assert result.dtype == getattr(flow, dtype)
    got = result.numpy()
    if dtype.startswith("float"):
        want, scale = expected(equation, operands)
        assert got.shape == want.shape
        assert np.all(np.abs(got - want) <= TOLERANCES[dtype] * (scale + 1e-30) + (1e-7 if dtype == "float16" else 0))
    else:
        exact = np.asarray(
            np.einsum(in_letters(equation), *[each.astype(np.int64) for each in operands], optimize=True)
        )
        assert np.array_equal(got, exact != 0 if dtype == "bool" else exact.astype(dtype))


CASES = [pytest.param(*case, id=f"{position}:{case[0]}") for position, case in enumerate(EQUATIONS)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16", "uint8", "bool"])
@pytest.mark.parametrize(("equation", "shapes"), CASES)
def test_results_match_numpy(equation: str, shapes: tuple[tuple[int, ...], ...], dtype: str) -> None:
    check(equation, [draw(shape, dtype, i) for i, shape in enumerate(shapes)], dtype)


@pytest.mark.parametrize("layout", ["transposed", "reversed", "spaced"])
@pytest.mark.parametrize(("equation", "shapes"), CASES)
def test_results_match_numpy_for_other_layouts(equation: str, shapes: tuple[tuple[int, ...], ...], layout: str) -> None:
    check(equation, [laid_out(draw(shape, "float32", i), layout) for i, shape in enumerate(shapes)], "float32")


@pytest.mark.parametrize(("equation", "shapes"), CASES)
def test_results_match_pytorch(equation: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    operands = [draw(shape, "float64", i) for i, shape in enumerate(shapes)]
    want = torch.einsum(in_letters(equation), *[torch.from_numpy(each) for each in operands])
    got = flow.einsum(equation, *[flow.from_numpy(each) for each in operands])
    assert tuple(got.shape) == tuple(want.shape)
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("equation", "shapes", "error", "text", "shown", "column"), ERRORS)
def test_errors_point_at_the_mistake(
    equation: str, shapes: tuple[tuple[int, ...], ...], error: str, text: str, shown: str, column: int
) -> None:
    pointer = f"\n  {shown}\n  {' ' * column}^" if shown else ""
    with pytest.raises(getattr(flow, error)) as raised:
        flow.einsum(equation, [flow.zeros(list(shape)) for shape in shapes])
    assert str(raised.value) == f"einsum: {text}{pointer}"


# ------------------------------------------------------------------------------------------------ random equations


def test_letters_are_labels_and_characters_like_syntax_are_not() -> None:
    """Classifies characters by their Unicode category. The fillers of Hangul are letters but invisible. opt_einsum uses
    all characters below U+1000."""
    x = flow.ones(2)
    fillers = "\u115f\u1160\u3164\uffa0"
    for code in [*range(0xC0), *range(0x1000, sys.maxunicode + 1)]:
        character = chr(code)
        category = unicodedata.category(character)
        if category[0] == "L" and character not in fillers and (code > 127 or character.isalpha()):
            assert flow.einsum_path(f"{character}->{character}", [2]).path == (), hex(code)
        elif category in ("Zl", "Zp", "Cc", "Cf", "Pd", "Ps", "Pe") or (category == "Zs" and code != 32):
            with pytest.raises(flow.InvalidArgument):
                flow.einsum(f"i{character}", x)


@st.composite
def equations(draw_from: st.DrawFn) -> tuple[str, list[Array], str]:
    """Draws equations with random labels, repeated labels, broadcast sizes, ellipses, outputs, layouts and dtypes."""
    labels = draw_from(st.lists(st.sampled_from("abcdeXYZ"), min_size=1, max_size=6, unique=True))
    sizes = {label: draw_from(st.sampled_from([1, 2, 3, 5, 0] if label == "X" else [1, 2, 3, 5])) for label in labels}
    ellipsis = draw_from(st.lists(st.sampled_from([1, 2, 3]), max_size=2)) if draw_from(st.booleans()) else None
    dtype = draw_from(st.sampled_from(["float32", "float64", "int64", "int8", "bool"]))
    terms: list[str] = []
    operands: list[Array] = []
    used: set[str] = set()
    for i in range(draw_from(st.integers(1, 4))):
        own = draw_from(st.lists(st.sampled_from(labels), max_size=4))
        shape = [sizes[label] for label in own]
        if draw_from(st.booleans()) and len(set(own)) == len(own):
            shape = [1 if size > 1 and draw_from(st.integers(0, 5)) == 0 else size for size in shape]
        term = "".join(own)
        if ellipsis is not None and draw_from(st.booleans()):
            at = draw_from(st.integers(0, len(own)))
            tail = ellipsis[draw_from(st.integers(0, len(ellipsis))) :]
            tail = [1 if draw_from(st.integers(0, 4)) == 0 else size for size in tail]
            term = term[:at] + "..." + term[at:]
            shape = shape[:at] + tail + shape[at:]
        terms.append(term)
        used.update(own)
        layout = draw_from(st.sampled_from(["plain", "transposed", "reversed", "spaced"]))
        operands.append(laid_out(draw(tuple(shape), dtype, i), layout))
    equation = ",".join(terms)
    if draw_from(st.booleans()):
        output = draw_from(st.lists(st.sampled_from(sorted(used)), max_size=4, unique=True)) if used else []
        at = draw_from(st.integers(0, len(output)))
        text = "".join(output)
        equation += "->" + (text[:at] + "..." + text[at:] if "..." in equation else text)
    return equation, operands, dtype


@hypothesis.settings(max_examples=1500, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(equations())
def test_random_equations_match_numpy(case: tuple[str, list[Array], str]) -> None:
    equation, operands, dtype = case
    check(equation, operands, dtype)


@hypothesis.settings(max_examples=5000, deadline=None)
@hypothesis.given(
    st.text(alphabet="ij k,.->A[]01\u00e9\u65e5\x00", max_size=12), st.lists(st.integers(0, 4), max_size=3)
)
def test_any_string_gives_a_tensor_or_a_documented_error(equation: str, ranks: list[int]) -> None:
    operands = [flow.ones([2] * rank) for rank in ranks]
    message = "einsum: "
    try:
        flow.einsum(equation, operands)
    except (flow.InvalidArgument, flow.ShapeError) as error:
        message = str(error)
    assert message.startswith("einsum: ")


def random_product(random: Random) -> tuple[str, dict[str, int]]:
    """Returns an equation of two operands with shuffled labels, whose sizes are close to those of vectors, tiles and
    blocks."""
    while True:
        labels = "abcdefg"[: random.randint(3, 6)]
        sizes = {label: random.choice([2, 3, 5, 8, 9, 15, 16, 17, 20, 24, 31, 33, 40, 48, 97, 130]) for label in labels}
        roles = {label: random.choice("mnkmnkb") for label in labels}
        terms = [[label for label in labels if roles[label] in kept] for kept in ("mkb", "nkb", "mnb")]
        products = np.prod([sizes[label] for label in labels])
        if terms[0] and terms[1] and products <= 2e7 and np.prod([sizes[label] for label in terms[2]]) <= 3e6:
            for term in terms:
                random.shuffle(term)
            return "{},{}->{}".format(*map("".join, terms)), sizes


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("seed", range(25))
def test_random_packed_products_match_numpy(dtype: str, seed: int) -> None:
    """The operands are large enough to be packed, with any order of dimensions."""
    equation, sizes = random_product(Random(f"{dtype} {seed}"))
    shapes = [tuple(sizes[label] for label in term) for term in equation.partition("->")[0].split(",")]
    check(equation, [draw(shape, dtype, seed + i) for i, shape in enumerate(shapes)], dtype)


# ------------------------------------------------------------------------------------------------ other properties


def test_result_is_written_to_out() -> None:
    a, b = flow.from_numpy(draw((3, 4), "float32", 0)), flow.from_numpy(draw((4, 5), "float32", 1))
    target = flow.zeros([5, 3]).transpose(0, 1)
    flow.einsum("ij,jk->ik", a, b, out=target)
    np.testing.assert_allclose(target.numpy(), a.numpy() @ b.numpy(), rtol=1e-5)


def test_out_may_be_an_operand() -> None:
    a = flow.from_numpy(draw((4, 4), "float64", 0))
    want = a.numpy().copy() @ a.numpy()
    flow.einsum("ij,jk->ik", a, a, out=a)
    np.testing.assert_allclose(a.numpy(), want, rtol=1e-12)


def test_result_shares_no_memory_with_operands() -> None:
    a = flow.from_numpy(draw((3, 3), "float32", 0))
    before = a.numpy().copy()
    result = flow.einsum("ii->i", a)
    result.fill_(7.0)
    assert np.array_equal(a.numpy(), before)


def test_dtypes_are_promoted() -> None:
    a, b = flow.ones([2, 3], dtype=flow.float32), flow.ones([3, 2], dtype=flow.int64)
    assert flow.einsum("ij,jk", a, b).dtype == flow.float32
    assert flow.einsum("ij,jk", a, flow.ones([3, 2], dtype=flow.float64)).dtype == flow.float64


def test_small_integers_wrap_around() -> None:
    a = flow.full([300], 100, dtype=flow.int8)
    assert flow.einsum("i,i->", a, a).item() == np.sum(np.full(300, 10000)).astype(np.int8)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_unsigned_integers_wrap_around(dtype: str) -> None:
    a = np.array([[2**15 + 1, 3], [5, 7]]).astype(dtype) * np.array(2**17 + 1).astype(dtype)
    tensor = flow.from_numpy(a)
    assert np.array_equal(flow.matmul(tensor, tensor).numpy(), a @ a)
    assert np.array_equal(flow.einsum("ij->i", tensor).numpy(), a.sum(1, dtype=dtype))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("size", [3, 40, 300])
def test_special_values_propagate(value: float, size: int) -> None:
    a, b = np.ones((size, size), np.float32), np.ones((size, size), np.float32)
    a[1, 2] = value
    b[2, 0] = 0
    with np.errstate(invalid="ignore"):
        want = a @ b
    np.testing.assert_array_equal(flow.einsum("ij,jk->ik", flow.from_numpy(a), flow.from_numpy(b)).numpy(), want)


def test_empty_sums_are_zero() -> None:
    """An empty sum is zero even if another operand has infinities or NaN."""
    assert flow.einsum("i,j->j", flow.zeros([0]), flow.tensor([np.inf, np.nan])).tolist() == [0.0, 0.0]
    assert flow.tensordot(flow.zeros([2, 0]), flow.zeros([0, 1]), 1).tolist() == [[0.0], [0.0]]


def test_half_precision_accumulates_in_float32() -> None:
    ones = flow.ones([5000], dtype=flow.float16)
    assert flow.einsum("i,i->", ones, ones).item() == 5000.0
    large, small = flow.full([8], 60000.0, dtype=flow.float16), flow.full([1], 0.001, dtype=flow.float16)
    assert flow.einsum("i,j->", large, small.expand([2])).item() == pytest.approx(960, rel=0.01)
    third, one = (flow.full([4096], value, dtype=flow.bfloat16) for value in (1 / 3, 1.0))
    assert flow.einsum("i,i,i->", third, third, one).item() == pytest.approx(456, rel=0.01)


@pytest.mark.parametrize("sizes", [(700, 300, 900), (3, 5, 70000), (2000, 1, 2000), (64, 64, 64)])
def test_results_do_not_depend_on_the_number_of_threads(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    a, b = flow.from_numpy(draw((m, k), "float32", 0)), flow.from_numpy(draw((k, n), "float32", 1))
    before = flow.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3):
            flow.set_num_threads(threads)
            results.append(flow.einsum("mk,kn->mn", a, b).numpy())
    finally:
        flow.set_num_threads(before)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_many_operands_match_numpy() -> None:
    """Multiplies more operands than the exact path search supports."""
    matrices = [draw((3, 3), "float64", i) for i in range(24)]
    letters = "abcdefghijklmnopqrstuvwxyz"
    equation = ",".join(letters[i : i + 2] for i in range(24)) + "->ay"
    want = np.linalg.multi_dot(matrices)
    np.testing.assert_allclose(flow.einsum(equation, *map(flow.from_numpy, matrices)).numpy(), want, rtol=1e-9)


@pytest.mark.parametrize("equation", [",".join(["ij"] * 1500) + "->ij", ",".join(["ij", "ji"] * 750), "," * 1499])
def test_more_than_a_thousand_operands(equation: str) -> None:
    shape = [2, 2] if "i" in equation else []
    result = flow.einsum(equation, [flow.full(shape, 1.001, dtype=flow.float64)] * 1500)
    assert result.sum().item() == pytest.approx(2 ** len(shape) * 1.001**1500)


def test_huge_sizes_are_compared_without_overflow() -> None:
    """The number of elements of the intermediates overflows a double."""
    vast = flow.ones([1]).expand([2**40])
    with pytest.raises(flow.ShapeError, match="more elements than an int64 can count"):
        flow.einsum(",".join(string.ascii_lowercase), [vast] * 26)


def test_path_avoids_large_intermediates() -> None:
    """A path that starts with outer products would need 10**12 elements."""
    vectors = [draw((1000,), "float64", i) for i in range(4)]
    want = vectors[0] @ vectors[1] * (vectors[2] @ vectors[3])
    a, b, c, d = map(flow.from_numpy, vectors)
    assert flow.einsum("i,j,i,j->", a, c, b, d).item() == pytest.approx(want)
