"""Calls of collectives with what each rank passes, and what it must get: computed by PyTorch in this process."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import torch

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool")
_MERGES = {"sum": torch.add, "mean": torch.add, "max": torch.maximum, "min": torch.minimum, "prod": torch.mul}


@dataclass(frozen=True)
class Case:
    """A call of all ranks. `expected` has the result of each rank, None for ranks that take no part."""

    call: str
    inputs: tuple[torch.Tensor, ...]
    expected: tuple[torch.Tensor | None, ...]
    positional: tuple[int, ...] = ()
    options: dict[str, object] = field(default_factory=dict)
    ranks: tuple[int, ...] = ()  # of the group; empty: all
    is_async: bool = False
    gradient: bool = (
        False  # the results are gradients of the inputs, for weights that differ between elements and ranks
    )

    def as_json(self) -> dict[str, object]:
        """Returns what the drivers read."""
        return {
            "call": self.call,
            "inputs": [
                {"data": number_of(rank) if is_long(x) else x.flatten().tolist(), "shape": list(x.shape)}
                for rank, x in enumerate(self.inputs)
            ],
            "dtype": str(self.inputs[0].dtype).removeprefix("torch."),
            "positional": self.positional,
            "options": self.options,
            "ranks": self.ranks,
            "is_async": self.is_async,
            "gradient": self.gradient,
        }


def is_long(x: torch.Tensor) -> bool:
    """Returns whether drivers make an input of a number, and print the hash of a result."""
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
            yield Case("all_reduce", xs, same(merged(list(xs), op)), options={"op": op})
    for shape in ((), (1,), (0, 3), (7,), (4099,), (1031, 257)):
        xs = inputs(*shape)
        yield Case("all_reduce", xs, same(merged(list(xs), "sum")))
        yield Case("all_reduce", xs, same(merged(list(xs), "max")), options={"op": "max"}, is_async=True)
        root = size - 1
        yield Case("broadcast", xs, same(xs[root]), (root,))
        reduced = merged(list(xs), "prod")
        yield Case(
            "reduce",
            xs,
            tuple(reduced if rank == root else torch.zeros_like(reduced) for rank in range(size)),
            (root,),
            {"op": "prod"},
        )
    for dim, shape in ((0, (5, 3)), (1, (3, 5)), (-1, (2, 3, 1)), (0, (200_003,))):
        xs = inputs(*shape)
        total = merged(list(xs), "sum")
        parts = _parts(total, size, dim)
        yield Case("reduce_scatter", xs, parts, options={"dim": dim})
        yield Case("all_gather", xs, same(torch.cat(xs, dim)), options={"dim": dim})
        gathered = torch.cat(xs, dim)
        zeros = torch.zeros_like(gathered)
        yield Case("gather", xs, (gathered, *(zeros,) * (size - 1)), options={"dim": dim}, is_async=True)
        yield Case("scatter", xs, _parts(xs[0], size, dim), options={"dim": dim})
        yield Case("all_to_all", xs, _exchanged(xs, dim, 0), options={"split_dim": dim, "concat_dim": 0})
    uneven = tuple(_data((rank % 3, 2), "float64", generator) for rank in range(size))
    yield Case("all_gather", uneven, same(torch.cat(uneven)))
    yield Case("gather", uneven, (torch.cat(uneven), *(torch.zeros_like(torch.cat(uneven)),) * (size - 1)))
    yield from _in_groups(size, inputs)
    yield from _gradients(size, inputs)


def _exchanged(xs: tuple[torch.Tensor, ...], split: int, concat: int) -> tuple[torch.Tensor, ...]:
    size = len(xs)
    return tuple(torch.cat([_parts(x, size, split)[rank] for x in xs], concat) for rank in range(size))


def _in_groups(size: int, inputs: Callable[..., tuple[torch.Tensor, ...]]) -> Iterator[Case]:
    """Yields cases of groups: the last ranks, in reverse order."""
    if size < 3:
        return
    ranks = tuple(range(size - 1, 0, -1))
    text = f"{size - 1}-1" if size > 3 else "2,1"
    xs = inputs(6)
    total = merged([xs[rank] for rank in ranks], "sum")
    gathered = torch.cat([xs[rank] for rank in ranks])
    yield Case("all_reduce", xs, (None, *(total,) * (size - 1)), options={"group": text}, ranks=ranks)
    yield Case("all_gather", xs, (None, *(gathered,) * (size - 1)), options={"group": text}, ranks=ranks)
    yield Case("broadcast", xs, (None, *(xs[1],) * (size - 1)), (1,), {"group": text}, ranks)


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
        call: str, results: Callable[[list[torch.Tensor]], list[torch.Tensor]], *positional: int, **options: object
    ) -> Case:
        return Case(call, xs, gradients(results), positional, options, gradient=True)

    yield case("all_reduce", lambda x: [merged(x, "sum")] * size)
    yield replace(case("all_reduce", lambda x: [merged(x, "mean")] * size, op="mean"), is_async=True)
    yield case("all_gather", lambda x: [torch.cat(x, 1)] * size, dim=1)
    yield case("reduce_scatter", lambda x: list(_parts(merged(x, "sum"), size, 0)))
    yield case("reduce_scatter", lambda x: list(_parts(merged(x, "mean"), size, 1)), op="mean", dim=1)
    yield case("all_to_all", lambda x: list(_exchanged(tuple(x), 0, 1)), split_dim=0, concat_dim=1)
    yield case("broadcast", lambda x: [x[1]] * size, 1)
    zeros = torch.zeros_like(xs[0])
    yield case("reduce", lambda x: [merged(x, "mean"), *[zeros] * (size - 1)], op="mean")
    yield case("gather", lambda x: [torch.cat(x), *[torch.zeros(6 * size, 2, dtype=torch.float64)] * (size - 1)])
    yield case("scatter", lambda x: list(_parts(x[0], size, 0)))
