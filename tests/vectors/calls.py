"""The calls that vectors are computed from: those of the record, and random ones for kinds that take any shape."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from typing import Any

import torch

from codegen import base_types
from codegen.definitions import Definitions
from codegen.dtypes import DTypeSet
from codegen.examples import Call, Name, TensorLiteral
from codegen.kinds.collective import Collective
from codegen.kinds.elementwise import Elementwise
from codegen.kinds.fold import Fold
from codegen.kinds.generator import Generator
from codegen.kinds.reduction import Reduction
from codegen.model import Op
from tests.vectors import oracle

Arguments = dict[str, Any]

_COMPUTED = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
_SETS = {
    DTypeSet.ANY: _COMPUTED,
    DTypeSet.NUMERIC: _COMPUTED[1:],
    DTypeSet.FLOATING: _COMPUTED[6:],
    DTypeSet.INTEGRAL: _COMPUTED[:6],
    DTypeSet.BOOL: ("bool",),
    DTypeSet.INDEX: ("int64", "int32"),
}

# Operand shapes of an elementwise call: equal, broadcast in both directions, 0-d, empty, longer than a SIMD vector.
_BROADCASTS: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((2, 3), (2, 3), (2, 3)),
    ((2, 3), (3,), (1,)),
    ((2, 1), (1, 3), ()),
    ((), (), ()),
    ((0, 3), (1, 3), (3,)),
    ((3, 67), (67,), (3, 1)),
)
_FOLDED = ((3, 4, 5), (70, 130), (), (0, 3), (1, 1))


def dtypes_of(op: Op, argument: str) -> tuple[torch.dtype, ...]:
    """Returns the dtypes that an argument accepts, without those that operators do not compute with."""
    accepts = op.dtype.accepts.get(argument, op.dtype.accepts.get("", DTypeSet.ANY))
    takes_complex = op.takes_complex and accepts.may_be_floating
    return tuple(getattr(torch, name) for name in (*_SETS[accepts], *_COMPLEX[: 2 * takes_complex]))


def generator(*key: object) -> torch.Generator:
    """Returns a random number generator seeded with the key."""
    return torch.Generator().manual_seed(zlib.crc32(repr(key).encode()))


def random_tensor(
    shape: tuple[int, ...], dtype: torch.dtype, random: torch.Generator, *, positive: bool = False
) -> torch.Tensor:
    """Returns small random numbers, of both signs if the dtype is signed. With `positive`, integers are not zero."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=random).bool()
    if dtype.is_complex:
        return (torch.randn(shape, generator=random, dtype=torch.complex128) * 2).to(dtype)
    if dtype.is_floating_point:
        return (torch.randn(shape, generator=random, dtype=torch.float64) * 2).to(dtype)
    low = 1 if positive else (0 if dtype == torch.uint8 else -7)
    return torch.randint(low, 6, shape, generator=random).to(dtype)


def evaluate(value: Any, definitions: Definitions) -> Any:
    """Converts a value of a model call to an argument of the oracle."""
    match value:
        case TensorLiteral(values=values, dtype=dtype):
            made = torch.tensor(values)
            return made.to(getattr(torch, dtype)) if dtype else made
        case Name(name=name):
            return getattr(torch, name)
        case Call():
            op = definitions.by_name[value.record]
            if op.oracle is None:
                raise NotImplementedError(f"{value.record} has no oracle")
            return oracle.call(op, arguments_of(value, definitions))[0]
        case tuple():
            return [evaluate(each, definitions) for each in value]
    return value


def arguments_of(call: Call, definitions: Definitions) -> Arguments:
    """Returns the arguments of a call by name."""
    op = definitions.by_name[call.record]
    positional = [a.name for a in op.signature.arguments if not a.keyword_only]
    named = itertools.chain(zip(positional, call.positional, strict=False), call.keywords)
    return {name: evaluate(value, definitions) for name, value in named}


def recorded(op: Op, definitions: Definitions) -> Iterator[tuple[str, Arguments]]:
    """Yields the examples and cases of the record."""
    for position, call in enumerate([*(example.call for example in op.examples), *op.cases]):
        if call.record == op.full_name:
            yield f"recorded/{position}", arguments_of(call, definitions)


def recast(op: Op, arguments: Arguments, dtype: torch.dtype) -> Arguments:
    """Returns the arguments in another dtype.

    Converts the tensors without an `accepts` rule of their own. Without tensors, requests a result of that dtype.
    """
    changed = dict(arguments)
    if not op.signature.tensor_arguments and op.dtype.override:
        changed[op.dtype.override] = dtype
    for argument in op.signature.tensor_arguments:
        value = changed.get(argument.name)
        if argument.name in op.dtype.accepts or dtype not in dtypes_of(op, argument.name):
            continue
        if isinstance(value, torch.Tensor):
            if dtype.is_complex or not value.is_complex():  # complex tensors are not converted to real ones
                changed[argument.name] = value.to(dtype)
        elif isinstance(value, list) and not argument.type.optional_members:
            changed[argument.name] = [each.to(dtype) for each in value]
    return changed


def general_dtypes(op: Op) -> tuple[torch.dtype, ...]:
    return dtypes_of(op, "") if op.signature.tensor_arguments or op.dtype.override else ()


def drawn(op: Op) -> Iterator[tuple[str, Arguments]]:
    """Yields calls with random operands, for kinds that take any shape."""
    match op.kind:
        case Elementwise() | Generator() if op.signature.tensor_arguments:
            yield from _elementwise(op)
        case Fold():
            yield from _folding(op)
        case Collective():
            yield from _collective(op)


