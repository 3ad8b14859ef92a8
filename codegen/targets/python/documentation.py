"""The docstrings of functions and methods, in the extension and in the stubs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from codegen import prose
from codegen.examples import Example
from codegen.model import Op
from codegen.names import wrap, wrap_call
from codegen.targets.python import words
from codegen.targets.python.words import PYTHON

Public = Callable[[str], str]  # from the name of a function to its public name


def help_text(name: str, overloads: Sequence[Op], public: Public) -> str:
    """Returns the docstring of a function: the signature and the text of each overload.

    If there are several overloads, each text is indented below its signature.
    """
    margin = "    " if len(overloads) > 1 else ""
    lines: list[str] = []
    for op in overloads:
        text = overload_lines(op, public, words.WIDTH - len(margin))
        lines += [words.signature(name, op), "", *(f"{margin}{line}".rstrip() for line in text), ""]
    return "\n".join(lines).rstrip()


def overload_lines(op: Op, public: Public, width: int) -> list[str]:
    """Returns the text of an overload: summary, description, arguments and examples."""
    lines = summary_lines(op, width)
    if arguments := list(_argument_lines(op, width)):
        lines += ["", "Args:", *arguments]
    if op.examples:
        lines += ["", "Examples:"]
        lines += [f"    {line}" for example in op.examples for line in _example_lines(example, op, public, width - 4)]
    return lines


def summary_lines(op: Op, width: int) -> list[str]:
    """Returns the summary and the description."""
    return [*wrap(op.summary, width), *(["", *wrap(op.description, width)] if op.description else [])]


def docstring(lines: Sequence[str], indent: int) -> str:
    """Returns a docstring literal whose lines, except for the first one, are indented by `indent` columns."""
    margin = " " * indent
    text = "\n".join(f"{margin}{line}".rstrip() for line in lines).lstrip()
    text = text.replace('"""', "'''")  # it would end the literal
    prefix = "r" if "\\" in text else ""
    if len(lines) == 1 and indent + len(text) + 6 <= 120 and not text.endswith(('"', "\\")):
        return f'{prefix}"""{text}"""'
    return f'{prefix}"""{text}\n{margin}"""'


def _argument_lines(op: Op, width: int) -> Iterator[str]:
    """Yields what the record says about arguments beyond the signature."""
    for argument in op.signature.arguments:
        if text := prose.meaning(op, argument):
            yield from textwrap.wrap(
                f"{argument.name}: {text}", width, initial_indent="    ", subsequent_indent="        "
            )


def _example_lines(example: Example, op: Op, public: Public, width: int) -> Iterator[str]:
    """Yields a call with its result as a comment, on the same line if it fits."""
    call = PYTHON.call(example.call, public)
    result = f"# {_result(example, op)}"
    if len(call) + 2 + len(result) <= width:
        yield f"{call}  {result}"
        return
    yield from wrap_call(call, width)
    yield from textwrap.wrap(result, width, subsequent_indent="# ")


def _result(example: Example, op: Op) -> str:
    if len(op.signature.results) == 1 or not isinstance(example.gives, tuple):
        return PYTHON.literal(example.gives)
    named = zip(op.signature.results, example.gives, strict=True)
    return ", ".join(f"{f'{result.name} ' if result.name else ''}{PYTHON.literal(value)}" for result, value in named)
