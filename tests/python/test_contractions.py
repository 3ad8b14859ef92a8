"""Compares contractions that are too large for the vectors with NumPy. Their shapes select each algorithm for
contractions and cross its block boundaries. The elements are integers, whose sums do not depend on the order."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.python.support import on_devices, runs_beside

DTYPES = ["float32", "float64", "int32", "float16", "bfloat16", "complex64"]

# Equation and shapes of the operands.
CASES = {
    "small matrices": ("bij,bjk->bik", (50, 17, 20), (50, 20, 19)),
    "small matrices, second transposed": ("bij,bkj->bik", (50, 17, 20), (50, 19, 20)),
    "small matrices, result transposed": ("bij,bjk->bki", (50, 17, 20), (50, 20, 19)),
    "small matrices, batch innermost in the result": ("bij,bkj->ikb", (50, 16, 16), (50, 16, 16)),
    "short rows": ("ij,jk->ik", (700, 3), (3, 4)),
    "short rows of a batch, result transposed": ("bij,kj->bki", (9, 70, 4), (2, 4)),
    "short rows, a prime number of them": ("ij,kj->ik", (701, 2), (3, 2)),
    "small second operand": ("ijk,kl->ijl", (30, 31, 33), (33, 21)),
    "columns split": ("ij,jk->ik", (150, 160), (160, 170)),
    "columns and depth split": ("ij,jk->ik", (70, 600), (600, 130)),
    "columns and depth split, second transposed": ("ij,kj->ik", (70, 600), (130, 600)),
    "depth split": ("abc,bad->cd", (40, 30, 19), (30, 40, 21)),
    "depth split, second transposed": ("ij,kj->ik", (19, 3_000), (21, 3_000)),
    "strips": ("kbi,kj->bji", (20, 60, 1_003), (20, 11)),
    "strips, two panels": ("kbi,kj->bji", (20, 60, 1_003), (20, 37)),
    "strips, result transposed": ("ki,kj->ij", (33, 701), (33, 21)),
    "strips, result transposed, two panels": ("ki,kj->ij", (33, 701), (33, 41)),
    "strips, result transposed, batch": ("bki,bkj->bij", (3, 33, 701), (3, 33, 9)),
    "interleaved strips": ("xki,kj->ijx", (37, 30, 50), (30, 13)),
    "interleaved strips of several dimensions": ("xkyi,kj->yjix", (19, 20, 3, 70), (20, 5)),
    "interleaved strips, two panels": ("kxi,kj->jix", (30, 40, 90), (30, 29)),
    "interleaved strips, copied": ("kxi,kj->jix", (900, 17, 64), (900, 5)),
    "rows by a few rows, result transposed": ("ij,kj->ki", (301, 333), (9, 333)),
    "rows by one row at a time": ("ij,kj->ik", (67, 129), (5, 129)),
    "rows of several pieces": ("ij,kj->ik", (35, 2_203), (14, 2_203)),
    "rows by a few columns": ("ij,jk->ik", (600, 270), (270, 11)),
    "rows by columns of two dimensions": ("ijk,lkm->jlim", (30, 40, 300), (3, 300, 5)),
    "rows by a few rows, batch": ("bij,bkj->bik", (7, 90, 100), (7, 6, 100)),
    "fewer rows than columns": ("bij,bjk->bki", (9, 5, 300), (9, 300, 7)),
    "a few rows, a long sum": ("ij,kj->ik", (6, 70_001), (5, 70_001)),
    "long rows by one vector": ("i,ij->j", (700,), (700, 1_030)),
    "long rows by two vectors": ("ib,ij->bj", (700, 2), (700, 1_030)),
    "long rows by a few vectors": ("bi,ij->jb", (9, 200), (200, 5_001)),
    "packed panels": ("ij,jk->ik", (600, 70), (70, 700)),
    "dot products of three elements": ("bi,bi->b", (700, 3), (700, 3)),
    "short dot products": ("bij,bj->bi", (40, 30, 37), (40, 37)),
    "dot products": ("ij,j->i", (50, 900), (900,)),
    "long dot products": ("ij,j->i", (9, 3_000), (3_000,)),
    "interleaved dot products": ("bkc,bk->bc", (30, 45, 3), (30, 45)),
    "interleaved dot products by two vectors": ("kc,kj->cj", (70, 5), (70, 2)),
    "interleaved dot products, batch": ("bkc,bkc->cb", (9, 53, 7), (9, 53, 7)),
    "interleaved dot products, copied": ("hwc,wh->c", (50, 40, 2), (40, 50)),
    "interleaved dot products, long": ("kc,k->c", (30_001, 8), (30_001,)),
    "one long dot product": ("i,i->", (100_003,), (100_003,)),
    "a dot product with a transposed matrix": ("ij,ji->", (170, 190), (190, 170)),
    "a strided vector": ("ij,jj->i", (60, 130), (130, 130)),
    "strided vectors of a batch": ("bij,jb->bi", (30, 40, 50), (50, 30)),
    "a long sum of small outer products": ("ki,kj->ij", (9_001, 17), (9_001, 20)),
    "a long sum of rows": ("kbi,kb->bi", (40_009, 2, 9), (40_009, 2)),
    "a long sum over two dimensions": ("ika,kib->ba", (61, 67, 33), (67, 61, 30)),
    "vectors by matrices, batch": ("bij,bi->bj", (40, 30, 37), (40, 30)),
    "a matrix by two vectors": ("ij,ik->kj", (300, 700), (300, 2)),
    "outer products": ("bi,bj->bij", (100, 37), (100, 21)),
    "an outer product with a short vector": ("i,j->ij", (3_001,), (3,)),
    "a transposed outer product": ("i,j->ji", (3_001,), (3,)),
    "elementwise": ("ij,ij->ij", (130, 140), (130, 140)),
    "elementwise, second transposed": ("ij,ji->ij", (130, 140), (140, 130)),
    "elementwise, broadcast columns": ("ij,i->ij", (700, 7), (700,)),
    "elementwise, broadcast rows": ("ij,j->ij", (700, 7), (7,)),
    "a batch innermost in one operand": ("dbec,aced->bac", (40, 10, 7, 32), (3, 32, 7, 40)),
    "a batch innermost in both operands": ("kib,kjb->ijb", (30, 9, 33), (30, 11, 33)),
    "a small batch, innermost": ("ab,cbda->cda", (3, 3), (51, 3, 25, 3)),
    "a sum over two dimensions in different orders": ("cda,bdca->b", (128, 12, 2), (51, 12, 128, 2)),
    "a result transposed to the large operand": ("ac,acdb->bad", (51, 100), (51, 100, 20, 2)),
    "a result of short rows": ("cdb,ca->dab", (10, 50, 4), (10, 256)),
    "short dimensions everywhere": ("bcfead,dcbaef->f", (10, 5, 3, 7, 3, 4), (4, 5, 10, 3, 7, 3)),
    "large operands in different orders": ("abc,bca->ac", (101, 53, 197), (53, 197, 101)),
    "large parts": ("defa,ecbdaf->bc", (3, 2, 900, 20), (2, 6, 4, 3, 20, 900)),
    "parts of several dimensions": ("acbd,adcb->da", (4, 40, 4000, 5), (4, 5, 40, 4000)),
    "a split dimension innermost in the other operand": ("edfc,baecf->abd", (20, 7, 50, 20), (5, 20, 20, 20, 50)),
    "an outer product with interleaved dimensions": ("adb,dc->acdb", (8, 4, 3), (4, 312)),
    "an outer product with short rows": ("b,acd->dabc", (64,), (16, 4, 33)),
    "columns of two dimensions": ("cb,bdca->ad", (50, 20), (20, 10, 50, 3)),
    "strided columns with a remainder": ("dacb,da->cbd", (20, 128, 12, 5), (20, 128)),
    "three, an intermediate in the order of the third": ("bi,ij,bj->b", (300, 50), (50, 50), (300, 50)),
    "three, an intermediate in the order of the result": ("df,de,bde->bde", (56, 128), (56, 4), (56, 56, 4)),
}
SUMS = {
    "a transposition": ("ij->ji", (130, 140)),
    "a permutation": ("abcd->dbca", (9, 20, 11, 33)),
    "a sum over the first and last dimension": ("ijk->j", (90, 7, 50)),
    "a sum over the first dimensions": ("ijk->k", (90, 7, 50)),
    "a sum over the last dimension": ("ijk->ij", (90, 7, 50)),
    "a sum over a diagonal": ("iji->j", (60, 50, 60)),
}


def test_expanded_operands() -> None:
    row = flow.arange(33.0)
    assert flow.einsum("bc,c->b", row.expand(5, 33), row).tolist() == [11440.0] * 5
    matrix, number = flow.ones([70, 130]), flow.full([1], 2.0).expand(130)
    assert flow.einsum("ij,j->i", matrix, number).tolist() == [260.0] * 70
    assert flow.einsum("bij,bj->bi", matrix.expand(3, 70, 130), number.expand(3, 130)).tolist() == [[260.0] * 70] * 3


@cache
def operands_and_result(name: str, is_complex: bool) -> tuple[list[np.ndarray], np.ndarray]:
    equation, *shapes = (CASES | SUMS)[name]
    random = np.random.default_rng(len(shapes))
    arrays = [random.integers(-2, 3, shape).astype("float64") for shape in shapes]
    if is_complex:
        arrays = [array + 1j * array[::-1] for array in arrays]
    return arrays, np.einsum(equation, *arrays, optimize=True)


def on_device(array: np.ndarray, dtype: str, device: str, transposed: bool) -> flow.Tensor:
    order = list(range(array.ndim))[::-1] if transposed else list(range(array.ndim))
    stored = np.ascontiguousarray(array.transpose(order)).astype("complex64" if dtype == "complex64" else "float64")
    return flow.from_numpy(stored).to(device).to(dtype).permute(*order)


@pytest.mark.parametrize("transposed", [False, True], ids=["contiguous", "transposed"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("device", "name"), on_devices(CASES | SUMS))
def test_a_contraction(name: str, dtype: str, transposed: bool, device: str) -> None:
    equation = (CASES | SUMS)[name][0]
    arrays, expected = operands_and_result(name, dtype == "complex64")
    found = flow.einsum(equation, *(on_device(array, dtype, device, transposed) for array in arrays))
    assert found.device.name == device
    assert found.dtype.name == dtype
    if dtype in ("float16", "bfloat16"):  # sums are rounded once, to the dtype
        expected = flow.from_numpy(np.asarray(expected, "float32")).to(dtype).to("float32").numpy()
        found = found.to("float32")
    np.testing.assert_array_equal(found.to("cpu").numpy(), expected)


# Memory layouts and sizes that select each method by which the CPU packs panels. Rows are the dimensions that the
# result shares with one operand, columns those that it shares with the other one; the depth is summed.
PACKED = {
    "transposed rows": ("efbad,cf->abcde", {"a": 10, "b": 11, "c": 12, "d": 36, "e": 40, "f": 9}),
    "transposed rows, odd sizes": ("efbad,cf->abcde", {"a": 7, "b": 13, "c": 17, "d": 19, "e": 94, "f": 11}),
    "transposed rows, many columns": ("efbad,cf->abcde", {"a": 7, "b": 13, "c": 60, "d": 19, "e": 94, "f": 11}),
    "transposed rows, beyond the caches": ("efbad,cf->abcde", {"a": 24, "b": 12, "c": 24, "d": 36, "e": 32, "f": 5}),
    "transposed columns": ("cf,efbad->abcde", {"a": 10, "b": 11, "c": 50, "d": 31, "e": 41, "f": 9}),
    "rows in the operand's order": ("dca,bd->abc", {"a": 210, "b": 9, "c": 130, "d": 40}),
    "columns in the operand's order": ("bda,dc->abc", {"a": 97, "b": 102, "c": 24, "d": 110}),
    "contiguous runs of rows": ("adec,ebd->abc", {"a": 31, "b": 24, "c": 33, "d": 41, "e": 29}),
    "a few sums of strided elements": ("ip,iq->pq", {"i": 10_007, "p": 2, "q": 3}),
    "a few sums of strided elements, batch": ("bijp,bjiq->bpq", {"b": 3, "i": 101, "j": 53, "p": 3, "q": 2}),
    "a transposed depth in both operands": ("acd,dbc->ab", {"a": 61, "b": 67, "c": 131, "d": 137}),
    "a deep product": ("ij,jk->ik", {"i": 70, "j": 2047, "k": 33}),
    "a row stride of one page": ("ij,jk->ik", {"i": 60, "j": 1024, "k": 50}),
    "several blocks of columns": ("ij,jk->ik", {"i": 1100, "j": 530, "k": 70}),
    "contiguous columns": ("cad,dcb->ba", {"a": 45, "b": 50, "c": 36, "d": 41}),
    "a deep product of transposed matrices": ("ji,kj->ik", {"i": 515, "j": 1001, "k": 40}),
    "a depth of two dimensions": ("abc,cbd->ad", {"a": 40, "b": 7, "c": 9, "d": 50}),
    "a batch": ("bhqk,bkhd->bqhd", {"b": 2, "h": 3, "q": 65, "k": 71, "d": 34}),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int16"])
@pytest.mark.parametrize(("device", "name"), on_devices(PACKED))
def test_a_packed_contraction(name: str, dtype: str, device: str) -> None:
    equation, sizes = PACKED[name]
    random = np.random.default_rng(2)
    arrays = [
        random.integers(-9, 9, [sizes[label] for label in term]).astype(np.float32)
        for term in equation.partition("->")[0].split(",")
    ]
    found = flow.einsum(equation, *[flow.from_numpy(each).to(device).to(dtype) for each in arrays])
    expected = flow.from_numpy(np.einsum(equation, *arrays, optimize=True)).to(dtype).to("float32")
    np.testing.assert_array_equal(found.to("cpu").to("float32").numpy(), expected.numpy())


def test_many_short_dimensions() -> None:
    """Planning how to split them must not try all orders of the dimensions."""
    numbers = np.random.default_rng(0)
    labels = list("abcdefghijklmnopqrstuv")
    a, b, result = (list(numbers.permutation(labels)) for _ in range(3))
    result = [label for label in result if label not in "ab"]
    arrays = [numbers.integers(-9, 9, [2] * len(labels)).astype("float32") for _ in range(2)]
    found = flow.einsum(f"{''.join(a)},{''.join(b)}->{''.join(result)}", *map(flow.from_numpy, arrays))
    in_order = [
        array.transpose([term.index(label) for label in [*result, "a", "b"]])
        for array, term in zip(arrays, (a, b), strict=True)
    ]
    np.testing.assert_array_equal(found.numpy(), (in_order[0] * in_order[1]).sum((-2, -1)))


def test_infinity_and_nan_in_half_precision() -> None:
    array = np.ones((40, 101), np.float32)
    array[3, 100], array[5, 8], array[6, 0] = np.nan, np.inf, -np.inf
    expected = array @ np.ones((101, 35), np.float32)
    for dtype in ("float16", "bfloat16"):
        found = flow.matmul(flow.from_numpy(array).to(dtype), flow.ones(101, 35, dtype=dtype)).to("float32")
        np.testing.assert_array_equal(found.numpy(), expected)


# The sizes i, j, k of products ij,jk->ik that select each way of dividing the work among threads.
SHARED = {
    "rows for each thread": (300, 530, 1100),
    "rows for each thread, several blocks of columns": (7000, 40, 1700),
    "columns for each thread": (6200, 300, 90),
    "blocks that all threads share": (450, 530, 470),
    "parts of the sum for each thread": (90, 5000, 110),
}


@pytest.mark.parametrize("name", SHARED)
def test_threads_agree_bit_for_bit(name: str) -> None:
    i, j, k = SHARED[name]
    random = np.random.default_rng(3)
    a, b = random.standard_normal((i, j), np.float32), random.standard_normal((j, k), np.float32)
    bias = random.standard_normal(k, np.float32)

    def results() -> tuple[np.ndarray, np.ndarray]:
        left, right = flow.from_numpy(a), flow.from_numpy(b)
        return flow.matmul(left, right).numpy(), flow.linear(left, right.t(), flow.from_numpy(bias)).numpy()

    threads = flow.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3, 7):
            flow.set_num_threads(count)
            with ThreadPoolExecutor(1) as caller:  # a new thread has no cached plans
                found.append(caller.submit(results).result())
    finally:
        flow.set_num_threads(threads)
    exact = a.astype(np.float64) @ b
    np.testing.assert_allclose(found[0][0], exact, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(found[0][1], exact + bias, rtol=1e-4, atol=1e-3)
    for product, layer in found[1:]:
        np.testing.assert_array_equal(product, found[0][0])
        np.testing.assert_array_equal(layer, found[0][1])


LABELS = json.loads((Path(__file__).parents[1] / "labels.json").read_text())


@pytest.mark.parametrize("case", LABELS, ids=lambda case: case.get("says", "valid"))
def test_labels_that_all_languages_take_or_refuse(case: dict[str, Any]) -> None:
    given: Any = range(case.get("first", 0))
    if "labels" in case:
        given = [... if each == "..." else int(each) for each in case["labels"]]
    if "raises" not in case:
        assert flow.einsum(flow.ones(2, 2), given).shape == (2, 2)
        return
    with pytest.raises(getattr(flow, case["raises"])) as raised:
        flow.einsum(flow.ones(2, 2), given)
    assert str(raised.value) == f"einsum: {case['says']}"


def test_other_threads_run_during_a_large_product_of_small_operands() -> None:
    """The interpreter's lock is released by the size of the product, not that of the operands."""
    x = flow.ones(300)
    assert runs_beside(lambda: flow.einsum("i,j,k->ijk", x, x, x))


def test_an_addend_is_added_in_the_memory_of_the_result() -> None:
    """It took memory for the product, in addition to that for the result."""
    x, weight, bias = flow.randn(600, 40), flow.randn(500, 40), flow.randn(500)

    def peak(*addend: flow.Tensor) -> int:
        flow.linear(x, weight, *addend)
        flow.reset_peak_memory_stats()
        before = flow.memory_stats()["in_use"]
        flow.linear(x, weight, *addend)
        return flow.memory_stats()["peak_in_use"] - before

    assert peak(bias) < peak() + 600 * 500


def test_the_result_may_be_the_addend() -> None:
    x, weight, addend = flow.randn(60, 40), flow.randn(50, 40), flow.randn(60, 50)
    expected = flow.linear(x, weight, addend).numpy()
    flow.linear(x, weight, addend, out=addend)
    np.testing.assert_array_equal(addend.numpy(), expected)
