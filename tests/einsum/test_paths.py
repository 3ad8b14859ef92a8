"""Tests paths: costs compared with opt_einsum, memory limits, explicit paths, reports, and labels given as lists."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import opt_einsum
import pytest
from opt_einsum.testing import rand_equation

import oneflow_py as flow
from tests.einsum.equations import EQUATIONS, in_letters

SUITE = Path(__file__).parents[2] / "benchmarks" / "einsum" / "suite.json"
CASES = [
    (case["equation"], tuple(tuple(case["sizes"][label] for label in term) for term in terms.split(",")))
    for case in json.loads(SUITE.read_text())["cases"]
    for terms in [case["equation"].partition("->")[0]]
]

Shapes = tuple[tuple[int, ...], ...]


def operations(equation: str, shapes: Shapes, path: Any) -> float:
    """Returns the cost of a path according to opt_einsum."""
    if len(shapes) == 1:
        return 0.0
    info = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=path)[1]
    return float(info.opt_cost)


@pytest.mark.parametrize(("equation", "shapes"), CASES)
def test_cost_of_the_benchmark_suite(equation: str, shapes: Shapes) -> None:
    found = flow.einsum_path(equation, *shapes)
    ours = operations(equation, shapes, list(found.path))
    assert ours <= 1.01 * operations(equation, shapes, "auto")
    if len(shapes) > 1 and not any(1 in shape for shape in shapes):  # opt_einsum counts sums over a single element
        assert found.flops == pytest.approx(ours)


@pytest.mark.parametrize(("equation", "shapes"), [case for case in EQUATIONS if len(case[1]) > 2])
def test_cost_of_the_examples(equation: str, shapes: Shapes) -> None:
    if "..." in equation or any(0 in shape for shape in shapes):
        pytest.skip("opt_einsum counts ellipses and empty operands differently")
    equation = in_letters(equation)
    found = flow.einsum_path(equation, *shapes)
    ours = operations(equation, shapes, list(found.path))
    assert ours <= 1.01 * operations(equation, shapes, "auto")
    if len(shapes) <= 6:  # "optimal" tries all paths
        assert ours <= 1.0001 * operations(equation, shapes, "optimal")


@pytest.mark.parametrize("operands", [3, 5, 8, 10, 12, 16, 24, 40, 80])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("regularity", [2, 4])
def test_cost_of_random_networks(operands: int, regularity: int, seed: int) -> None:
    equation, shapes = rand_equation(operands, regularity, n_out=2, d_min=2, d_max=6, seed=seed)
    found = flow.einsum_path(equation, *shapes)
    ours = operations(equation, shapes, list(found.path))
    assert found.flops == pytest.approx(ours)
    assert ours <= 1.01 * operations(equation, shapes, "auto")
    if operands <= 8:
        assert ours <= 1.0001 * operations(equation, shapes, "dp")


@pytest.mark.parametrize("operands", [300, 1000])
def test_cost_of_hundreds_of_operands(operands: int) -> None:
    equation, shapes = rand_equation(operands, 3, d_min=2, d_max=3, seed=0)
    found = flow.einsum_path(equation, *shapes)
    assert len(found.path) == operands - 1
    assert found.flops <= 1.01 * operations(equation, shapes, "greedy")


def test_memory_limit_is_kept_if_possible() -> None:
    """If the limit cannot be kept, the intermediates are as small as possible."""
    equation, shapes = rand_equation(9, 4, n_out=0, d_min=4, d_max=6, seed=3)
    free = flow.einsum_path(equation, *shapes)
    assert free.largest_intermediate > 1
    tight = flow.einsum_path(equation, *shapes, memory_limit=1)
    assert tight.largest_intermediate <= free.largest_intermediate
    for limit in (int(tight.largest_intermediate), int(free.largest_intermediate) - 1):
        found = flow.einsum_path(equation, *shapes, memory_limit=limit)
        assert found.largest_intermediate <= max(limit, tight.largest_intermediate)


@pytest.mark.parametrize("optimize", ["auto", "optimal", "greedy", "none", True, False])
@pytest.mark.parametrize("seed", range(5))
def test_results_do_not_depend_on_the_path(optimize: str | bool, seed: int) -> None:
    equation, shapes = rand_equation(6, 3, n_out=2, d_min=2, d_max=4, seed=seed)
    arrays = [np.random.default_rng(i).standard_normal(shape) for i, shape in enumerate(shapes)]
    want = opt_einsum.contract(equation, *arrays)
    tensors = [flow.from_numpy(each) for each in arrays]
    np.testing.assert_allclose(flow.einsum(equation, *tensors, optimize=optimize).numpy(), want, rtol=1e-9, atol=1e-9)
    expression = flow.einsum_expression(equation, *shapes, optimize=optimize)
    np.testing.assert_allclose(expression(*tensors).numpy(), want, rtol=1e-9, atol=1e-9)
    result = flow.einsum(equation, *tensors, optimize=expression.path)
    np.testing.assert_allclose(result.numpy(), want, rtol=1e-9, atol=1e-9)
    again = flow.einsum_expression(equation, *shapes, optimize=expression.path)
    assert (again.path, again.flops) == (expression.path, expression.flops)


@pytest.mark.parametrize("seed", range(40))
def test_positions_of_a_pair_may_be_in_any_order(seed: int) -> None:
    source = random.Random(seed)
    count = 2 + seed % 5
    equation, shapes = rand_equation(count, 2, n_out=2, d_min=2, d_max=5, seed=seed)
    order = [source.sample(range(remaining), 2) for remaining in range(count, 1, -1)]
    arrays = [np.random.default_rng(i).standard_normal(shape) for i, shape in enumerate(shapes)]
    want = opt_einsum.contract(equation, *arrays)
    tensors = [flow.from_numpy(each) for each in arrays]
    for found in (
        flow.einsum(equation, *tensors, optimize=order),
        flow.einsum_expression(equation, *shapes, optimize=order)(*tensors),
        flow.einsum(equation, *tensors, optimize=order, out=flow.zeros(*want.T.shape, dtype="float64").T),
    ):
        np.testing.assert_allclose(found.numpy(), want, rtol=1e-9, atol=1e-9)


def test_options_are_not_confused_between_calls() -> None:
    """From left to right, the first product has 10^10 elements, which exceeds the memory limit."""
    f = flow.ones(100_000)
    flow.set_memory_limit(flow.memory_stats()["in_use"] + (1 << 24))
    try:
        for _ in range(2):
            for optimize in (True, "auto", None):
                assert flow.einsum("i,j,i,j->", f, f, f, f, optimize=optimize).item() == 1e10
            for optimize in (False, "none"):
                with pytest.raises(flow.OutOfMemory):
                    flow.einsum("i,j,i,j->", f, f, f, f, optimize=optimize)
    finally:
        flow.set_memory_limit(0)


@pytest.mark.parametrize("count", [12, 13])
def test_more_labels_than_bits_of_a_word(count: int) -> None:
    """Each pair of operands has a label: 66 and 78 labels."""
    numbers = [[min(i, j) * count + max(i, j) for j in range(count) if j != i] for i in range(count)]
    equation = ",".join(str(labels) for labels in numbers) + "->"
    shapes = [[2] * (count - 1)] * count
    best = flow.einsum_path(equation, *shapes, optimize="optimal")
    assert best.flops <= flow.einsum_path(equation, *shapes, optimize="auto").flops
    symbols = {number: opt_einsum.get_symbol(number) for labels in numbers for number in labels}
    terms = ",".join("".join(symbols[number] for number in labels) for labels in numbers)
    assert best.flops <= opt_einsum.contract_path(terms, *shapes, shapes=True, optimize="auto")[1].opt_cost


def test_thousands_of_operands_with_a_label_in_common() -> None:
    equation = ",".join(f"[0,{i + 1}]" for i in range(3000)) + "->[0]"
    for optimize in ("auto", "greedy"):
        found = flow.einsum_path(equation, *[[2, 2]] * 3000, optimize=optimize)
        assert found.largest_intermediate == 2


def test_exceptions_of_index_methods_propagate() -> None:
    class Size:
        def __index__(self) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        flow.einsum_path("ij", [Size(), 2])  # type: ignore[list-item]


def test_memory_limit_of_zero_means_unlimited() -> None:
    case = ("cda,bd,cdb->", [7, 4, 3], [3, 4], [7, 4, 3])
    free = flow.einsum_path(*case)
    assert flow.einsum_path(*case, memory_limit=1).largest_intermediate < free.largest_intermediate
    assert flow.einsum_path(*case, memory_limit=0).path == free.path


def test_none_and_false_multiply_from_left_to_right() -> None:
    for optimize in ("none", False):
        found = flow.einsum_path("ij,jk,kl,lm->im", *[[2, 2]] * 4, optimize=optimize)
        assert found.path == ((0, 1), (0, 2), (0, 1))
    chain = ("ij,jk,kl", [2, 1], [1, 50], [50, 2])
    assert flow.einsum_path(*chain, optimize=True).path == ((1, 2), (0, 1))
    assert flow.einsum_expression(*chain, optimize=False).path == ((0, 1), (0, 1))


def test_reports_show_numbers_and_ellipses() -> None:
    report = flow.einsum_path("[0,1]...,[1,2]...,[2,0]...", [2, 3, 4], [3, 5, 4], [5, 2, 1]).report
    assert "3 operands, 2 products" in report
    assert "[2]" in report
    assert "..." in report


def test_path_of_one_operand_is_empty() -> None:
    found = flow.einsum_path("ij->", [20, 30])
    assert found.path == ()
    assert found.flops == 1200
    assert "1 operand, 0 products" in found.report


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        (("ij,jk", [2, 3], [4, 5]), {}, flow.ShapeError, "label 'j' is 3 in operand 0 and 4"),
        (("ij", [2, -3]), {}, flow.ShapeError, "negative"),
        (("ij", "ab"), {}, flow.TypeMismatch, r"operands\[0\] must be Tensor or list of ints, got str"),
        (("ij", [2, 3.5]), {}, flow.TypeMismatch, r"operands\[0\] must be Tensor or list of ints, got list"),
        (("ij", [2, 2**70]), {}, flow.InvalidArgument, r"operands\[0\] must fit into 64 bits, got a larger integer"),
        ((5, [2, 3]), {}, flow.TypeMismatch, "equation must be str, got int"),
        (("i,i", [2], [2]), {"optimize": "fast"}, flow.InvalidArgument, "optimize must be 'auto', 'optimal'"),
        (("i,i\0", [2], [2]), {}, flow.InvalidArgument, "equation must not have a null byte"),
        (("i,i", [2], [2]), {"optimize": "auto\0"}, flow.InvalidArgument, "optimize must not have a null byte"),
        (("i,i", [2], [2]), {"optimize": 1}, flow.TypeMismatch, "optimize must be str, got int"),
        (("i,i", [2], [2]), {"memory_limit": -1}, flow.InvalidArgument, "memory_limit must not be negative, got -1"),
        (("i,i", [2], [2]), {"optimize": [(0, 1, 2)]}, flow.TypeMismatch, r"\[0\] must be pair of ints, got tuple"),
        (("i,i", [2], [2]), {"optimize": [(0, 2)]}, flow.InvalidArgument, "positions below 2, got 0 and 2"),
        (("i,i", [2], [2]), {"optimize": [(0, 0)]}, flow.InvalidArgument, "positions below 2, got 0 and 0"),
        (("i,i", [2], [2]), {"optimize": []}, flow.InvalidArgument, "must be 1 pair of positions for 2 operands"),
        (("i,i", [2], [2]), {"optimize": 5}, flow.TypeMismatch, "optimize must be str, got int"),
        (("i,i", [2], [2]), {"way": 5}, flow.TypeMismatch, "unknown argument way"),
        ((), {}, flow.TypeMismatch, "missing argument equation"),
    ],
)
def test_invalid_arguments_raise(arguments: Any, options: Any, error: type[Exception], text: str) -> None:
    for function in (flow.einsum_path, flow.einsum_expression):
        with pytest.raises(error, match=text):
            function(*arguments, **options)


def test_attributes_of_expressions() -> None:
    expression = flow.einsum_expression("ij,jk->ik", [2, 3], [3, 4])
    assert expression.equation == "ij,jk->ik"
    assert expression.shapes == ((2, 3), (3, 4))
    assert expression.shape == (2, 4)
    assert expression.path == ((0, 1),)
    assert expression.flops == expression.naive_flops == 48
    assert expression.largest_intermediate == 8
    assert repr(expression) == "<einsum_expression 'ij,jk->ik' of shapes ((2, 3), (3, 4))>"


def test_expressions_check_their_operands() -> None:
    expression = flow.einsum_expression("ij,jk->ik", flow.ones(2, 3), [3, 4])
    a, b = flow.ones(2, 3), flow.ones(3, 4)
    assert expression(a, b).tolist() == expression([a, b]).tolist() == [[3.0] * 4] * 2
    target = flow.zeros(2, 4)
    assert expression(a, b, out=target) is target
    assert target.tolist() == [[3.0] * 4] * 2
    with pytest.raises(flow.ShapeError, match=r"operand 1 must have the shape \[3, 4\] .*, got \[3, 5\]"):
        expression(a, flow.ones(3, 5))
    with pytest.raises(flow.InvalidArgument, match="takes 2 operands, got 1"):
        expression(a)
    with pytest.raises(flow.TypeMismatch, match="out must be Tensor, got int"):
        expression(a, b, out=3)
    with pytest.raises(flow.TypeMismatch):
        expression(a, 3)


def test_labels_may_be_lists_after_each_operand() -> None:
    a, b = (np.random.default_rng(i).standard_normal(shape) for i, shape in enumerate([(2, 3), (3, 4)]))
    x, y = flow.from_numpy(a), flow.from_numpy(b)
    assert np.allclose(flow.einsum(x, [0, 1], y, [1, 2], [0, 2]).numpy(), a @ b)
    assert np.allclose(flow.einsum(x, [0, 1], y, [1, 2]).numpy(), a @ b)
    assert np.allclose(flow.einsum(x, [..., 1], y, (1, 70), [70, ...]).numpy(), (a @ b).T)
    assert np.allclose(flow.einsum(x, [np.int64(5), 3]).numpy(), a.T)
    assert flow.einsum_path(x, [0, 1], y, [1, 2]).path == ((0, 1),)
    target = flow.zeros(2, 4, dtype="float64")
    flow.einsum(x, [0, 1], y, [1, 2], [0, 2], out=target)
    assert np.allclose(target.numpy(), a @ b)


def test_more_labels_than_letters() -> None:
    operands = [flow.full([1, 2], float(i % 2), dtype="float64") for i in range(100)]
    arguments = [part for i, each in enumerate(operands) for part in (each, [i, 100])]
    assert flow.einsum(*arguments, [99]).tolist() == [0.0]
    arrays = [np.random.default_rng(i).standard_normal((2, 2)) for i in range(60)]
    arguments = [part for i, each in enumerate(arrays) for part in (flow.from_numpy(each), [i, i + 1])]
    np.testing.assert_allclose(flow.einsum(*arguments, [0, 60]).numpy(), np.linalg.multi_dot(arrays), rtol=1e-9)


@pytest.mark.parametrize("labels", [range(2), np.array([0, 1]), np.arange(2, dtype=np.uint8), (0, 1), b"", "ab"])
def test_labels_may_be_any_sequence_of_integers(labels: Any) -> None:
    x = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    if isinstance(labels, (bytes, str)):
        with pytest.raises(flow.TypeMismatch, match="labels of operand 0 must be list of ints"):
            flow.einsum(x, labels)
    else:
        assert flow.einsum(x, labels, x, labels, labels).tolist() == [[1.0, 4.0], [9.0, 16.0]]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            lambda x: (x, range(10**12)),
            flow.ShapeError,
            "labels of operand 0 must be at most 32 and '...', got 1000000000000",
        ),
        (lambda x: (x, np.zeros((2, 2))), flow.TypeMismatch, "labels of operand 0 must be ints or ..., got numpy"),
        (lambda x: (x, {0: 1}), flow.TypeMismatch, "labels of operand 0 must be list of ints, got dict"),
        (lambda x: (x,), flow.TypeMismatch, "operand 0 must be followed by its labels"),
        (lambda x: (x, x), flow.TypeMismatch, "labels of operand 0 must be list of ints, got Tensor"),
        (lambda x: (x, [0, 1.5]), flow.TypeMismatch, "labels of operand 0 must be ints or ..., got float"),
        (lambda x: (x, [0, True]), flow.TypeMismatch, "labels of operand 0 must be ints or ..., got bool"),
        (lambda x: (x, [0, -1]), flow.InvalidArgument, "labels of operand 0 must not be negative, got -1"),
        (lambda x: (x, [0, 2**31]), flow.InvalidArgument, "labels of operand 0 must be at most 2147483647"),
        (lambda x: (x, [0, 1], 3), flow.TypeMismatch, "labels of the result must be list of ints, got int"),
        (lambda x: (x, [0, 1], [0], [1]), flow.TypeMismatch, "operand 1 must be Tensor, got list"),
        (lambda x: (x, [0, 1], x, [1, 2], [7]), flow.InvalidArgument, "label 7 of the output"),
        (lambda x: (x, [0, 1], x, [1]), flow.ShapeError, "operand 1 has 2 dims but .* names 1"),
    ],
)
def test_invalid_labels_raise(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        flow.einsum(*arguments(flow.ones(2, 2)))


class Emptying:
    """An integer whose `__index__` empties lists."""

    def __init__(self, *lists: list[Any]) -> None:
        self.lists = lists

    def __index__(self) -> int:
        for each in self.lists:
            each.clear()
        return 1


def test_lists_may_change_while_they_are_read() -> None:
    x = flow.ones(1, 1)
    for _ in range(200):
        shape: list[Any] = []
        shapes: list[Any] = [shape, [10**6 + 1]]
        shape.extend([Emptying(shape, shapes), 10**6 + 2])
        with pytest.raises(flow.ShapeError):  # the items before the change are read
            flow.einsum_path("ij,j", shapes)
        labels: list[Any] = []
        labels.extend([Emptying(labels), 10**6 + 3])
        assert flow.einsum(x, labels).shape == (1, 1)
        pair: list[Any] = []
        pair.extend([Emptying(pair), 0])
        assert flow.einsum_path("i,i", [2], [2], optimize=[pair]).path == ((0, 1),)


def test_more_shapes_than_cached_plans() -> None:
    """Uses more shapes than the plan cache holds, twice."""
    for _ in range(2):
        for size in range(1, 5000, 7):
            x = flow.ones(1, size)
            assert flow.einsum("ij,ij->", x, x).item() == size
