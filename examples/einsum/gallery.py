"""Shows typical uses of einsum, and checks each result against a second method.

Usage: python gallery.py. This folder has the same program in JavaScript and Ruby, with the same output.
"""

import math
from functools import reduce

import oneflow_py as flow


def title(text):
    print(f"\n{text}\n")


def random(*shapes):
    return [flow.randn(*shape) for shape in shapes]


def show(equation, words, result):
    """Prints an equation, what it computes, and a summary of the result."""
    print(f"  {equation}: {words}")
    print(f"    shape {list(result.shape)}, sum {result.sum().item():.6f}")


def check(result, other, way):
    """Ends the program if the results differ by more than rounding."""
    difference = ((result - other).abs().max() / other.abs().max()).item()
    if difference > 1e-9:
        raise SystemExit(f"differs from {way} by {difference} of the largest element")
    print(f"    the same as {way}")


def diagonal_and_trace():
    title("Diagonal and trace")
    x = flow.arange(9).reshape(3, 3)
    print(f"  ii->i: the elements with the same index twice: {flow.einsum('ii->i', x).tolist()}")
    print(f"  ii->: their sum: {flow.einsum('ii->', x).item()}")
    (batch,) = random([4, 2, 3, 3])
    traces = flow.einsum("...ii->...", batch)
    show("...ii->...", "the trace of each matrix of a batch", traces)
    check(traces, batch.diagonal(dim1=-2, dim2=-1).sum(dim=-1), "diagonal and sum")


def matrix_products():
    title("Matrix products")
    a, b = random([2, 1, 3, 4], [5, 4, 2])
    product = flow.einsum("...ij,...jk->...ik", a, b)
    show("...ij,...jk->...ik", "batches of any shapes that broadcast", product)
    check(product, flow.matmul(a, b), "matmul")
    x, y = random([3, 4], [4, 2])
    check(flow.einsum(x, [0, 1], y, [1, 2], [2, 0]), flow.matmul(x, y).transpose(0, 1), "matmul, with labels in lists")


def forms():
    title("Quadratic and bilinear forms")
    matrix, x, y = random([4, 4], [4], [4])
    quadratic = flow.einsum("i,ij,j->", x, matrix, x)
    show("i,ij,j->", "a quadratic form, x A x", quadratic)
    check(quadratic, flow.dot(x, flow.mv(matrix, x)), "dot and mv")
    bilinear = flow.einsum("i,ij,j->", x, matrix, y)
    show("i,ij,j->", "a bilinear form, x A y", bilinear)
    check(bilinear, flow.matmul(x, flow.matmul(matrix, y)), "matmul")


def bilinear_layer():
    title("Bilinear layer")
    weights, left, right = random([3, 4, 5], [6, 4], [6, 5])
    layer = flow.einsum("ni,kij,nj->nk", left, weights, right)
    show("ni,kij,nj->nk", "k bilinear forms for each row n of two matrices", layer)
    columns = [(flow.matmul(left, each) * right).sum(dim=1) for each in weights]
    check(layer, flow.stack(columns, dim=1), "matmul, elementwise product and sum")


def mahalanobis():
    title("Mahalanobis distances")
    points, root = random([100, 3], [3, 3])
    centred = points - points.mean(dim=0)
    precision = flow.einsum("ki,kj->ij", root, root)
    distances = flow.einsum("ni,ij,nj->n", centred, precision, centred).sqrt()
    show("ni,ij,nj->n", "each point's distance from the mean", distances)
    check(distances, (flow.matmul(centred, root.transpose(0, 1)) ** 2).sum(dim=1).sqrt(), "the lengths of R x")


def attend(q, k, v):
    scores = flow.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(4)
    show("bhqd,bhkd->bhqk", "the score of key position k for query position q, in each head", scores)
    check(scores, flow.matmul(q, k.transpose(-2, -1)) / math.sqrt(4), "matmul with the keys transposed")
    weights = flow.softmax(scores, dim=-1)
    heads = flow.einsum("bhqk,bhkd->bhqd", weights, v)
    show("bhqk,bhkd->bhqd", "the weighted sums of the values", heads)
    check(heads, flow.matmul(weights, v), "matmul")
    return heads


