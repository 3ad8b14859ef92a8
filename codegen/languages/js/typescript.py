"""The declarations that TypeScript needs for the operators: one per way to call them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codegen.languages.js.words import expected_word, literal_text, typescript, typescript_list
from codegen.model import Argument, Op, Type
from codegen.names import camel, wrap

WIDTH = 118
_LABELLED = (
    "Operands may come with their labels in place of an equation, the labels of the result last: "
    "`flow.einsum(a, [0, 1], b, [1, 2], [0, 2])`. Among labels, `'...'` is the ellipsis."
)
_ASYNC = "Runs on another thread; the arguments count as they are now."


@dataclass(frozen=True)
class Option:
    """An argument that is given by name: of each overload that has it, its type."""

    argument: Argument
    types: tuple[Type, ...]
    is_optional: bool

    @property
    def text(self) -> str:
        words = list(dict.fromkeys(map(typescript, self.types)))
        if self.is_optional and not any(type_.optional for type_ in self.types):
            words.append("null")
        return f"{camel(self.argument.name)}{'?' if self.is_optional else ''}: {' | '.join(words)}"

    @property
    def documentation(self) -> str:
        *most, last = dict.fromkeys(map(expected_word, self.types))
        argument = self.argument
        default = f"; {literal_text(argument.default)} unless given" if argument.has_default else ""
        return f"@param {camel(argument.name)} {' or '.join([', '.join(most), last] if most else [last])}{default}"


@dataclass(frozen=True)
class Declaration:
    """One call form: its documentation, line by line, and `(parameters): type`."""

    documentation: tuple[str, ...]
    text: str


def result_type(op: Op) -> str:
    """`Tensor`, or a tuple whose members also have names."""
    if op.signature.gives_list:
        return "Tensor[]"
    types = [typescript(result.type) for result in op.signature.results]
    if len(types) == 1:
        return types[0]
    named = [f"{camel(r.name)}: {typescript(r.type)}" for r in op.signature.results if r.name]
    both = f" & {{{'; '.join(named)}}}" if named else ""
    return f"[{', '.join(types)}]{both}"


def is_async(op: Op) -> bool:
    """Whether a promise variant makes sense: not for views, which cost nothing, nor for operators that write, nor for
    those that make tensors out of nothing: random numbers are drawn in the order of the calls."""
    arguments = op.signature.arguments
    return (
        any(argument.type.is_tensor for argument in arguments)
        and not any(argument.alias and argument.alias.written for argument in arguments)
        and all(result.alias is None for result in op.signature.results)
    )


def declared_together(ops: Sequence[Op]) -> list[list[Op]]:
    """Overloads that differ in nothing but arguments that are given by name: whoever calls them sees one function."""
    groups: dict[object, list[Op]] = {}
    for op in ops:
        positional = tuple(a for a in op.signature.arguments if not a.keyword_only)
        groups.setdefault((positional, result_type(op), op.has_out, op.has_in_place), []).append(op)
    return list(groups.values())


def functions(ops: Sequence[Op]) -> list[Declaration]:
    return [Declaration(_documentation(ops), form) for form in _forms(ops, ops[0].has_out, result_type(ops[0]))]


def functions_async(ops: Sequence[Op]) -> list[Declaration]:
    forms = _forms(ops, False, f"Promise<{result_type(ops[0])}>")
    return [Declaration(_comment(f"{_summary(ops[0])} {_ASYNC}"), form) for form in forms]


def functions_in_place(ops: Sequence[Op]) -> list[Declaration]:
    """Those of operators without a receiver, which write to a list of tensors."""
    op = ops[0]
    if op.replaced is None:
        return []
    note = f"{_summary(op)} The results take the place of the elements of `{camel(op.replaced.name)}`."
    return [Declaration(_comment(note), form) for form in _forms(ops, False, result_type(op))]


def methods(ops: Sequence[Op]) -> list[Declaration]:
    op = ops[0]
    forms = _forms(ops, op.has_out, result_type(op), op.receiver)
    return [Declaration(_documentation(ops, op.receiver), form) for form in forms]


def methods_async(ops: Sequence[Op]) -> list[Declaration]:
    forms = _forms(ops, False, f"Promise<{result_type(ops[0])}>", ops[0].receiver)
    return [Declaration(_comment(f"{_summary(ops[0])} {_ASYNC}"), form) for form in forms]


def methods_in_place(ops: Sequence[Op]) -> list[Declaration]:
    note = f"{_summary(ops[0])} The result takes the place of this tensor's elements."
    return [Declaration(_comment(note), form) for form in _forms(ops, False, "this", ops[0].receiver)]


def _options_of(ops: Sequence[Op], receiver: Argument | None = None) -> list[Option]:
    """All arguments of these overloads, each once. One that an overload lacks is optional."""
    found: dict[str, list[Argument]] = {}
    for op in ops:
        for argument in op.signature.arguments:
            if argument != receiver:
                found.setdefault(argument.name, []).append(argument)
    return [
        Option(same[0], tuple(a.type for a in same), len(same) < len(ops) or any(a.has_default for a in same))
        for same in found.values()
    ]


def _forms(ops: Sequence[Op], has_out: bool, result: str, receiver: Argument | None = None) -> Iterator[str]:
    """Each number of positional arguments, the rest by name; the longest first, as people read them."""
    op, arguments = ops[0], _options_of(ops, receiver)
    named = [option for option in arguments if option.argument.keyword_only]
    positional = [option.argument for option in arguments if not option.argument.keyword_only]
    leading = next((i for i, a in enumerate(positional) if a.has_default or not a.type.is_tensor), len(positional))
    for count in range(len(positional), leading - 1, -1):
        others = [option for option in arguments if option.argument not in positional[:count]]
        yield _form(positional[:count], others, has_out, result)
    options, needs_options = _options(named, has_out, result), any(not option.is_optional for option in named)
    if positional and positional[-1].type.is_list:
        before = [_parameter(argument) for argument in positional[:-1]]
        name, members = camel(positional[-1].name), typescript_list(positional[-1].type)
        rests = [] if needs_options else [[f"...{name}: {members}"]]
        if options:
            rests.append([f"options: {options}", f"...{name}: {members}"])
            rests.append([f"...{name}AndOptions: [...{members}, {options}]"])
        for rest in rests:
            yield f"({', '.join([*before, *rest])}): {result}"
    if op.takes_equation:
        labelled = "Tensor, Labels, ...(Tensor | Labels)[]"
        if not needs_options:
            yield f"(...labelled: [{labelled}]): {result}"
        yield f"(...labelledAndOptions: [{labelled}, {options}]): {result}"


def _form(positional: Sequence[Argument], named: Sequence[Option], has_out: bool, result: str) -> str:
    parts = [_parameter(argument) for argument in positional]
    if options := _options(named, has_out, result):
        mark = "" if any(not option.is_optional for option in named) else "?"
        parts.append(f"options{mark}: {options}")
    return f"({', '.join(parts)}): {result}"


def _options(named: Sequence[Option], has_out: bool, result: str) -> str:
    """The type of the object with the arguments that are given by name; empty where there are none."""
    fields = [option.text for option in named]
    if has_out:
        fields.append(f"out?: {'Tensor' if result.startswith('Tensor') else 'readonly Tensor[]'} | null")
    return f"{{{'; '.join(fields)}}}" if fields else ""


def _parameter(argument: Argument) -> str:
    return f"{camel(argument.name)}: {typescript(argument.type)}"


def _documentation(ops: Sequence[Op], receiver: Argument | None = None) -> tuple[str, ...]:
    """The whole comment: summary, description, arguments with their defaults, what it gives."""
    op = ops[0]
    lines = [_summary(op)]
    if op.description:
        lines += ["", *wrap(_in_our_words(op, op.description), WIDTH - 5)]
    for other in ops[1:]:
        own = [a for a in other.signature.arguments if a.keyword_only and not a.has_default]
        given = " and ".join(f"`{camel(a.name)}` ({expected_word(a.type)})" for a in own)
        text = _in_our_words(other, f"{other.summary} {other.description}")
        lines += ["", *wrap(f"With {given}: {text}", WIDTH - 5)]
    if op.takes_equation:
        lines += ["", *wrap(_LABELLED, WIDTH - 5)]
    lines += ["", *(option.documentation for option in _options_of(ops, receiver))]
    if op.has_out and len(op.signature.results) == 1:
        lines.append("@param out Tensor of the result's shape, written to and returned")
    names = [camel(r.name) for r in op.signature.results if r.name]
    lines.append(f"@returns {' and '.join(names)}" if names else f"@returns {result_type(op)}")
    return _comment("\n".join(lines))


def _summary(op: Op) -> str:
    return _in_our_words(op, op.summary)


def _in_our_words(op: Op, text: str) -> str:
    """Arguments as they are spelt here: `fill_value` becomes `fillValue`."""
    names = {argument.name for argument in op.signature.arguments}
    return re.sub(r"\w+", lambda word: camel(word[0]) if word[0] in names else word[0], text)


def _comment(text: str) -> tuple[str, ...]:
    """The lines of a JSDoc comment."""
    lines: list[str] = []
    for line in text.replace("*/", "* /").split("\n"):
        lines += wrap(line, WIDTH - 5) if line else [""]
    if len(lines) == 1:
        return (f"/** {lines[0]} */",)
    return ("/**", *(f" * {line}".rstrip() for line in lines), " */")
