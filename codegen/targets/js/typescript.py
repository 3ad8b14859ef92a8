"""The TypeScript declarations of the operators: one per call form, each with a JSDoc comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codegen import prose
from codegen.model import Op
from codegen.names import camel, wrap
from codegen.targets.js.words import JS
from codegen.types import Argument

WIDTH = 120
_LABELLED = (
    "The operands can come with their labels instead of an equation, with the labels of the result last: "
    "`flow.einsum(a, [0, 1], b, [1, 2], [0, 2])`. Among labels, `'...'` is the ellipsis."
)
_ASYNC = "Runs on another thread, with the values that the arguments have at the time of the call."


@dataclass(frozen=True)
class Option:
    """An argument that is passed by name, also that of each overload that has it."""

    op: Op  # the first overload that has it
    argument: Argument
    same: tuple[Argument, ...]  # of each overload that has it
    is_optional: bool

    @property
    def text(self) -> str:
        """Returns the field of the options object: `dim?: Integer | null`."""
        words = list(dict.fromkeys(map(JS.declared, self.same)))
        if self.is_optional and not any(each.type.optional for each in self.same):
            words.append("null")
        return f"{camel(self.argument.name)}{'?' if self.is_optional else ''}: {' | '.join(words)}"

    @property
    def documentation(self) -> str:
        """Returns the `@param` line: the type, the default, and what the record says about the values."""
        argument = self.argument
        types = [each.type for each in self.same]
        words = [word for type_ in types for word in JS.type_word(replace(type_, optional=False)).split(" or ")]
        words += ["null"] * any(type_.optional for type_ in types)
        *most, last = dict.fromkeys(words)
        text = " or ".join([", ".join(most), last] if most else [last])
        if argument.has_default:
            text += f" (default: {JS.literal(argument.default)})"
        if meaning := prose.meaning(self.op, argument):
            text += f"; {_in_camel_case(self.op, meaning)}"
        return f"@param {camel(argument.name)} {text}"


@dataclass(frozen=True)
class Form:
    """The parameters and the result of a call form."""

    parameters: tuple[str, ...]
    result: str


@dataclass(frozen=True)
class Declaration:
    """A call form with the lines of its comment."""

    documentation: tuple[str, ...]
    form: Form

    def text(self, head: str, indent: str) -> str:
        """Returns `head(parameters): result;`, on several lines if it is long; the first one is indented already."""
        parameters, tail = self.form.parameters, f"): {self.form.result};"
        line = f"{head}({', '.join(parameters)}{tail}"
        if len(indent) + len(line) <= WIDTH:
            return line
        inner = indent + "  "
        return "\n".join([f"{head}(", *(f"{inner}{_broken(each, inner)}," for each in parameters), f"{indent}{tail}"])


def _broken(parameter: str, indent: str) -> str:
    """Returns a parameter; if it is too long, the fields of its options object are on lines of their own."""
    if len(indent) + len(parameter) < WIDTH:
        return parameter
    head, _, rest = parameter.partition("{")
    fields, _, tail = rest.rpartition("}")
    return "\n".join([f"{head}{{", *(f"{indent}  {field};" for field in fields.split("; ")), f"{indent}}}{tail}"])


def result_type(op: Op) -> str:
    """Returns the type of the result: `Tensor`, `Tensor[]`, or a tuple whose items also have names."""
    if op.signature.gives_list:
        return "Tensor[]"
    results = op.signature.results
    if len(results) == 1:
        return "Tensor"
    named = [f"{camel(result.name)}: Tensor" for result in results if result.name]
    both = f" & {{{'; '.join(named)}}}" if named else ""
    return f"[{', '.join(['Tensor'] * len(results))}]{both}"


def is_async(op: Op) -> bool:
    """Returns whether an operator has a promise variant.

    Views, which cost nothing, operators that write to an argument, and those without tensor arguments have none.
    Neither have those that draw random numbers, because these are drawn in the order of the calls.
    """
    arguments = op.signature.arguments
    return (
        any(argument.type.is_tensor for argument in arguments)
        and op.signature.generator is None
        and not any(argument.alias and argument.alias.written for argument in arguments)
        and all(result.alias is None for result in op.signature.results)
    )


def declared_together(ops: Sequence[Op]) -> list[list[Op]]:
    """Groups overloads that differ only in keyword-only arguments; a group is declared as one function."""
    groups: dict[object, list[Op]] = {}
    for op in ops:
        positional = tuple(a for a in op.signature.arguments if not a.keyword_only)
        groups.setdefault((positional, result_type(op), op.has_out, op.has_in_place), []).append(op)
    return list(groups.values())


def functions(ops: Sequence[Op]) -> list[Declaration]:
    """Returns the declarations of a function."""
    return [Declaration(_documentation(ops), form) for form in _forms(ops, ops[0].has_out, result_type(ops[0]))]


def functions_async(ops: Sequence[Op]) -> list[Declaration]:
    """Returns the declarations of the promise variant of a function."""
    forms = _forms(ops, False, f"Promise<{result_type(ops[0])}>")
    return [Declaration(_comment(f"{_summary(ops[0])} {_ASYNC}"), form) for form in forms]


def functions_in_place(ops: Sequence[Op], name: str) -> list[Declaration]:
    """Returns the declarations of the in-place form of the function `name`, which writes to a list of tensors."""
    op = ops[0]
    if op.replaced is None:
        return []
    note = f"Writes the results of `{name}` to the tensors in `{camel(op.replaced.name)}`, and returns them."
    return [Declaration(_comment(note), form) for form in _forms(ops, False, result_type(op))]


def methods(ops: Sequence[Op]) -> list[Declaration]:
    """Returns the declarations of a method."""
    op = ops[0]
    forms = _forms(ops, op.has_out, result_type(op), op.receiver)
    return [Declaration(_documentation(ops, op.receiver), form) for form in forms]


def methods_async(ops: Sequence[Op]) -> list[Declaration]:
    """Returns the declarations of the promise variant of a method."""
    forms = _forms(ops, False, f"Promise<{result_type(ops[0])}>", ops[0].receiver)
    return [Declaration(_comment(f"{_summary(ops[0])} {_ASYNC}"), form) for form in forms]


def methods_in_place(ops: Sequence[Op], name: str) -> list[Declaration]:
    """Returns the declarations of the in-place form of the method `name`."""
    note = f"Writes the result of `{name}` to this tensor, and returns it."
    return [Declaration(_comment(note), form) for form in _forms(ops, False, "Tensor", ops[0].receiver)]


def _options_of(ops: Sequence[Op], receiver: Argument | None = None) -> list[Option]:
    """Returns all arguments of these overloads, each once. An argument that an overload lacks is optional."""
    found: dict[str, list[tuple[Op, Argument]]] = {}
    for op in ops:
        for argument in op.signature.arguments:
            if argument != receiver:
                found.setdefault(argument.name, []).append((op, argument))
    return [
        Option(
            same[0][0],
            same[0][1],
            tuple(a for _, a in same),
            len(same) < len(ops) or any(a.has_default for _, a in same),
        )
        for same in found.values()
    ]


def _forms(ops: Sequence[Op], has_out: bool, result: str, receiver: Argument | None = None) -> Iterator[Form]:
    """Yields a form per number of positional arguments, the longest first, with all other arguments by name."""
    op, arguments = ops[0], _options_of(ops, receiver)
    named = [option for option in arguments if option.argument.keyword_only]
    positional = [option.argument for option in arguments if not option.argument.keyword_only]
    leading = next((i for i, a in enumerate(positional) if a.has_default or not a.type.is_tensor), len(positional))
    for count in range(len(positional), leading - 1, -1):
        others = [option for option in arguments if option.argument not in positional[:count]]
        yield _form(op, positional[:count], others, has_out, result)
    options, needs_options = _options(op, named, has_out, result), any(not option.is_optional for option in named)
    if positional and positional[-1].type.is_list:
        before = [_parameter(argument) for argument in positional[:-1]]
        name, members = camel(positional[-1].name), JS.declared_array(positional[-1])
        rests = [] if needs_options else [[f"...{name}: {members}"]]
        if options:
            rests.append([f"options: {options}", f"...{name}: {members}"])
            rests.append([f"...{name}AndOptions: [...{members}, {options}]"])
        for rest in rests:
            yield Form((*before, *rest), result)
    if op.takes_equation:
        labelled = "Tensor, Labels, ...(Tensor | Labels)[]"
        if not needs_options:
            yield Form((f"...labelled: [{labelled}]",), result)
        yield Form((f"...labelledAndOptions: [{labelled}, {options}]",), result)


def _form(op: Op, positional: Sequence[Argument], named: Sequence[Option], has_out: bool, result: str) -> Form:
    parts = [_parameter(argument) for argument in positional]
    if options := _options(op, named, has_out, result):
        mark = "" if any(not option.is_optional for option in named) else "?"
        parts.append(f"options{mark}: {options}")
    return Form(tuple(parts), result)


def _options(op: Op, named: Sequence[Option], has_out: bool, result: str) -> str:
    """Returns the type of the object with the arguments that are passed by name; empty if there are none."""
    fields = [option.text for option in named]
    if op.makes_leaves:
        fields.append("requiresGrad?: boolean | null")
    if has_out:
        fields.append(f"out?: {'Tensor' if result.startswith('Tensor') else 'readonly Tensor[]'} | null")
    return f"{{{'; '.join(fields)}}}" if fields else ""


def _parameter(argument: Argument) -> str:
    return f"{camel(argument.name)}: {JS.declared(argument)}"


def _documentation(ops: Sequence[Op], receiver: Argument | None = None) -> tuple[str, ...]:
    """Returns the whole comment: the summary and the description of each overload, the arguments, and the result."""
    op = ops[0]
    lines = [_summary(op)]
    if op.description:
        lines += ["", _in_camel_case(op, op.description)]
    for other in ops[1:]:
        own = [a for a in other.signature.arguments if a.keyword_only and not a.has_default]
        given = " and ".join(f"`{camel(a.name)}` ({JS.type_word(a.type)})" for a in own)
        lines += ["", f"With {given}: {_summary(other)}"]
        if other.description:
            lines += ["", _in_camel_case(other, other.description)]
    if op.takes_equation:
        lines += ["", _LABELLED]
    lines += ["", *(option.documentation for option in _options_of(ops, receiver))]
    if op.has_out:
        several = len(op.signature.results) > 1
        lines.append(f"@param out {'tensors' if several else 'tensor'} to which the result is written")
    if op.makes_leaves:
        lines.append("@param requiresGrad whether the result requires a gradient (default: false)")
    names = [camel(r.name) for r in op.signature.results if r.name]
    lines.append(f"@returns {' and '.join(f'`{name}`' for name in names)}" if names else f"@returns {result_type(op)}")
    return _comment("\n".join(lines))


def _summary(op: Op) -> str:
    return _in_camel_case(op, op.summary)


def _in_camel_case(op: Op, text: str) -> str:
    """Converts the names of the arguments in a text: `fill_value` becomes `fillValue`."""
    names = {argument.name for argument in op.signature.arguments}
    return re.sub(r"\w+", lambda word: camel(word[0]) if word[0] in names else word[0], text)


def _comment(text: str) -> tuple[str, ...]:
    """Returns the lines of a JSDoc comment."""
    lines = list(_wrapped(text.replace("*/", "* /")))
    if len(lines) == 1:
        return (f"/** {lines[0]} */",)
    return ("/**", *(f" * {line}".rstrip() for line in lines), " */")


def _wrapped(text: str) -> Iterator[str]:
    """Yields the lines of paragraphs and of `@` tags, without margins; the former are separated by blank lines."""
    width = WIDTH - len("     * ")
    tags = [line for line in text.split("\n") if line.startswith("@")]
    yield from wrap("\n".join(line for line in text.split("\n") if not line.startswith("@")), width)
    if tags:
        yield ""
        yield from _all_lines(wrap(tag, width) for tag in tags)


def _all_lines(groups: Iterable[list[str]]) -> Iterator[str]:
    for first, *others in groups:
        yield first
        yield from (f"    {line}" for line in others)
