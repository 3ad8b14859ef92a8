"""The gradients of folds, by the algebra that combines their states."""

from __future__ import annotations

from codegen.as_program import OperatorTable
from codegen.derivative import ONE, UnknownDerivative, derivative, multiplied
from codegen.expression import Node, Variable
from codegen.kinds.fold_parts import Parts
from codegen.kinds.programs import derived
from codegen.model import Op
from codegen.program import Program

# The elements that are equal to the result share its gradient; if there are elements that are NaN, so is the result.
_EQUAL = """\
equal = logical_or(eq(input, reshape(result, kept)), isnan(input))
return where(equal, div(reshape(grad, kept), sum(equal, {dims}, True)), 0)"""

# The element at the position that the second result gives has the gradient.
_AT_POSITION = """\
shape = [size(input, dim) if d == {dim} else 1 for d in range(rank(input))]
positions = reshape(arange(product(shape), device=device(input)), shape)
return where(eq(positions, reshape({position}, kept)), reshape({grad}, kept), 0)"""


def reduction_adjoint(op: Op, parts: Parts, dims: str | None, operators: OperatorTable) -> Program:
    """Returns the program for the gradient of the input of a reduction over the argument `dims`; None: all."""
    kept = f"kept = kept_sizes(input{f', {dims}' if dims else ''})"
    match parts.algebra:
        case "sum":
            return derived(f"{kept}\n{_of_sum(op, parts, operators)}", op)
        case "max" | "min" if len(parts.post) == 1:
            return derived(f"{kept}\n{_EQUAL.format(dims=dims or '[]')}", op)
        case "first_max" | "first_min" if dims and len(parts.post) == 2:
            grad, position = op.signature.gradient_names[0], op.signature.result_names[1]
            return derived(f"{kept}\n{_AT_POSITION.format(dim=dims, grad=grad, position=position)}", op)
    raise UnknownDerivative(f"the algebra {parts.algebra} has none")


def _of_sum(op: Op, parts: Parts, operators: OperatorTable) -> str:
    """Returns the lines for `post(sum of of(input))`: by the chain rule, the sum itself only repeats a gradient."""
    (post,) = parts.post
    outer = multiplied(Variable("grad"), derivative(post.root, "total", "result"))
    inner = derivative(parts.pre["total"].root, "input")
    lines = ["count = numel(input) // max(product(kept), 1)"] if _reads(outer, "count") else []
    outside = f"reshape({operators.print(outer)}, kept)"
    if inner == ONE:
        return "\n".join([*lines, f"return expand({outside}, sizes(input))"])
    return "\n".join([*lines, f"return mul({outside}, {operators.print(inner)})"])


def _reads(node: Node, name: str) -> bool:
    return any(each == Variable(name) for each in node.walk())


def scan_adjoint(op: Op, parts: Parts, dim: str) -> Program:
    """Returns the program for the gradient of the input of a scan: a scan from the other end."""
    if parts.algebra == "sum" and [each.root for each in parts.post] == [Variable("total")]:
        return derived(f"flip(cumsum(flip(grad, [{dim}]), {dim}), [{dim}])", op)
    raise UnknownDerivative(f"the algebra {parts.algebra} has none")
