"""Trials of rules: the left side of a rule with random variables, as a function of tensors."""

from __future__ import annotations

import ast
import math
import random
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import oneflow_py as flow
from codegen import base_types
from codegen.definitions import Rule
from codegen.load import definition_files, load

ROOT = Path(__file__).parents[2]

# How the elements of a tensor are filled. The last ones are for rules that change no bit.
FILLS = ("normal", "zeros", "ones", "large", "small", "negative", "mixed")
EXACT_FILLS = (*FILLS, "special")


@cache
def rules() -> dict[str, Rule]:
    """Returns all rules by their names."""
    return {rule.name: rule for rule in load(definition_files(ROOT), ROOT).rules}


@dataclass
class Trial:
    """One choice of the variables of a rule."""

    rule: Rule
    dtype: flow.dtype
    values: dict[str, Any]  # of all variables
    dynamic: dict[str, list[str | None]]  # the sizes of inputs that can vary

    @property
    def inputs(self) -> dict[str, flow.Tensor]:
        """Returns the tensors that are no constants."""
        return {
            name: value
            for name, value in self.values.items()
            if isinstance(value, flow.Tensor) and name not in self.rule.constants
        }

    def left(self) -> Callable[..., flow.Tensor]:
        """Returns the negated left side as a function of the inputs."""
        function = _function(self.rule)
        fixed = {name: value for name, value in self.values.items() if name not in self.inputs}
        names = list(self.inputs)
        # A graph returns no tensor of the caller, so that a result which is an input must be used.
        return lambda *tensors: flow.neg(function(**fixed, **dict(zip(names, tensors, strict=True))))

    def wider(self) -> Trial:
        """Returns the same trial in float64, where no number leaves the range."""
        wide = {n: v.to(flow.float64) if isinstance(v, flow.Tensor) else v for n, v in self.values.items()}
        return Trial(self.rule, flow.float64, wide, self.dynamic)


def _function(rule: Rule) -> Callable[..., flow.Tensor]:
    """Compiles the left side of a rule, whose operators are those of the package."""
    lines = rule.left if "return" in rule.left else f"return {rule.left}"
    names = ", ".join(argument.name for argument in rule.op.signature.arguments)
    scope: dict[str, Any] = {
        call.op.name.partition(".")[0]: getattr(flow, call.op.name.partition(".")[0]) for call in rule.calls
    }
    exec(f"def left({names}):\n{textwrap.indent(lines, '    ')}", scope)
    return scope["left"]


def extreme_numbers(dtype: flow.dtype) -> tuple[float, ...]:
    """Returns numbers that are not finite, zeros, the smallest numbers, normal or not, and large ones."""
    smallest, normal, *large = {
        flow.float16: (2.0**-24, 2.0**-14, 65504.0, 2.0**14, 2.0**8),
        flow.bfloat16: (2.0**-133, 2.0**-126, (2 - 2.0**-7) * 2.0**127, 2.0**126, 2.0**64),
        flow.float32: (2.0**-149, 2.0**-126, (2 - 2.0**-23) * 2.0**127, 2.0**126, 2.0**64),
        flow.float64: (2.0**-1074, 2.0**-1022, 2.0**300),  # what leaves the range cannot be computed in a wider type
    }[dtype]
    finite = (0.0, smallest, normal, *large)
    return (math.nan, math.inf, -math.inf, *finite, *(-each for each in finite))


def trials(
    rule: Rule, dtype: flow.dtype, count: int, seed: int, extreme: float | None = None, of_constants: bool = False
) -> Iterator[Trial]:
    """Gives random trials of a rule, of which the left side can be computed.

    extreme: a number that some elements of the inputs are, or of the constants
    """
    draw = random.Random(f"{rule.name} {dtype} {seed}")
    generator = flow.Generator(seed)
    for _ in range(20 * count):
        trial = _trial(rule, dtype, draw, generator, "normal" if extreme is not None else None)
        if extreme is not None:
            _add(extreme, trial, of_constants, draw)
        try:
            trial.left()(*trial.inputs.values())
        except (flow.ShapeError, flow.InvalidArgument, flow.IndexOutOfRange):
            continue
        yield trial
        count -= 1
        if count == 0:
            return


