"""The tests of the examples and error cases of a record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.examples import ErrorCase, Example
from codegen.language import Language
from codegen.model import Op
from codegen.names import identifier

WIDTH = 120 - 4  # of a line, without its indentation


@dataclass(frozen=True)
class Test:
    """A test method with the lines of its body."""

    name: str
    lines: tuple[str, ...]


def tests(op: Op, ruby: Language) -> Iterator[Test]:
    """Yields one test per example and per error case."""
    for number, example in enumerate(op.examples, 1):
        yield Test(f"test_{identifier(op.full_name)}_example_{number}", tuple(_example(example, ruby)))
    for number, case in enumerate(op.errors, 1):
        yield Test(f"test_{identifier(op.full_name)}_error_{number}", tuple(_error(case, ruby)))


def _example(example: Example, ruby: Language) -> Iterator[str]:
    yield "OneFlow.manual_seed(0)"
    yield from _call("assert_gives", [ruby.words.literal(example.gives), ruby.call_text(example.call)])


def _error(case: ErrorCase, ruby: Language) -> Iterator[str]:
    *lines, last = _call("assert_error", [ruby.error_class(case), ruby.words.literal(ruby.error_text(case))], " do")
    yield from [*lines, f"{last} do", f"  {ruby.call_text(case.call)}", "end"]


def _call(function: str, arguments: list[str], tail: str = "") -> list[str]:
    """Returns a call on one line if it fits there with `tail`, else with one argument per line."""
    line = f"{function}({', '.join(arguments)})"
    if len(line + tail) <= WIDTH:
        return [line]
    head = f"{function}("
    first, *middle, last = [f"{' ' * len(head)}{argument}," for argument in arguments]
    return [head + first.strip(), *middle, f"{last[:-1]})"]
