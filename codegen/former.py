"""The operators of earlier versions, to which graph files refer, and how their calls become calls of present ones.

A graph file names the operators that it calls as `stored_text` does. Once a version is released, each of these texts
must mean something in all later versions: it is that of a present operator, or a record has it in the column
`formerly`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codegen.definitions import Definitions
from codegen.errors import unknown
from codegen.model import FormerOperator, Op, Word
from codegen.reader import Report
from codegen.signature import fits, print_literal, print_signature
from codegen.types import Argument


def stored_text(op: Op | FormerOperator) -> str:
    """Returns the name and the signature of an operator as graph files have them."""
    return f"{op.full_name}: {print_signature(op.signature)}"


def operators(definitions: Definitions) -> Iterator[Op]:
    """Yields the operators that files may refer to: those of records, and those that compute gradients."""
    yield from definitions.ops
    for gradients in definitions.gradients.values():
        yield from gradients.operators


def former_arguments(former: FormerOperator, op: Op) -> tuple[Argument, ...]:
    """Returns what stored calls of a former operator give, by the positions of the present arguments.

    Each argument has the name and the default that it had. One that the former operator lacked has no name, and the
    value that its calls had tacitly as the default. Those that exist no longer follow.
    """
    old_names = {new.text: old.text for old, new in former.renames}
    values = {name.text: value for name, value in former.values}
    dropped = {word.text for word in former.drops}
    found = []
    for argument in op.signature.arguments:
        old = former.signature.argument(old_names.get(argument.name, argument.name))
        if old and old.name not in dropped and (argument.name in old_names or not _is_renamed(former, old.name)):
            found.append(replace(argument, name=old.name, default=old.default, has_default=old.has_default))
        else:
            value = values.get(argument.name, argument.default)
            has_value = argument.name in values or argument.has_default
            found.append(replace(argument, name="", default=value, has_default=has_value))
    return (*found, *(each for each in former.signature.arguments if each.name in dropped))


def check_formers(definitions: Definitions, report: Report) -> None:
    """Reports former operators that are present ones, or whose calls cannot be converted."""
    owners = {stored_text(op): op for op in operators(definitions)}
    for op in definitions.ops:
        for former in op.formerly:
            text = stored_text(former)
            if text in owners:
                report.add(former.location, f"'{text}' is {owners[text].full_name} already")
            owners[text] = op
            present = definitions.present(former, op)
            if present:
                _check(former, present, report)
            else:
                names = [each.full_name for each in definitions.gradients[op.full_name].operators]
                report.add(former.location, unknown(f"gradient of {op.full_name}", former.full_name, names))


def _is_renamed(former: FormerOperator, name: str) -> bool:
    return any(old.text == name for old, _ in former.renames)


def _check(former: FormerOperator, op: Op, report: Report) -> None:
    """Reports what is wrong with the conversion of a former operator to a present one."""
    old_names = [argument.name for argument in former.signature.arguments]
    names = [argument.name for argument in op.signature.arguments]
    before = len(report.problems)
    for word in (*(old for old, _ in former.renames), *former.drops):
        _check_word("former argument", word, old_names, report)
    for word in (*(new for _, new in former.renames), *(name for name, _ in former.values)):
        _check_word("argument", word, names, report)
    if len(report.problems) > before:
        return
    found = former_arguments(former, op)
    kept = {each.name for each in found}
    for name in old_names:
        if name not in kept:
            text = f"{op.full_name} has no argument '{name}' any more: `renames` or `drops` must say what becomes of it"
            report.add(former.location, text)
    for argument, each in zip(op.signature.arguments, found, strict=False):
        if not each.name and not each.has_default:
            text = f"calls lack '{argument.name}', which has no default: `values` must give it"
            report.add(former.location, text)
        elif each.has_default and not fits(each.default, argument.type):
            text = f"the default {print_literal(each.default)} does not fit {argument.type} {argument.name}"
            report.add(former.location, text)
    for word, _ in former.values:
        if found[names.index(word.text)].name:
            report.add(word.location, f"calls give '{word.text}' themselves")
    results = [len(each.signature.results) for each in (former, op)]
    if results[0] != results[1] or former.signature.gives_list != op.signature.gives_list:
        report.add(former.location, f"{op.full_name} has other results: {print_signature(op.signature)}")


def _check_word(what: str, word: Word, known: list[str], report: Report) -> None:
    if word.text not in known:
        report.add(word.location, unknown(what, word.text, known), len(word.text))
