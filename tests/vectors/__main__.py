"""Writes tests/generated/vectors/<operator>.json for every record with an oracle.

Usage: python -m tests.vectors [OPERATOR...]. Recomputes a file only if its record or this package has changed.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from codegen.definitions import Definitions
from codegen.dtypes import ResultRule
from codegen.kinds.composite import Composite
from codegen.kinds.contraction import Contraction
from codegen.kinds.fold import Fold
from codegen.kinds.view import View
from codegen.load import load
from codegen.model import Op
from tests.vectors import calls, encode, equations, oracle, sample
from tests.vectors.layouts import LAYOUTS, LaidOut, contiguous

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "tests" / "generated" / "vectors"

MAX_LAID_OUT = 512  # elements of the tensors of cases that are repeated in all layouts

# Relative and absolute tolerance per result dtype; other dtypes are compared exactly.
TOLERANCES = {
    torch.float64: (1e-14, 1e-15),
    torch.float32: (1.5e-6, 5e-7),
    torch.float16: (1e-3, 1e-6),
    torch.bfloat16: (8e-3, 1e-6),
    torch.complex128: (1e-14, 1e-14),  # the parts of products are differences, hence the larger absolute tolerance
    torch.complex64: (1.5e-6, 5e-6),
}


def laid_out(op: Op, arguments: calls.Arguments, layout: str) -> calls.Arguments | None:
    """Returns the arguments with all tensors in a layout, or None if it applies to none of them.

    Tensors that it does not apply to stay contiguous.
    """
    applied = False

    def lay_out(value: Any, written: bool) -> Any:
        nonlocal applied
        if isinstance(value, torch.Tensor):
            value = value.contiguous()
            laid = None if written and layout == "expanded" else LAYOUTS[layout](value)
            applied = applied or laid is not None
            return laid or contiguous(value)
        if isinstance(value, list) and any(isinstance(each, torch.Tensor) for each in value):
            return [lay_out(each, written) if each is not None else None for each in value]
        return value

    laid = {}
    for name, value in arguments.items():
        argument = op.signature.argument(name)
        laid[name] = lay_out(value, bool(argument and argument.alias and argument.alias.written))
    return laid if applied else None


def depends_on_storage(op: Op) -> bool:
    """Returns whether the result depends on the storage of the input, and not only on its elements."""
    return isinstance(op.kind, View) and "as_strided" in op.kind.maps


def values_of(value: Any) -> Any:
    if isinstance(value, LaidOut):
        return value.values
    if isinstance(value, list):
        return [values_of(each) for each in value]
    return value


def variants(op: Op, definitions: Definitions) -> Iterator[tuple[str, str, calls.Arguments]]:
    """Yields the name, form and arguments, with tensors laid out, of each case of a record."""
    base: list[tuple[str, calls.Arguments]] = []
    for name, arguments in calls.recorded(op, definitions):
        base.append((name, arguments))
        for dtype in calls.general_dtypes(op):
            base.append((f"{name}/{encode.DTYPE_NAMES[dtype]}", calls.recast(op, arguments, dtype)))
    base += calls.drawn(op)
    if op.takes_equation and {a.name for a in op.signature.arguments if not a.has_default} == equations.REQUIRED:
        for name, arguments in equations.drawn():
            yield name, "function", arguments

    laid_names: set[str] = set()
    for name, arguments in base:
        plain = laid_out(op, arguments, "contiguous") or arguments
        yield name, "function", plain
        first = next(tensors_in(arguments), None)
        if first is None and op.has_out:
            yield f"{name}/out", "out", plain
        is_small = all(each.numel() <= MAX_LAID_OUT for each in tensors_in(arguments))
        call = "/".join(name.split("/")[:2]) if name.startswith("recorded/") else name
        if first is not None and is_small and (call not in laid_names or first.dtype == torch.int32):
            laid_names.add(call)
            for layout in [] if depends_on_storage(op) else list(LAYOUTS)[1:]:
                if (laid := laid_out(op, arguments, layout)) is not None:
                    yield f"{name}/{layout}", "function", laid
            if op.receiver is not None and isinstance(arguments.get("input"), torch.Tensor):
                yield f"{name}/method", "method", plain
            if op.has_out:
                yield f"{name}/out", "out", plain
            if op.replaced is not None:
                yield f"{name}/in_place", "in_place", plain


def tensors_in(arguments: calls.Arguments) -> Iterator[torch.Tensor]:
    for value in arguments.values():
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, torch.Tensor))


def can_be_in_place(op: Op, arguments: calls.Arguments, results: tuple[torch.Tensor, ...]) -> bool:
    """Returns whether the results have the shapes and dtypes of the tensors that they overwrite."""
    assert op.replaced is not None
    replaced = arguments[op.replaced.name]
    own = replaced if isinstance(replaced, list) else [replaced]
    return all(
        isinstance(x, torch.Tensor) and x.shape == result.shape and x.dtype == result.dtype
        for x, result in zip(own, results, strict=True)
    )


def as_declared(op: Op, arguments: calls.Arguments, results: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Returns the results converted to the dtype of the record's rule, where that is easily determined.

    The oracle has exceptions: PyTorch's `all` of uint8 is uint8, and its einsum of one operand is int64 for smaller
    integers. The dtypes of a composite follow from its calls.
    """
    if isinstance(op.kind, Composite):
        return results
    types = {each.dtype for each in tensors_in(arguments)}
    declared = {ResultRule.BOOL: torch.bool, ResultRule.INT64: torch.int64}
    if isinstance(op.kind, Contraction) and len(types) == 1:
        declared[ResultRule.PROMOTE] = types.pop()
    rules = op.dtype.results * len(results) if op.signature.gives_list else op.dtype.results
    return tuple(each.to(declared.get(rule, each.dtype)) for each, rule in zip(results, rules, strict=True))


