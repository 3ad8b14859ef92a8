"""Gradients of operators, computed by PyTorch's own backward passes over the oracles.

Usage: python -m tests.vectors.gradients [OPERATOR...]. Writes tests/generated/gradients/<operator>.json for every
record with a gradient and an oracle that PyTorch can differentiate. The cases have the form of the other vectors
(docs/reference/vectors.md), with `weights`, the gradients of the results, and `gradients`, those of the arguments.
"""

from __future__ import annotations

import itertools
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from codegen.definitions import Definitions
from codegen.load import load
from codegen.model import Op
from tests.vectors import calls, encode, equations, oracle
from tests.vectors.__main__ import fingerprint, laid_out, tensors_in, values_of

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "tests" / "generated" / "gradients"

# The dtype of the operands, with the tolerances of the gradients.
DTYPES = {torch.float64: (1e-9, 1e-11), torch.float32: (2e-5, 2e-6), torch.complex128: (1e-9, 1e-10)}
# The merges of collectives that have none.
WITHOUT_GRADIENT = ("prod", "max", "min")
# Points at which functions have a kink, or their derivatives are extreme.
KINKS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 30.0, -30.0, 100.0, -100.0, 1e-12, -1e-12)


def candidates(op: Op, definitions: Definitions) -> Iterator[tuple[str, calls.Arguments]]:
    """Yields calls of a record, whose tensors have any dtype."""
    yield from calls.recorded(op, definitions)
    for name, arguments in calls.drawn(op):
        if any(each.dtype in DTYPES for each in tensors_in(arguments)) and not name.endswith("special"):
            yield name, arguments
    operands = [a.name for a in op.signature.tensor_arguments if a.name not in op.dtype.accepts]
    if op.kind.key == "elementwise" and len(operands) == len(op.signature.tensor_arguments) == 1:
        points = [point for point in KINKS if is_defined(op, operands[0], point)]
        yield "kinks", {operands[0]: torch.tensor(points, dtype=torch.float64)}
    if op.takes_equation and {a.name for a in op.signature.arguments if not a.has_default} == equations.REQUIRED:
        for name, arguments in itertools.islice(equations.drawn(), 200):
            yield name, {key: values_of(value) for key, value in arguments.items()}


def is_defined(op: Op, operand: str, point: float) -> bool:
    """Returns whether PyTorch has one gradient at a point; the sign of logit's at -0 depends on the element's place."""
    found = []
    for count in (1, 16):
        leaf = torch.full((count,), point, dtype=torch.float64, requires_grad=True)
        try:
            (result,) = oracle.call(op, {operand: leaf})
            found.append(torch.autograd.grad(result.sum(), leaf)[0][0])
        except (RuntimeError, IndexError, TypeError, ValueError, UserWarning):
            return True  # the whole case is left out later
    return bool(torch.isclose(*found, equal_nan=True))