def _attributes(op: Op) -> Iterator[tuple[str, Arguments]]:
    """Yields a value for each required argument that is not a tensor, once per value of a matched attribute."""
    required = {}
    for argument in op.signature.arguments:
        if not argument.type.is_tensor and not argument.has_default:
            required[argument.name] = {base_types.NUMBER: 2, base_types.DTYPE: torch.float32, base_types.STR: ""}.get(
                argument.type.base, 0
            )
    match_ = op.kind.matched
    if match_ is None or op.signature.argument(match_).type.base is not base_types.STR:  # type: ignore[union-attr]
        yield "", required
        return
    for value in op.kind.matched_values:
        yield f"{value}/", {**required, match_: value}


def _elementwise(op: Op) -> Iterator[tuple[str, Arguments]]:
    tensors = op.signature.tensor_arguments
    for prefix, attributes in _attributes(op):
        for position, shapes in enumerate(_BROADCASTS):
            for dtype in general_dtypes(op):
                random = generator(op.full_name, prefix, position, dtype)
                arguments: Arguments = {}
                for rank, (argument, shape) in enumerate(zip(tensors, shapes, strict=False)):
                    own = dtype if argument.name not in op.dtype.accepts else dtypes_of(op, argument.name)[0]
                    arguments[argument.name] = random_tensor(shape, own, random, positive=rank > 0)
                yield f"{prefix}drawn/{position}", arguments | attributes
        yield from ((f"{prefix}{name}", arguments | attributes) for name, arguments in _special(op))
        yield from ((f"{prefix}{name}", arguments | attributes) for name, arguments in _weak(op))


def _special(op: Op) -> Iterator[tuple[str, Arguments]]:
    """Yields calls with NaN, infinities, zeros of both signs, subnormal and huge numbers, in all pairs."""
    values = [
        float("nan"),
        float("inf"),
        -float("inf"),
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        1e-40,
        3e38,
        20.0,
        -20.0,
        100.0,
        -100.0,
    ]
    operands = [a for a in op.signature.tensor_arguments if a.name not in op.dtype.accepts]
    for dtype in (torch.float32, torch.float64):
        if dtype in general_dtypes(op) and len(operands) == len(op.signature.tensor_arguments) <= 2:
            pairs = torch.tensor(values, dtype=dtype)
            shapes = ((-1, 1), (1, -1)) if len(operands) == 2 else ((-1,),)
            yield "special", {a.name: pairs.reshape(shape) for a, shape in zip(operands, shapes, strict=True)}


def _weak(op: Op) -> Iterator[tuple[str, Arguments]]:
    """Yields calls with a number as the second operand, and with mixed dtypes."""
    tensors = op.signature.tensor_arguments
    if len(tensors) != 2 or any(a.type.base is not base_types.OPERAND for a in tensors):
        return
    first, second = tensors
    general = general_dtypes(op)
    for dtype in general:
        x = random_tensor((2, 3), dtype, generator(op.full_name, "weak", dtype))
        for number in (True, 3, 2.5):
            kind = {True: torch.bool, 3: torch.int64, 2.5: torch.float32}[number]
            if kind in general:
                yield f"number/{number}", {first.name: x, second.name: number}
        for other in general:
            random = generator(op.full_name, dtype, other)
            yield "mixed", {first.name: x, second.name: random_tensor((3,), other, random, positive=True)}
            yield "mixed with 0-d", {first.name: x, second.name: random_tensor((), other, random, positive=True)}


def _collective(op: Op) -> Iterator[tuple[str, Arguments]]:
    """Yields calls with one to five ranks, whose parts are larger, smaller or empty."""
    assert isinstance(op.kind, Collective)
    (tensors,) = op.signature.tensor_arguments
    values = [{op.kind.match: value} for value in op.kind.merges] if op.kind.match else [{}]
    for count, shape in enumerate(((2, 3), (7, 2), (3, 5, 4), (0, 3), (301,)), 1):
        for dtype, attributes in itertools.product(general_dtypes(op), values):
            random = generator(op.full_name, count, dtype)
            ranks = [random_tensor(shape, dtype, random) for _ in range(count)]
            arguments: Arguments = {tensors.name: ranks if tensors.type.is_list else ranks[0]}
            for argument in op.signature.arguments:
                if argument.type.base is base_types.DEVICE and argument.type.is_list:
                    arguments[argument.name] = ["cpu"] * count
                elif argument.type.base is base_types.DIM:
                    arguments[argument.name] = len(shape) - 1
            yield "/".join(["drawn", str(count), *map(str, attributes.values())]), arguments | attributes


def _folding(op: Op) -> Iterator[tuple[str, Arguments]]:
    dims_name = op.kind.folded
    dims = op.signature.argument(dims_name) if dims_name else None
    for shape, dtype in itertools.product(_FOLDED, general_dtypes(op)):
        if len(shape) == 2 and shape[0] == 70 and dtype not in (torch.float32, torch.int32, torch.bool):
            continue
        x = random_tensor(shape, dtype, generator(op.full_name, shape, dtype))
        choices: list[Any] = [] if dims is None else [0, -1]
        if dims is None or dims.has_default:
            choices.append(None)
        if dims is not None and dims.type.is_list and len(shape) > 1:
            choices += [[0, -1], list(range(len(shape)))]
        for choice in choices:
            for keep in (False, True) if isinstance(op.kind, Reduction) and op.kind.keepdim else (False,):
                arguments: Arguments = {"input": x}
                if choice is not None:
                    arguments[dims_name] = choice  # type: ignore[index]
                if keep and (choice is not None or (dims is not None and dims.type.is_list)):
                    arguments[op.kind.keepdim] = True  # type: ignore[union-attr, index]
                yield f"folded/{'x'.join(map(str, shape))}/{choice}", arguments
