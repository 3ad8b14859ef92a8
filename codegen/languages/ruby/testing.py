"""The tests of a record's examples and error cases, laid out within the width of a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.model import ErrorCase, Example, Op
from codegen.names import identifier

if TYPE_CHECKING:
    from codegen.languages.ruby import Ruby

WIDTH = 120 - 4


@dataclass(frozen=True)
class Test:
    name: str
    lines: tuple[str, ...]


def tests(op: Op, ruby: Ruby) -> Iterator[Test]:
    """One test per example and per error case."""
    for number, example in enumerate(op.examples, 1):
        yield Test(f"test_{identifier(op.full_name)}_example_{number}", tuple(_example(example, ruby)))
    for number, case in enumerate(op.errors, 1):
        yield Test(f"test_{identifier(op.full_name)}_error_{number}", tuple(_error(case, ruby)))


def _example(example: Example, ruby: Ruby) -> Iterator[str]:
    yield "OneFlow.manual_seed(0)"
    yield from _call("assert_gives", [ruby.literal_text(example.gives), ruby.call_text(example.call)])


def _error(case: ErrorCase, ruby: Ruby) -> Iterator[str]:
    *lines, last = _call("assert_error", [ruby.error_class(case), ruby.literal_text(ruby.error_text(case))], " do")
    yield from [*lines, f"{last} do", f"  {ruby.call_text(case.call)}", "end"]


def _call(function: str, arguments: list[str], tail: str = "") -> list[str]:
    """On one line when it fits there, else with one argument a line."""
    line = f"{function}({', '.join(arguments)})"
    if len(line + tail) <= WIDTH:
        return [line]
    head = f"{function}("
    first, *middle, last = [f"{' ' * len(head)}{argument}," for argument in arguments]
    return [head + first.strip(), *middle, f"{last[:-1]})"]
