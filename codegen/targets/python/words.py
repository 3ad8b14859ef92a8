"""Types, literals, calls and signatures in Python."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Iterable, Mapping, Sequence

from codegen import base_types
from codegen.model import Op
from codegen.names import fill, pascal
from codegen.types import Argument
from codegen.words import Word, Words

RESERVED = frozenset(keyword.kwlist) | {"self"}
# By which stubs declare functions: a function of such a name would hide them.
NAMES_OF_STUBS = frozenset({"overload", "str", "tuple"})
WIDTH = 100  # of signatures and docstrings


_WORDS = {
    base_types.TENSOR: Word("Tensor", "Tensors", "Tensor"),
    base_types.NUMBER: Word("number", "numbers", "Number"),
    base_types.INT: Word("int", "ints", "int"),
    base_types.PAIR: Word("pair of ints", "pairs of ints", "tuple[int, int]"),
    base_types.INTS: Word("list of ints", "lists of ints", "int | Sequence[int]"),
    base_types.FLOAT: Word("float", "floats", "float"),
    base_types.BOOL: Word("bool", "bools", "bool"),
    base_types.TRUE: Word("bool", "bools", "Literal[True]"),
    base_types.FALSE: Word("bool", "bools", "Literal[False]"),
    base_types.STR: Word("str", "strs", "str"),
    base_types.DTYPE: Word("dtype", "dtypes", "DTypeLike"),
    base_types.DEVICE: Word("device", "devices", "DeviceLike"),
    base_types.GENERATOR: Word("Generator", "Generators", "Generator"),
    base_types.GROUP: Word("Group or str", "Groups", "Group | str"),
}


class PythonWords(Words):
    types = _WORDS
    list_name = "list"
    data = "Data"
    null, true, false = "None", "True", "False"

    def list_of(self, item: str) -> str:
        return f"Sequence[{item}]"

    def or_null(self, text: str) -> str:
        return f"{text} | None"

    def not_finite(self, value: float) -> str:
        return f'float("{value}")'

    def string(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    def invocation(self, name: str, positional: Sequence[str], named: Mapping[str, str]) -> str:
        return f"flow.{name}({', '.join([*positional, *(f'{name}={value}' for name, value in named.items())])})"

    def dtype(self, name: str) -> str:
        return f"flow.{name}"


PYTHON = PythonWords()


# ------------------------------------------------------------------------------------------------ results


def result_type(op: Op) -> str:
    """Returns the annotation of the result of a call; for several named results, the class of their named tuple."""
    results = op.signature.results
    if op.signature.gives_list:
        return "tuple[Tensor, ...]"
    if len(results) == 1:
        return "Tensor"
    if all(result.name for result in results):
        return "".join(pascal(result.name or "") for result in results)
    return f"tuple[{', '.join(['Tensor'] * len(results))}]"


def named_results(op: Op) -> tuple[str, ...]:
    """Returns the fields of the named tuple that a call returns; none if it does not return one."""
    results = op.signature.results
    names = tuple(result.name for result in results if result.name)
    return names if len(results) > 1 and len(names) == len(results) else ()


# ------------------------------------------------------------------------------------------------ signatures


def signature(name: str, op: Op) -> str:
    """Returns the signature of an overload for people: `flow.sum(input: Tensor, ...) -> Tensor`."""
    parameters = typed_parameters(op, op.signature.arguments, op.has_out)
    return fill(f"flow.{name}(", parameters, f") -> {result_type(op)}", WIDTH)


def _joined(arguments: Iterable[Argument], show: Callable[[Argument], str], others: list[str]) -> list[str]:
    """Returns the parameters with a `*` before those that are keyword-only."""
    arguments = list(arguments)
    texts = [show(a) for a in arguments if not a.keyword_only]
    named = [show(a) for a in arguments if a.keyword_only] + others
    return [*texts, "*", *named] if named else texts


def plain_parameters(op: Op, arguments: Iterable[Argument], has_out: bool) -> str:
    """Returns the parameters as `inspect.signature` reads them: `input, dim=None, *, out=None`."""

    def show(argument: Argument) -> str:
        return f"{argument.name}={PYTHON.literal(argument.default)}" if argument.has_default else argument.name

    others = ["out=None"] * has_out + ["requires_grad=False"] * (has_out and op.makes_leaves)
    return ", ".join(_joined(arguments, show, others))


def typed_parameters(op: Op, arguments: Iterable[Argument], has_out: bool) -> list[str]:
    """Returns the parameters with annotations and defaults: `input: Tensor`, `dim: int | None = None`, ..."""

    def show(argument: Argument) -> str:
        default = f" = {PYTHON.literal(argument.default)}" if argument.has_default else ""
        return f"{argument.name}: {PYTHON.declared(argument)}{default}"

    others = [f"out: {out_type(op)} | None = None"] * has_out
    return _joined(arguments, show, others + ["requires_grad: bool = False"] * (has_out and op.makes_leaves))


def out_type(op: Op) -> str:
    """Returns the annotation of `out`."""
    count = len(op.signature.results)
    return "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"


def without_receiver(op: Op) -> tuple[Argument, ...]:
    """Returns the arguments of a method."""
    return tuple(argument for argument in op.signature.arguments if argument != op.receiver)


def takes_members(arguments: Iterable[Argument]) -> Argument | None:
    """Returns the list at the end whose items may be separate arguments, or None."""
    positional = [a for a in arguments if not a.keyword_only]
    last = positional[-1] if positional else None
    return last if last and last.type.is_list and not any(a.has_default for a in positional) else None