def case(op: Op, name: str, form: str, arguments: calls.Arguments, skipped: Counter[str]) -> dict[str, Any] | None:
    """Returns a case, or None if the oracle rejects the call, which `skipped` counts, or the result cannot be in place.

    The oracle rejects a call by raising an exception of any of these classes, mostly for a dtype without a kernel. It
    raises ValueError for an arange whose step is truncated to 0 for an integer dtype. UserWarning, which main() turns
    into an error, is for the loss of imaginary parts, which oneflow rejects as well.
    """
    plain = {key: values_of(value) for key, value in arguments.items()}
    try:
        results = as_declared(op, plain, oracle.exact(op, plain))
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, UserWarning) as error:
        skipped[str(error).splitlines()[0]] += 1
        return None
    if form == "in_place" and not can_be_in_place(op, plain, results):
        return None
    relative, absolute = max((TOLERANCES.get(each.dtype, (0.0, 0.0)) for each in results), default=(0.0, 0.0))
    if isinstance(op.kind, Fold | Contraction):
        absolute *= 20  # the error of a sum is proportional to its largest partial sum, not to the sum
    types = {argument.name: argument.type for argument in op.signature.arguments}
    return {
        "name": name,
        "arguments": {key: encode.argument(value, types[key]) for key, value in arguments.items()},
        "results": [encode.result(each) for each in results],
        "relative": relative,
        "absolute": absolute,
        "form": form,
    }


def fingerprint(op: Op) -> str:
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256(sources + repr(op).encode()).hexdigest()


def main(names: list[str]) -> int:
    warnings.filterwarnings("ignore")
    warnings.filterwarnings("error", "Casting complex values to real")  # oneflow rejects such casts
    torch.set_warn_always(True)
    definitions = load(sorted((ROOT / "opdefs").glob("*.yaml")), ROOT)
    ops = [op for op in definitions.ops if op.oracle and (not names or op.full_name in names)]
    TARGET.mkdir(parents=True, exist_ok=True)
    total = 0
    for position, op in enumerate(ops):
        path = TARGET / f"{op.full_name}.json"
        key = fingerprint(op)
        if path.exists() and json.loads(path.read_text())["fingerprint"] == key:
            continue
        skipped: Counter[str] = Counter()
        made = [case(op, *variant, skipped) for variant in variants(op, definitions)]
        cases = [each for each in made if each is not None]
        sample.mark(op.full_name, cases)
        total += len(cases)
        content = {"op": op.full_name, "function": op.name, "fingerprint": key, "cases": cases}
        path.write_text(json.dumps(content, separators=(",", ":")) + "\n")
        if sys.stderr.isatty() or position % 25 == 24:
            print(f"\rvectors: {position + 1} of {len(ops)} records", end="", file=sys.stderr, flush=True)
        if not cases:
            print(f"\n{op.full_name}: no case; the oracle raised {skipped.most_common(3)}", file=sys.stderr)
            return 1
        if names and skipped:
            print(f"\n{op.full_name}: cases that the oracle rejects: {dict(skipped)}", file=sys.stderr)
    known = {f"{op.full_name}.json" for op in definitions.ops if op.oracle}
    for stale in TARGET.glob("*.json"):
        if stale.name not in known:
            stale.unlink()
    print(f"\nvectors: {total} cases computed in {TARGET.relative_to(ROOT)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