def attention():
    title("Multi-head attention")
    x, output, *projections = random([2, 5, 12], [3, 4, 12], *[[12, 3, 4]] * 3)
    q, k, v = (flow.einsum("btc,chd->bhtd", x, weights) for weights in projections)
    heads = attend(q, k, v)
    result = flow.einsum("bhqd,hdc->bqc", heads, output)
    show("bhqd,hdc->bqc", "the output projection of all heads", result)
    joined = heads.transpose(1, 2).reshape(2, 5, 12)
    check(result, flow.matmul(joined, output.reshape(12, 12)), "matmul of the concatenated heads")


def tucker():
    title("Tucker decomposition")
    core, *factors = random([2, 3, 4], [7, 2], [8, 3], [9, 4])
    equation = "abc,ia,jb,kc->ijk"
    result = flow.einsum(equation, core, *factors)
    show(equation, "a tensor from a small core and a matrix per dimension", result)
    other = reduce(lambda part, factor: flow.tensordot(part, factor, [0], [1]), factors, core)
    check(result, other, "tensordot, one dimension at a time")
    path = flow.einsum_path(equation, core, *factors)
    print(f"    {path.flops:.0f} operations in the order that was found, {path.naive_flops:.0f} all at once")


def cp():
    title("CP decomposition")
    weights, a, b, c = random([3], [4, 3], [5, 3], [6, 3])
    result = flow.einsum("r,ir,jr,kr->ijk", weights, a, b, c)
    show("r,ir,jr,kr->ijk", "a tensor as a sum of r outer products", result)
    products = a.reshape(4, 1, 1, 3) * b.reshape(5, 1, 3) * c
    check(result, (products * weights).sum(dim=3), "broadcast products and sum")


SITES, BOND, PHYSICAL = 6, 3, 2


def random_state():
    """Returns a matrix product state: a tensor (left bond, physical, right bond) per site, with end bonds of 1."""
    ends = [1] + [BOND] * (SITES - 1) + [1]
    return random(*([ends[site], PHYSICAL, ends[site + 1]] for site in range(SITES)))


def whole_state(state):
    """Returns the state as one vector."""
    return reduce(lambda part, site: flow.tensordot(part, site, 1), state).flatten()


def overlap_equation():
    """Returns the equation of the overlap: the states share their physical labels, and each has its own bonds."""
    physical = "pqrstu"
    terms = [bonds[i] + physical[i] + bonds[i + 1] for bonds in ("abcdefg", "ABCDEFG") for i in range(SITES)]
    return ",".join(terms) + "->"


def tensor_network():
    title("A tensor network: the overlap of two matrix product states")
    equation = overlap_equation()
    x, y = random_state(), random_state()
    overlap = flow.einsum_expression(equation, *x, *y)
    print(overlap.report)
    in_order = flow.einsum_path(equation, *x, *y, optimize="none")
    print(f"  from left to right it would take {in_order.flops:.0f} operations\n")
    result = overlap(*x, *y)
    show(equation, "the overlap", result)
    check(result, flow.dot(whole_state(x), whole_state(y)), "dot of the whole states")
    norm = overlap(*x, *x)
    show(equation, "the same expression again, for the squared norm", norm)
    check(norm, (whole_state(x) ** 2).sum(), "a sum of squares")


def many_labels():
    title("More labels than letters")
    steps = [flow.tensor([[1, site % 3], [0, 1]]) for site in range(60)]
    arguments = [part for site, step in enumerate(steps) for part in (step, [site, site + 1])]
    result = flow.einsum(*arguments, [0, 60])
    print(f"  [0,1],[1,2],...,[59,60]->[0,60]: a product of 60 matrices: {result.tolist()}")
    check(result, reduce(flow.matmul, steps), "59 times matmul")


def main():
    flow.set_default_dtype("float64")
    flow.manual_seed(0)
    print("einsum: typical uses")
    diagonal_and_trace()
    matrix_products()
    forms()
    bilinear_layer()
    mahalanobis()
    attention()
    tucker()
    cp()
    tensor_network()
    many_labels()


main()