def differentiated(op: Op, name: str, arguments: calls.Arguments) -> dict[str, Any] | None:
    """Returns a case, or None if PyTorch has no gradient for it."""
    plain = {key: values_of(value) for key, value in arguments.items()}
    random = calls.generator(op.full_name, name, "weights")
    leaves: dict[str, Any] = {}
    kept = {a.name for a in op.signature.arguments if a.alias and a.alias.written and a is not op.returned}
    for key, value in plain.items():
        if key in kept:  # no leaf, because it is overwritten
            continue
        if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
            leaves[key] = value.detach().clone().requires_grad_()
        elif isinstance(value, list) and value and all(isinstance(each, torch.Tensor) for each in value):
            leaves[key] = [
                each.detach().clone().requires_grad_(each.is_floating_point() or each.is_complex()) for each in value
            ]
    flat = [each for value in leaves.values() for each in (value if isinstance(value, list) else [value])]
    wanted = [each for each in flat if each.requires_grad]
    if not wanted:
        return None
    try:
        results = oracle.call(op, plain | leaves)
        roots = [each for each in results if each.requires_grad]
        weights = [calls.random_tensor(tuple(each.shape), each.dtype, random) for each in results]
        pairs = [(each, weight) for each, weight in zip(results, weights, strict=True) if each.requires_grad]
        if not roots:
            return None
        found = torch.autograd.grad([a for a, _ in pairs], wanted, [b for _, b in pairs], allow_unused=True)
    except (RuntimeError, IndexError, TypeError, ValueError, UserWarning):  # not defined, or not known to PyTorch
        return None
    if any(each is not None and each.is_complex() and not each.isfinite().all() for each in found):
        return None  # at a pole, or a point where PyTorch's formula is not defined
    grads = iter([torch.zeros_like(leaf) if each is None else each for leaf, each in zip(wanted, found, strict=True)])

    def encoded(value: Any) -> Any:
        if isinstance(value, list):
            return [encoded(each) for each in value]
        return encode.result(next(grads)) if value.requires_grad else None

    tensors = [*wanted, *results, *tensors_in(plain)]
    relative, absolute = max(DTYPES.get(each.dtype, (0.0, 0.0)) for each in tensors)
    types = {argument.name: argument.type for argument in op.signature.arguments}
    return {
        "name": name,
        "arguments": {key: encode.argument(value, types[key]) for key, value in arguments.items()},
        "weights": [encode.result(each) for each in weights],
        "differentiable": [each.requires_grad for each in results],
        "gradients": {key: encoded(value) for key, value in leaves.items()},
        "relative": relative,
        "absolute": absolute * max(1, max((each.numel() for each in wanted), default=1) ** 0.5),
    }


def with_imaginary_parts(cast: calls.Arguments, arguments: calls.Arguments) -> calls.Arguments:
    """Returns arguments in which tensors that were real have imaginary parts if they are complex now."""

    def complete(new: Any, old: Any) -> Any:
        if isinstance(new, list) and isinstance(old, list):
            return [complete(a, b) for a, b in zip(new, old, strict=True)]
        is_cast = isinstance(new, torch.Tensor) and new.is_complex() and not old.is_complex()
        return new * (1 - 0.5j) if is_cast else new

    return {name: complete(each, arguments.get(name)) for name, each in cast.items()}


def cases(op: Op, definitions: Definitions) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for name, arguments in candidates(op, definitions):
        for dtype in DTYPES:
            if dtype not in calls.general_dtypes(op):
                continue
            if not dtype.is_complex and any(each.is_complex() for each in tensors_in(arguments)):
                continue
            cast = with_imaginary_parts(calls.recast(op, arguments, dtype), arguments)
            label = f"{name}/{encode.DTYPE_NAMES[dtype]}"
            if arguments.get("op") in WITHOUT_GRADIENT or label in seen:
                continue
            if arguments.get("dtype") in (torch.float16, torch.bfloat16):  # the oracle rounds by hand
                continue
            if any(each.numel() > 600 for each in tensors_in(cast)):
                continue
            seen.add(label)
            laid = laid_out(op, cast, "contiguous") or cast
            if (made := differentiated(op, label, laid)) is not None:
                yield made


def main(names: list[str]) -> int:
    warnings.filterwarnings("ignore")
    warnings.filterwarnings("error", "Casting complex values to real")  # oneflow rejects such casts
    torch.set_warn_always(True)
    definitions = load(sorted((ROOT / "opdefs").glob("*.yaml")), ROOT)
    TARGET.mkdir(parents=True, exist_ok=True)
    total = 0
    for op in definitions.ops:
        if not op.oracle or op.is_detached or (names and op.full_name not in names):
            continue
        path = TARGET / f"{op.full_name}.json"
        key = fingerprint(op)
        if path.exists() and json.loads(path.read_text())["fingerprint"] == key:
            continue
        made = list(cases(op, definitions))
        if made:
            total += len(made)
            content = {"op": op.full_name, "function": op.name, "fingerprint": key, "cases": made}
            path.write_text(json.dumps(content, separators=(",", ":")) + "\n")
    print(f"gradients: {total} cases computed in {TARGET.relative_to(ROOT)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
