"""The C++ API: functions in `<oneflow/operators.hpp>`, and methods in `<oneflow/tensor_methods.hpp>`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from codegen import base_types
from codegen import signature as signatures
from codegen.definitions import Definitions, Function
from codegen.model import Op
from codegen.names import fill, identifier, pascal, source_files, wrap
from codegen.printer import RESERVED, boolean, real, string
from codegen.target import Output, PublicTarget
from codegen.targets.cpp.classes import CppClasses
from codegen.types import Argument, Literal, Type

WIDTH = 120
INCLUDE = "runtime/generated/include/oneflow"

# The C++ type of a parameter; "?" marks an optional argument.
_PARAMETERS = {
    "Tensor": "const Tensor&",
    "Tensor?": "const Tensor&",
    "Tensor|Number": "const Operand&",
    "Tensor|Number?": "const Operand&",
    "Number": "const Number&",
    "Number?": "const Number&",
    "int": "int64_t",
    "int?": "std::optional<int64_t>",
    "float": "double",
    "float?": "std::optional<double>",
    "bool": "bool",
    "bool?": "std::optional<bool>",
    "str": "std::string_view",
    "str?": "std::optional<std::string_view>",
    "dtype": "DType",
    "dtype?": "std::optional<DType>",
    "device": "const Device&",
    "device?": "const std::optional<Device>&",
    "Generator?": "const std::optional<Generator>&",
    "int[]": "const Ints&",
    "int[]?": "const OptionalInts&",
    "Tensor[]": "const Tensors&",
    "device[]": "const Devices&",
    "device[]?": "const std::optional<Devices>&",
}
_NONE = {"const Tensor&": "no_tensor()", "const Operand&": "Operand()", "const Number&": "Number()"}

# The operators of C++, by the function that each of them calls.
_BINARY: Mapping[str, str] = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "remainder", "==": "eq", "!=": "ne", "<": "lt", "<=": "le",
    ">": "gt", ">=": "ge", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor",
}  # fmt: skip
_UNARY: Mapping[str, str] = {"-": "neg", "~": "bitwise_not"}


@dataclass(frozen=True)
class CppFunction:
    """One C++ function, and the method that calls it."""

    name: str
    returns: str
    parameters: tuple[str, ...]  # with types, without defaults
    declared: tuple[str, ...]  # with types and defaults
    values: tuple[str, ...]  # the expressions for the of_values of the arguments
    targets: tuple[str, ...]  # the parameters that are written to, for the out and in-place forms
    receiver: int | None  # the position of the argument that a method binds
    method: str
    names: tuple[str, ...]
    result_names: tuple[str, ...]
    op: Op

    @property
    def prototype(self) -> str:
        """Returns the head of the definition."""
        return fill(f"inline {self.returns} {self.name}(", self.declared, ") {", WIDTH)

    @property
    def call(self) -> str:
        """Returns the statement that calls the operator."""
        name = f'"{self.op.full_name}"'
        if self.targets:
            if self.op.signature.gives_list:
                return f"detail::call_into(found, {name}, args, {self.targets[0]});"
            handles = ", ".join(f"{target}.get()" for target in self.targets)
            return f"detail::call_into(found, {name}, args, {{{handles}}});"
        if self.op.signature.gives_list:
            return f"return detail::call_list(found, {name}, args);"
        count = len(self.result_names)
        if count == 1:
            return f"return detail::call<1>(found, {name}, args)[0];"
        return f"auto results = detail::call<{count}>(found, {name}, args);"

    @property
    def arguments(self) -> str:
        """Returns the definition of the array of arguments."""
        return fill(f"  const std::array<of_value, {len(self.values)}> args = {{", self.values, "};", WIDTH)

    @property
    def _const(self) -> str:
        return "" if self.method.endswith("_") else " const"

    @property
    def method_declaration(self) -> str:
        """Returns the declaration of the method."""
        declared = [d for i, d in enumerate(self.declared) if i != self.receiver]
        return fill(f"  {self.returns} {self.method}(", declared, f"){self._const};", WIDTH)

    @property
    def method_definition(self) -> str:
        """Returns the definition of the method, on one line if it fits there."""
        parameters = [p for i, p in enumerate(self.parameters) if i != self.receiver]
        head = fill(f"inline {self.returns} TensorMethods::{self.method}(", parameters, f"){self._const} {{", WIDTH)
        given = ["self()" if i == self.receiver else name for i, name in enumerate(self.names)]
        body = f"return oneflow::{self.name}({', '.join(given)});"
        if "\n" not in head and len(head) + len(body) + 3 <= WIDTH:
            return f"{head} {body} }}"
        return "\n".join((head, fill(f"  return oneflow::{self.name}(", given, ");", WIDTH), "}"))


@dataclass(frozen=True)
class CppOverload:
    """The parts of the headers for one overload of a function."""

    op: Op
    comment: tuple[str, ...]
    method_comment: tuple[str, ...]
    struct: str | None  # the type of several results; None: there is one result
    results: tuple[str, ...]
    forms: tuple[CppFunction, ...]


class Cpp(PublicTarget):
    title = "C++"
    reserved = RESERVED | {"args", "found", "result", "results", "self"}  # the last are variables of the functions

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        entries = [self._entry(function, op) for function in definitions.functions for op in function.overloads]
        structs = {entry.struct: entry for entry in entries if entry.struct}
        values = {
            "entries": entries,
            "structs": structs,
            "binary": {symbol: name for symbol, name in _BINARY.items() if name in self._function_names},
            "unary": {symbol: name for symbol, name in _UNARY.items() if name in self._function_names},
            "sources": source_files(definitions.ops),
        }
        for name in ("operators.hpp", "tensor_methods.hpp"):
            yield Output(f"{INCLUDE}/{name}", self.templates.render(f"{name}.j2", **values))
        for name in ("classes.hpp", "class_methods.hpp"):
            text = self.templates.render(f"{name}.j2", classes=CppClasses(definitions.objects))
            yield Output(f"{INCLUDE}/{name}", text)

    @cached_property
    def _function_names(self) -> frozenset[str]:
        return frozenset(function.name for function in self.definitions.functions)

    def _entry(self, function: Function, op: Op) -> CppOverload:
        results = tuple(result.name or f"result{i}" for i, result in enumerate(op.signature.results))
        struct = None
        if len(results) > 1:
            struct = pascal(identifier(op.full_name)) + "Result"
        name = identifier(self.names.of(function.name, reserved=RESERVED))
        forms = tuple(self._forms(name, op, _types(function, op), _required(function, op), struct, results))
        return CppOverload(op, _comment(op, ""), _comment(op, "  "), struct, results, forms)

    def _forms(
        self, name: str, op: Op, types: tuple[str, ...], required: int, struct: str | None, results: tuple[str, ...]
    ) -> Iterator[CppFunction]:
        arguments = op.signature.arguments
        names = tuple(a.name for a in arguments)
        plain = tuple(f"{t} {n}" for t, n in zip(types, names, strict=True))
        values = tuple(f"detail::value_of({n})" for n in names)
        receiver = arguments.index(op.receiver) if op.receiver else None
        if receiver is not None and types[receiver] not in ("const Tensor&", "const Operand&"):
            receiver = None
        defaulted = tuple(
            f"{p} = {_default(a, t)}" if i >= required and all(later.has_default for later in arguments[i:]) else p
            for i, (p, a, t) in enumerate(zip(plain, arguments, types, strict=True))
        )
        result = "std::vector<Tensor>" if op.signature.gives_list else struct or "Tensor"
        yield CppFunction(name, result, plain, defaulted, values, (), receiver, name, names, results, op)
        if op.signature.gives_list and op.replaced:
            written = (op.replaced.name,)
            yield CppFunction(f"{name}_", "void", plain, defaulted, values, written, None, "", names, (), op)
        if op.has_out:
            outs = tuple(f"Tensor& {result if struct else 'result'}" for result in results)
            targets = tuple(out.split()[-1] for out in outs)
            yield CppFunction(
                f"{name}_out", "void", plain + outs, plain + outs, values, targets, None, "", names + targets, (), op
            )
        if op.has_in_place and receiver is not None:
            own = tuple("Tensor& input" if i == receiver else p for i, p in enumerate(plain))
            declared = tuple("Tensor& input" if i == receiver else d for i, d in enumerate(defaulted))
            yield CppFunction(
                f"{name}_", "Tensor&", own, declared, values, ("input",), receiver, f"{name}_", names, (), op
            )


def _comment(op: Op, indent: str) -> tuple[str, ...]:
    mark = f"{indent}///"
    summary = wrap(op.summary, WIDTH, f"{mark} ")
    return *summary, mark, f"{mark}     {signatures.print_signature(op.signature)}"


def _types(function: Function, op: Op) -> tuple[str, ...]:
    """Returns the types of the parameters.

    If another overload takes a string in place of a bool, only the exact type bool is accepted as one, because C++
    prefers the conversion of a string literal to bool to that to std::string_view.
    """
    texts = {a.name for each in function.overloads for a in each.signature.arguments if a.type.base is base_types.STR}
    types = ((argument.name, parameter_type(argument.type)) for argument in op.signature.arguments)
    return tuple("std::same_as<bool> auto" if t == "bool" and name in texts else t for name, t in types)


def _required(function: Function, op: Op) -> int:
    """Returns how many parameters have no default, whatever the record says.

    An earlier overload with the same first parameters takes the calls that pass no others: without this, C++ would
    find such a call ambiguous.
    """
    types = _types(function, op)
    required = 0
    for earlier in function.overloads[: function.overloads.index(op)]:
        pairs = zip(types, _types(function, earlier), strict=False)
        same = next((i for i, (own, other) in enumerate(pairs) if own != other), None)
        if same is not None and all(argument.has_default for argument in earlier.signature.arguments[same:]):
            required = max(required, same + 1)
    return required


def parameter_type(type_: Type) -> str:
    """Returns the C++ type of a parameter; a flag that selects the overload is a type of its own."""
    if type_.base.only is not None:
        return f"std::{boolean(type_.base.only)}_type"
    return _PARAMETERS[str(replace(type_.passed, optional_members=False))]


def _default(argument: Argument, type_: str) -> str:
    value = argument.default
    if argument.type.base.only is not None:
        return "{}"
    if value is None:
        return _NONE.get(type_, "std::nullopt")
    if argument.type.base is base_types.DTYPE:
        return "bool_" if value == "bool" else str(value)
    if isinstance(value, tuple):
        return f"Ints({_literal(value)})"
    return _literal(value)


def _literal(value: Literal) -> str:
    match value:
        case bool():
            return boolean(value)
        case int() | float():
            return real(value)
        case tuple():
            return "{" + ", ".join(map(_literal, value)) + "}"
    return string(value)
