"""Calls of collectives with what each rank passes, and what it must get: computed by PyTorch in this process."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch

# Threads of PyTorch would keep processors from the ranks while they wait for work.
torch.set_num_threads(1)

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool")
_MERGES = {"sum": torch.add, "mean": torch.add, "max": torch.maximum, "min": torch.minimum, "prod": torch.mul}


@dataclass(frozen=True)
class Call:
    """What one rank calls."""

    name: str
    input: torch.Tensor
    positional: tuple[int, ...] = ()
    options: dict[str, object] = field(default_factory=dict)
    is_async: bool = False
    # The result is the gradient of the input, for weights that differ between elements and ranks.
    gradient: bool = False

    def as_json(self, rank: int) -> dict[str, object]:
        """Returns what the driver of a rank reads."""
        return {
            "call": self.name,
            "data": number_of(rank) if is_long(self.input) else self.input.flatten().tolist(),
            "shape": list(self.input.shape),
            "dtype": str(self.input.dtype).removeprefix("torch."),
            "positional": self.positional,
            "options": self.options,
            "is_async": self.is_async,
            "gradient": self.gradient,
        }


@dataclass(frozen=True)
class Case:
    """The call of each rank and its result, both None for ranks that take no part."""

    calls: tuple[Call | None, ...]
    expected: tuple[torch.Tensor | None, ...]


def _case(
    name: str,
    inputs: tuple[torch.Tensor, ...],
    expected: tuple[torch.Tensor | None, ...],
    *positional: int,
    is_async: bool = False,
    gradient: bool = False,
    **options: object,
) -> Case:
    """Returns a case in which all call the same, but for ranks that are expected to get nothing."""
    calls = [Call(name, x, positional, options, is_async, gradient) for x in inputs]
    return Case(tuple(None if y is None else call for call, y in zip(calls, expected, strict=True)), expected)


def is_long(x: torch.Tensor) -> bool:
    """Returns whether drivers make an input of a number, and write the hash of a result."""
    return x.numel() > 1000


def number_of(rank: int) -> int:
    """Returns the number that the elements of a long input follow from."""
    return 2 * rank + 1


def _long(shape: tuple[int, ...], dtype: str, rank: int) -> torch.Tensor:
    numbers = torch.arange(math.prod(shape)) * number_of(rank) % 4099
    return (numbers.to(getattr(torch, dtype)) / 7).reshape(shape)


def merged(tensors: list[torch.Tensor], op: str) -> torch.Tensor:
    """Combines tensors in the order of the ranks; halves in float32."""
    dtype = tensors[0].dtype
    is_half = dtype in (torch.float16, torch.bfloat16)
    total = tensors[0].float() if is_half else tensors[0]
    for each in tensors[1:]:
        total = _MERGES[op](total, each.float() if is_half else each)
    return (total / len(tensors) if op == "mean" else total).to(dtype)


def _data(shape: tuple[int, ...], dtype: str, generator: torch.Generator) -> torch.Tensor:
    if dtype == "bool":
        return torch.rand(shape, generator=generator) < 0.5
    if dtype in ("int64", "int32", "uint8"):
        return torch.randint(0, 5, shape, generator=generator).to(getattr(torch, dtype))
    # Sums of such numbers depend on the order in which they are added.
    return (torch.randn(shape, generator=generator) * 10).to(getattr(torch, dtype))


def _parts(x: torch.Tensor, count: int, dim: int) -> tuple[torch.Tensor, ...]:
    return torch.tensor_split(x, count, dim)


def cases(size: int) -> Iterator[Case]:
    """Yields cases for a number of ranks."""
    generator = torch.Generator().manual_seed(size)

    # Whatever the number of ranks, all of them have some megabytes together.
    large = 500_011 // size

    def inputs(*shape: int, dtype: str = "float32") -> tuple[torch.Tensor, ...]:
        if math.prod(shape) > 1000:
            return tuple(_long(shape, dtype, rank) for rank in range(size))
        return tuple(_data(shape, dtype, generator) for _ in range(size))

    def same(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (x,) * size

    for dtype in DTYPES:
        for op in _MERGES:
            if op == "mean" and dtype in ("int64", "int32", "uint8", "bool"):
                continue
            xs = inputs(3, 5, dtype=dtype)
            yield _case("all_reduce", xs, same(merged(list(xs), op)), op=op)
    for shape in ((), (1,), (0, 3), (7,), (4099,), (517, 129)):
        xs = inputs(*shape)
        yield _case("all_reduce", xs, same(merged(list(xs), "sum")))
        yield _case("all_reduce", xs, same(merged(list(xs), "max")), op="max", is_async=True)
        root = size - 1
        yield _case("broadcast", xs, same(xs[root]), root)
        reduced = merged(list(xs), "prod")
        zeros = torch.zeros_like(reduced)
        yield _case("reduce", xs, (*(zeros,) * root, reduced), root, op="prod")
    for dim, shape in ((0, (5, 3)), (1, (3, 5)), (-1, (2, 3, 1)), (0, (large,))):
        xs = inputs(*shape)
        total = merged(list(xs), "sum")
        yield _case("reduce_scatter", xs, _parts(total, size, dim), dim=dim)
        gathered = torch.cat(xs, dim)
        yield _case("all_gather", xs, same(gathered), dim=dim)
        zeros = torch.zeros_like(gathered)
        yield _case("gather", xs, (gathered, *(zeros,) * (size - 1)), dim=dim, is_async=True)
        yield _case("scatter", xs, _parts(xs[0], size, dim), dim=dim)
        yield _case("all_to_all", xs, _exchanged(xs, dim, 0), split_dim=dim, concat_dim=0)
    # The parts of two ranks are sent in pieces.
    xs = inputs(540_011)
    yield _case("all_reduce", xs, same(merged(list(xs), "sum")))
    yield from _uneven(size, large, generator)
    yield from _in_groups(size, inputs)
    yield from _transfers(size, large, inputs)
    yield from _gradients(size, inputs)


def _exchanged(xs: tuple[torch.Tensor, ...], split: int, concat: int) -> tuple[torch.Tensor, ...]:
    size = len(xs)
    return tuple(torch.cat([_parts(x, size, split)[rank] for x in xs], concat) for rank in range(size))


def _uneven(size: int, large: int, generator: torch.Generator) -> Iterator[Case]:
    """Yields cases in which ranks pass, or get, parts of different sizes."""
    small = tuple(_data((rank % 3, 2), "float64", generator) for rank in range(size))
    gathered = torch.cat(small)
    yield _case("all_gather", small, (gathered,) * size)
    yield _case("gather", small, (gathered, *(torch.zeros_like(gathered),) * (size - 1)))
    long = tuple(_long((large + rank,), "float32", rank) for rank in range(size))
    yield _case("all_gather", long, (torch.cat(long),) * size)

    counts = [rank % 3 for rank in range(size)]
    xs = tuple(_data((sum(counts), 2), "float32", generator) for _ in range(size))
    parts = [x.split(counts) for x in xs]

    def case(name: str, expected: tuple[torch.Tensor, ...], **options: object) -> Case:
        calls = [Call(name, x, options={**options, "part": count}) for x, count in zip(xs, counts, strict=True)]
        return Case(tuple(calls), expected)

    yield case("reduce_scatter", merged(list(xs), "sum").split(counts))
    yield case("scatter", parts[1], root=1)
    yield case("all_to_all", tuple(torch.cat(of_rank) for of_rank in zip(*parts, strict=True)))


def _in_groups(size: int, inputs: Callable[..., tuple[torch.Tensor, ...]]) -> Iterator[Case]:
    """Yields cases of groups, which are lists of ranks or texts."""
    xs = inputs(6)
    for ranks, group in (((0, 1), [0, 1]), ((1, 0), "1,0"), (tuple(range(size - 1, 0, -1)), f"{size - 1}-1")):

        def members(result: torch.Tensor, ranks: tuple[int, ...] = ranks) -> tuple[torch.Tensor | None, ...]:
            return tuple(result if rank in ranks else None for rank in range(size))

        of_members = [xs[rank] for rank in ranks]
        yield _case("all_reduce", xs, members(merged(of_members, "sum")), group=group)
        yield _case("all_gather", xs, members(torch.cat(of_members)), group=group)
        yield _case("broadcast", xs, members(xs[1]), 1, group=group)


def _transfers(size: int, large: int, inputs: Callable[..., tuple[torch.Tensor, ...]]) -> Iterator[Case]:
    """Yields cases in which rank 0 sends to rank 1."""

    def case(
        sent: torch.Tensor, received: torch.Tensor, of_sender: dict[str, object], of_receiver: dict[str, object]
    ) -> Case:
        others = (None,) * (size - 2)
        calls = Call("send", sent, (1,), of_sender), Call("recv", torch.zeros_like(received), (0,), of_receiver)
        return Case((*calls, *others), (sent, received, *others))

    long = inputs(large)[0]
    yield case(long, long, {}, {})
    first, second = inputs(5)[:2]
    # Tags are sequences of their own.
    yield case(first, second, {"tag": 7}, {})
    yield case(second, first, {}, {"tag": 7})


def _gradients(size: int, inputs: Callable[..., tuple[torch.Tensor, ...]]) -> Iterator[Case]:
    """Yields cases whose gradients autograd of this process computes: the sum of the losses of all ranks."""
    xs = inputs(6, 2, dtype="float64")

    def gradients(results: Callable[[list[torch.Tensor]], list[torch.Tensor]]) -> tuple[torch.Tensor, ...]:
        leaves = [x.clone().requires_grad_() for x in xs]
        loss = torch.zeros((), dtype=torch.float64)
        for rank, result in enumerate(results(leaves)):
            weights = torch.arange(result.numel(), dtype=torch.float64).reshape(result.shape) + rank
            loss = loss + (result * weights).sum()
        loss.backward()
        return tuple(x.grad if x.grad is not None else torch.zeros_like(x) for x in leaves)

    def case(
        name: str, results: Callable[[list[torch.Tensor]], list[torch.Tensor]], *positional: int, **options: object
    ) -> Case:
        return _case(name, xs, gradients(results), *positional, gradient=True, **options)

    yield case("all_reduce", lambda x: [merged(x, "sum")] * size)
    yield case("all_reduce", lambda x: [merged(x, "mean")] * size, op="mean", is_async=True)
    yield case("all_gather", lambda x: [torch.cat(x, 1)] * size, dim=1)
    yield case("reduce_scatter", lambda x: list(_parts(merged(x, "sum"), size, 0)))
    yield case("reduce_scatter", lambda x: list(_parts(merged(x, "mean"), size, 1)), op="mean", dim=1)
    yield case("all_to_all", lambda x: list(_exchanged(tuple(x), 0, 1)), split_dim=0, concat_dim=1)
    yield case("broadcast", lambda x: [x[1]] * size, 1)
    zeros = torch.zeros_like(xs[0])
    yield case("reduce", lambda x: [merged(x, "mean"), *[zeros] * (size - 1)], op="mean")
    yield case("gather", lambda x: [torch.cat(x), *[torch.zeros(6 * size, 2, dtype=torch.float64)] * (size - 1)])
    yield case("scatter", lambda x: list(_parts(x[0], size, 0)))
