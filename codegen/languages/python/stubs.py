"""The declarations of the `.pyi` files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from codegen.languages.python import words
from codegen.languages.python.table import Entry
from codegen.model import Argument, Op

WIDTH = 120

_COMPARISONS = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
_ARRAY = "NDArray[Any]"
_OVERRIDES = "  # type: ignore[override]"  # of object's own, which give bool


@dataclass(frozen=True)
class Declaration:
    """`def name(parameters) -> result: ...`, one of several overloads or the only one."""

    text: str
    is_overload: bool


def functions(entry: Entry) -> list[Declaration]:
    """Those of flow.add."""
    return _declarations(_variants(entry.name, op, op.signature.arguments, op.has_out) for op in entry.overloads)


def in_place_functions(entry: Entry) -> list[Declaration]:
    """Those of flow.comm.all_reduce_."""
    overloads = [op for op in entry.in_place_overloads if not op.receiver]
    return _declarations(_variants(f"{entry.name}_", op, op.signature.arguments, False) for op in overloads)


def methods(entry: Entry) -> list[Declaration]:
    """Those of Tensor.add."""
    return _declarations(
        _variants(entry.name, op, words.without_receiver(op), op.has_out, receiver=True) for op in entry.methods
    )


def in_place_methods(entry: Entry) -> list[Declaration]:
    """Those of Tensor.add_."""
    return _declarations(
        _variants(f"{entry.name}_", op, words.without_receiver(op), False, receiver=True, result="Tensor")
        for op in entry.in_place_overloads
        if op.receiver
    )


def operators(slot: str, op: Op) -> list[str]:
    """Those of one of Python's own operators: `__add__`, `__radd__`, `__iadd__`, which take NumPy's arrays too."""
    others = words.without_receiver(op)
    if not others:
        return [f"def {slot}(self) -> Tensor: ..."]
    operand = words.annotation(others[0].type)
    if slot in _COMPARISONS:
        ignore = _OVERRIDES if slot in ("__eq__", "__ne__") else ""
        return [f"def {slot}(self, other: {operand}, /) -> Tensor: ...{ignore}"]
    modulus = ", mod: None = None" if slot == "__pow__" else ""
    numbers = "Number | " if "Number" in operand else ""
    found = [
        f"def {slot}(self, other: {operand} | {_ARRAY}{modulus}, /) -> Tensor: ...",
        f"def __r{slot[2:]}(self, other: {numbers}{_ARRAY}{modulus}, /) -> Tensor: ...",
    ]
    if op.has_in_place:
        ignore = "  # type: ignore[misc]" if modulus else ""  # mypy wants a modulus, which Python never passes
        found.append(f"def __i{slot[2:]}(self, other: {operand} | {_ARRAY}, /) -> Tensor: ...{ignore}")
    return found


def definition(name: str, parameters: list[str], result: str, indent: int) -> str:
    """`def name(parameters) -> result: ...`, on as few lines as fit behind an indentation of that many columns."""
    parameters = [re.sub(r"\bbool\b", "_bool", each) for each in parameters]  # flow.bool is a dtype
    margin = " " * indent
    whole = f"def {name}({', '.join(parameters)}) -> {result}: ..."
    if indent + len(whole) <= WIDTH:
        return whole
    inner = f"{margin}    {', '.join(parameters)}"
    if len(inner) > WIDTH:
        inner = "\n".join(f"{margin}    {each}," for each in parameters)
    return f"def {name}(\n{inner}\n{margin}) -> {result}: ..."


def _declarations(variants: Iterable[Iterable[str]]) -> list[Declaration]:
    """The first variants of all overloads, then the others: what takes any number of arguments covers what follows."""
    of_each = [list(texts) for texts in variants]
    first, others = [texts[0] for texts in of_each], [text for texts in of_each for text in texts[1:]]
    unique = list(dict.fromkeys(first + others))
    return [Declaration(text, len(unique) > 1) for text in unique]


def _variants(
    name: str,
    op: Op,
    arguments: tuple[Argument, ...],
    has_out: bool,
    *,
    receiver: bool = False,
    result: str | None = None,
) -> Iterator[str]:
    """The declaration, the one with a trailing list's members as arguments, and the one with labels for an equation."""
    own = ["self"] if receiver else []

    def text(parameters: list[str]) -> str:
        return definition(name, [*own, *parameters], result or words.result_type(op), 4 if receiver else 0)

    yield text(words.typed_parameters(op, arguments, has_out))
    members = words.takes_members(arguments)
    if members is not None:
        single = replace(members, type=replace(members.type, is_list=False), keyword_only=False)
        others = [a for a in arguments if a != members]
        before = words.typed_parameters(op, [a for a in others if not a.keyword_only], False)
        named = [p for p in words.typed_parameters(op, [a for a in others if a.keyword_only], has_out) if p != "*"]
        yield text([*before, f"*{single.name}: {words.annotation(single.type)}", *named])
        if op.takes_equation:
            yield text(["operand: Tensor", "labels: Labels", "/", "*operands_and_labels: Tensor | Labels", *named])
