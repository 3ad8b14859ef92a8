"""The comments on functions and methods, for RDoc and in the `.rbs` file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from codegen import prose
from codegen.language import Language
from codegen.model import Op
from codegen.names import wrap, wrap_call
from codegen.targets.ruby.table import RubyFunction, function_lines, method_lines

WIDTH = 120


def rdoc(entry: RubyFunction, indent: str, *, is_method: bool = False) -> str:
    """Returns the comment for RDoc: all call sequences, then the text of each overload."""
    signatures = method_lines(entry) if is_method else function_lines(entry)
    lines = [":call-seq:", *(f"  {line}" for line, _ in signatures)]
    for part in _overloads(signatures, indent, "  ", lambda op: _text(op, indent)):
        lines += ["", *part]
    return _comment(lines, indent)


def rbs_comment(entry: RubyFunction, indent: str, *, ruby: Language, is_method: bool = False) -> str:
    """Returns the comment in the `.rbs` file: the text and an example of each overload."""

    def text(op: Op) -> Iterator[str]:
        yield from _text(op, indent)
        for example in op.examples[:1]:
            yield ""
            yield from (
                f"    {line}" for line in wrap_call(ruby.call_text(example.call), WIDTH - len(f"{indent}#     "))
            )
            yield f"    # => {ruby.words.literal(example.gives)}"

    lines: list[str] = []
    signatures = method_lines(entry) if is_method else function_lines(entry)
    for part in _overloads(signatures, indent, "    ", text):
        lines += ["", *part] if lines else part
    if is_method and entry.is_enumerable:
        lines += ["", "With a block, it is the method of Enumerable."]
    return _comment(lines, indent)


def _overloads(
    signatures: Sequence[tuple[str, Op]], indent: str, margin: str, text: Callable[[Op], Iterable[str]]
) -> Iterator[list[str]]:
    """Yields the text of each overload; if there are several, each follows its signature."""
    ops = {op.full_name: op for _, op in signatures}
    for name, op in ops.items():
        calls = [call for call, each in signatures if each.full_name == name]
        own = [f"{margin}{line}" for call in calls for line in wrap_call(call, WIDTH - len(f"{indent}# {margin}"))]
        yield [*own, "", *text(op)] if len(ops) > 1 else list(text(op))


def _text(op: Op, indent: str) -> Iterator[str]:
    """Yields the summary, the description, and what the record says about the arguments."""
    width = WIDTH - len(f"{indent}# ")
    yield from wrap(op.summary, width)
    if op.description:
        yield ""
        yield from wrap(op.description, width)
    meanings = [f"`{a.name}`: {text}." for a in op.signature.arguments if (text := prose.meaning(op, a))]
    if meanings:
        yield ""
        yield from wrap(" ".join(meanings), width)


def _comment(lines: Iterable[str], indent: str) -> str:
    return "\n".join(f"{indent}# {line}".rstrip() for line in lines)
