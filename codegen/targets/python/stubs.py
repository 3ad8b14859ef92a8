"""The declarations in the `.pyi` files, with docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codegen.model import Op
from codegen.names import wrap
from codegen.targets.python import words
from codegen.targets.python.documentation import docstring, overload_lines, summary_lines
from codegen.targets.python.table import STARTS, PythonFunction
from codegen.targets.python.words import PYTHON
from codegen.types import Argument

WIDTH = 120
TEXT = WIDTH - 3  # of docstrings, whose first line follows the quotes

_COMPARISONS = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
_OVERRIDES = "  # type: ignore[override]"  # object's own methods return bool
_LABELLED = (
    "The operands come with their labels instead of an equation, and the labels of the result come last: "
    "`flow.einsum(a, [0, 1], b, [1, 2], [0, 2])`. Among labels, `...` is the ellipsis."
)


@dataclass(frozen=True)
class Declaration:
    """The declaration of a function or a method, which may be one of several overloads."""

    text: str
    is_overload: bool


def functions(entry: PythonFunction) -> list[Declaration]:
    """Returns the declarations of a function such as flow.add."""
    if entry.function.starts:
        lines = wrap(STARTS.format(entry.name.removesuffix("_async")), TEXT - 4)
        return _declarations(
            _variants(entry.name, op, op.signature.arguments, False, lines, result="Work") for op in entry.overloads
        )
    return _declarations(
        _variants(entry.name, op, op.signature.arguments, op.has_out, overload_lines(op, entry.public, TEXT - 4))
        for op in entry.overloads
    )


def in_place_functions(entry: PythonFunction) -> list[Declaration]:
    """Returns the declarations of an in-place function such as flow.comm.local.all_reduce_."""
    text = f"Writes the results of `{entry.name}` to the tensors, and returns them."
    overloads = [op for op in entry.in_place_overloads if not op.receiver]
    return _declarations(_variants(f"{entry.name}_", op, op.signature.arguments, False, [text]) for op in overloads)


def methods(entry: PythonFunction) -> list[Declaration]:
    """Returns the declarations of a method such as Tensor.add, or of an attribute."""
    if entry.is_attribute:
        op = entry.methods[0]
        text = definition(entry.name, ["self"], words.result_type(op), summary_lines(op, TEXT - 8), 4)
        return [Declaration(f"@property\n    {text}", is_overload=False)]
    return _declarations(
        _variants(entry.name, op, words.without_receiver(op), op.has_out, summary_lines(op, TEXT - 8), is_method=True)
        for op in entry.methods
    )


def in_place_methods(entry: PythonFunction) -> list[Declaration]:
    """Returns the declarations of an in-place method such as Tensor.add_."""
    text = f"Writes the result of `{entry.name}` to this tensor, and returns it."
    return _declarations(
        _variants(f"{entry.name}_", op, words.without_receiver(op), False, [text], is_method=True, result="Tensor")
        for op in entry.in_place_overloads
        if op.receiver
    )


def operators(slot: str, op: Op) -> list[str]:
    """Returns the special methods of an operator of Python: `__add__`, `__radd__` and `__iadd__`."""
    others = words.without_receiver(op)
    if not others:
        return [f"def {slot}(self) -> Tensor: ..."]
    operand = PYTHON.declared(others[0])
    if slot in _COMPARISONS:
        ignore = _OVERRIDES if slot in ("__eq__", "__ne__") else ""
        return [f"def {slot}(self, other: {operand}, /) -> Tensor: ...{ignore}"]
    modulus = ", mod: None = None" if slot == "__pow__" else ""
    found = [f"def {name}(self, other: {operand}{modulus}, /) -> Tensor: ..." for name in (slot, f"__r{slot[2:]}")]
    if op.has_in_place:
        ignore = "  # type: ignore[misc]" if modulus else ""  # mypy wants a modulus, which Python never passes
        found.append(f"def __i{slot[2:]}(self, other: {operand}, /) -> Tensor: ...{ignore}")
    return found


def definition(name: str, parameters: list[str], result: str, documentation: Sequence[str], indent: int) -> str:
    """Returns a declaration with its docstring; lines except for the first one are indented by `indent` columns."""
    parameters = [_unshadowed(each) for each in parameters]
    result = _unshadowed(result)
    margin = " " * indent
    head = f"def {name}({', '.join(parameters)}) -> {result}:"
    if indent + len(head) > WIDTH:
        inner = f"{margin}    {', '.join(parameters)}"
        if len(inner) > WIDTH:
            inner = "\n".join(f"{margin}    {each}," for each in parameters)
        head = f"def {name}(\n{inner}\n{margin}) -> {result}:"
    return f"{head}\n{margin}    {docstring(documentation, indent + 4)}"


def _unshadowed(text: str) -> str:
    """Returns annotations with other names for the types that have namesakes here: a dtype and methods of tensors."""
    return re.sub(r"\b(bool|int|float)\b", r"_\1", text)


def _declarations(variants: Iterable[Iterable[tuple[str, str]]]) -> list[Declaration]:
    """Returns the declarations of all overloads, without duplicates.

    Each of `variants` yields the heads and the texts of the declarations of one overload. The first ones of all
    overloads precede the others, since those with any number of arguments would shadow them.
    """
    of_each = [list(texts) for texts in variants]
    unique: dict[str, str] = {}
    for head, text in [*(texts[0] for texts in of_each), *(each for texts in of_each for each in texts[1:])]:
        # An overload that takes numbers where an earlier one takes data would never be matched.
        if re.sub(r": (Number|_?float|_?int)\b(?! \|)", ": Data", head) not in unique:
            unique.setdefault(head, text)
    return [Declaration(text, len(unique) > 1) for text in unique.values()]


def _variants(
    name: str,
    op: Op,
    arguments: tuple[Argument, ...],
    has_out: bool,
    documentation: Sequence[str],
    *,
    is_method: bool = False,
    result: str | None = None,
) -> Iterator[tuple[str, str]]:
    """Yields the declarations of an overload, each after its parameters.

    A list at the end may be passed as separate arguments, and an equation as labels; these are declarations of their
    own, with the summary as the docstring.
    """
    own = ["self"] if is_method else []
    indent = 4 if is_method else 0

    def declared(parameters: list[str], lines: Sequence[str]) -> tuple[str, str]:
        text = definition(name, [*own, *parameters], result or words.result_type(op), lines, indent)
        return ", ".join(parameters), text

    yield declared(words.typed_parameters(op, arguments, has_out), documentation)
    members = words.takes_members(arguments)
    if members is not None:
        single = replace(members, type=replace(members.type, is_list=False), keyword_only=False)
        others = [a for a in arguments if a != members]
        before = words.typed_parameters(op, [a for a in others if not a.keyword_only], False)
        named = [p for p in words.typed_parameters(op, [a for a in others if a.keyword_only], has_out) if p != "*"]
        first = op.summary if len(documentation) > 1 else documentation[0]
        text = f"{first}\n\nThe items of `{single.name}` are separate arguments."
        yield declared([*before, f"*{single.name}: {PYTHON.declared(single)}", *named], wrap(text, TEXT - indent - 4))
        if op.takes_equation:
            yield declared(
                ["operand: Tensor", "labels: Labels", "/", "*operands_and_labels: Tensor | Labels", *named],
                wrap(f"{first}\n\n{_LABELLED}", TEXT - indent - 4),
            )