def _trial(rule: Rule, dtype: flow.dtype, draw: random.Random, generator: flow.Generator, fill: str | None) -> Trial:
    values: dict[str, Any] = {}
    names: dict[str, int] = {}
    arguments = {argument.name: argument for argument in rule.op.signature.arguments}
    chosen = {name: draw.choice(alternatives) for name, alternatives in rule.trials.items()}
    for name, value in chosen.items():
        if arguments[name].type.base is not base_types.TENSOR:
            values[name] = list(value) if isinstance(value, tuple) else value
            if isinstance(value, int) and not isinstance(value, bool):
                names[name] = value
    shapes = {n: v for n, v in chosen.items() if arguments[n].type.base is base_types.TENSOR}
    fill = fill or draw.choice(EXACT_FILLS if rule.error is None else FILLS)
    for name, shape in shapes.items():
        if shape is None:
            values[name] = None
            continue
        sizes = [_size(each, names, draw) for each in shape]
        values[name] = _tensor(sizes, dtype, fill if draw.random() < 0.7 else "normal", generator, draw)
        if name in rule.positive:
            values[name] = abs(values[name]) + 0.1
    values = {name: values[name] for name in arguments}
    return Trial(rule, dtype, values, _dynamic(rule, shapes))


def _add(extreme: float, trial: Trial, to_constants: bool, draw: random.Random) -> None:
    """Makes some elements of the inputs or of the constants a certain number."""
    for name, tensor in list(trial.values.items()):
        if not isinstance(tensor, flow.Tensor) or (name in trial.inputs) == to_constants:
            continue
        if (name in trial.rule.finite and not math.isfinite(extreme)) or (name in trial.rule.positive and extreme <= 0):
            continue
        flat = tensor.reshape([-1]).tolist()
        for at in draw.sample(range(len(flat)), (len(flat) + 2) // 3):
            flat[at] = extreme
        trial.values[name] = flow.tensor(flat, dtype=flow.float64).to(tensor.dtype).reshape(tensor.shape)


def _size(text: str, names: dict[str, int], draw: random.Random) -> int:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            names.setdefault(node.id, draw.randint(1, 4))
    return int(eval(text, {}, names))


def _dynamic(rule: Rule, shapes: dict[str, Any]) -> dict[str, list[str | None]]:
    """Returns names for the sizes of inputs with a name that occurs nowhere else."""
    used: list[str] = []
    for shape in shapes.values():
        for text in shape or ():
            used += [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    found: dict[str, list[str | None]] = {}
    for name, shape in shapes.items():
        if shape is not None and name not in rule.constants:
            found[name] = [
                own[0] if len(own) == 1 and used.count(own[0]) == 1 else None
                for own in ([n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)] for text in shape)
            ]
    return found


def _tensor(
    sizes: list[int], dtype: flow.dtype, fill: str, generator: flow.Generator, draw: random.Random
) -> flow.Tensor:
    numbers = flow.randn(sizes, generator=generator, dtype=flow.float32)
    match fill:
        case "zeros":
            numbers = numbers * 0
        case "ones":
            numbers = numbers * 0 + 1
        case "large":
            numbers = numbers * (4.0 if dtype in (flow.float16, flow.bfloat16) else 1e6)
        case "small":
            numbers = numbers * (1e-2 if dtype in (flow.float16, flow.bfloat16) else 1e-6)
        case "negative":
            numbers = -abs(numbers)
        case "mixed" | "special":
            numbers = numbers * flow.randint(0, 2, sizes, generator=generator).to(flow.float32)
    if fill == "special" and numbers.numel():
        flat = numbers.reshape([-1]).clone()
        for special in (math.nan, math.inf, -math.inf, -0.0, 0.0):
            flat[draw.randrange(numbers.numel())] = special
        numbers = flat.reshape(sizes)
    return numbers.to(dtype)
