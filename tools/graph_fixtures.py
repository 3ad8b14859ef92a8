"""Writes the graph files of this version, which later versions must load: tests/data/graphs/<version>.

Usage: python -m tools.graph_fixtures. For each file of operators there is a graph with the first example of each, and
with its gradients. `<family>.safetensors` has the inputs, "input.0", and the outputs, "output.0", of `<family>.flow`,
whose random numbers are those of seed 0. `signatures.txt` has all operators as graph files store them.

What a released version has written is never written again: tests/codegen/test_releases.py says what to do when an
operator changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import oneflow_py as flow
from codegen.definitions import Definitions
from codegen.examples import Call, Name, TensorLiteral
from codegen.former import operators, stored_text
from codegen.load import definition_files, load
from codegen.model import Op

ROOT = Path(__file__).parents[1]
GRAPHS = ROOT / "tests" / "data" / "graphs"


@dataclass(frozen=True)
class Input:
    """The place of a tensor among the inputs of a graph."""

    position: int


@dataclass
class Inputs:
    """The inputs of a graph. Calls with equal tensors share one."""

    tensors: list[flow.Tensor] = field(default_factory=list)
    _known: dict[tuple[str, tuple[int, ...], bytes], Input] = field(default_factory=dict)

    def add(self, tensor: flow.Tensor) -> Input:
        """Returns the place of a tensor, which is added unless there is one like it."""
        contents = tensor.to(flow.float32) if tensor.dtype == flow.bfloat16 else tensor
        key = (str(tensor.dtype), tuple(tensor.shape), contents.numpy().tobytes())
        if key not in self._known:
            self._known[key] = Input(len(self.tensors))
            self.tensors.append(tensor)
        return self._known[key]


def function_of(call: Call) -> Callable[..., Any]:
    """Returns the function that a call of a record names."""
    found: Any = flow
    for part in call.op.split("."):
        found = getattr(found, part)
    function: Callable[..., Any] = found
    return function


def lists(values: Any) -> Any:
    return [lists(each) for each in values] if isinstance(values, tuple) else values


def prepared(value: Any, inputs: Inputs) -> Any:
    """Returns an argument of a call with its tensors as inputs."""
    match value:
        case TensorLiteral(values=values, dtype=dtype):
            return inputs.add(flow.tensor(lists(values), dtype=dtype))
        case Name(name=name):
            return name
        case Call():
            result = function_of(value)(*filled(arguments(value, own := Inputs())[0], own.tensors))
            return inputs.add(result)
        case tuple():
            return [prepared(each, inputs) for each in value]
    return value


def arguments(call: Call, inputs: Inputs) -> tuple[list[Any], dict[str, Any]]:
    """Returns the positional arguments of a call and the others."""
    positional = [prepared(each, inputs) for each in call.positional]
    return positional, {name: prepared(each, inputs) for name, each in call.keywords}


def filled(value: Any, tensors: Any) -> Any:
    """Returns an argument with tensors in place of inputs."""
    match value:
        case Input(position=position):
            return tensors[position]
        case list():
            return [filled(each, tensors) for each in value]
        case dict():
            return {name: filled(each, tensors) for name, each in value.items()}
    return value


def flat(results: Any) -> list[flow.Tensor]:
    return list(results) if isinstance(results, (tuple, list)) else [results]


@dataclass(frozen=True)
class Step:
    """A call of an operator in a graph."""

    call: Call
    positional: list[Any]
    keywords: dict[str, Any]

    def results(self, tensors: Any) -> list[flow.Tensor]:
        """Returns the results of the call with these inputs."""
        return flat(function_of(self.call)(*filled(self.positional, tensors), **filled(self.keywords, tensors)))

    def gradients(self, tensors: Any) -> list[flow.Tensor]:
        """Returns the gradients of the sum of the results."""
        leaves = [each.detach().requires_grad_() if each.dtype.is_floating_point else each for each in tensors]
        results = [each for each in self.results(leaves) if each.requires_grad]
        wanted = [each for each in leaves if each.requires_grad]
        found = flow.autograd.grad(results, wanted, [flow.ones_like(each) for each in results], allow_unused=True)
        return [each for each in found if each is not None]


# What a graph does with a call: Step.results or Step.gradients.
Work = Callable[[Step, Any], list[flow.Tensor]]


def called(step: Step, work: Work, inputs: Inputs) -> set[str]:
    """Returns the operators in a graph of a call, as its text has them; none if no graph can have it, or no file."""
    try:
        graph = flow.graph.capture(lambda *tensors: work(step, tensors), tuple(inputs.tensors))
        results = flat(graph(*inputs.tensors))
    except flow.Error:
        return set()
    if not results or any(each.dtype == flow.complex128 for each in results):
        return set()
    return {line for line in str(graph).splitlines() if line.startswith("operator ")}


def write_family(name: str, ops: Iterable[Op], folder: Path) -> None:
    """Writes the graph of the operators of one file, its inputs and its outputs."""
    inputs = Inputs()
    steps = [Step(op.examples[0].call, *arguments(op.examples[0].call, inputs)) for op in ops]
    kept: list[tuple[Step, Work]] = []
    known: set[str] = set()
    works: tuple[Work, ...] = (Step.results, Step.gradients)
    for work in works:
        for step in steps:
            found = called(step, work, inputs)
            if not found <= known:
                kept.append((step, work))
            elif not found and work is Step.results:
                print(f"{name}: no graph can have {step.call.record}")
            known |= found
    if not kept:
        return
    graph = flow.graph.capture(
        lambda *tensors: [result for step, work in kept for result in work(step, tensors)], tuple(inputs.tensors)
    )
    graph.save(folder / f"{name}.flow")
    outputs = flat(graph(*inputs.tensors, generator=flow.Generator().manual_seed(0)))
    values = {f"input.{i}": each for i, each in enumerate(inputs.tensors)}
    values |= {f"output.{i}": each for i, each in enumerate(outputs)}
    flow.save(values, folder / f"{name}.safetensors")


def signatures(definitions: Definitions) -> list[str]:
    """Returns all operators, those that compute gradients included, as graph files have them."""
    return sorted(map(stored_text, operators(definitions)))


def main() -> None:
    definitions = load(definition_files(ROOT), ROOT)
    folder = GRAPHS / (ROOT / "VERSION").read_text().strip()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "signatures.txt").write_text("\n".join(signatures(definitions)) + "\n", encoding="utf-8")
    families: dict[str, list[Op]] = {}
    for op in definitions.ops:
        families.setdefault(Path(op.location.file).stem, []).append(op)
    for name, ops in families.items():
        write_family(name, ops, folder)


if __name__ == "__main__":
    main()
