"""The content of one family's file: an entry per record of a definition file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from codegen import signature as signatures
from codegen.compute_types import holds_for_complex
from codegen.expression import Ellipsis, Expression, Invoke, Subscript, Variable
from codegen.kinds.composite import for_complex
from codegen.model import (
    Argument,
    BaseType,
    Collective,
    Complex,
    Composite,
    Contraction,
    Definitions,
    DTypeSet,
    Elementwise,
    Gather,
    Generator,
    Native,
    Op,
    Reduction,
    ResultRule,
    Scan,
    View,
)
from codegen.names import identifier, pascal, wrap
from codegen.printer import ENUMERATORS, boolean, real, string
from codegen.targets.runtime.functions import CppDefinition, body, gather_size, layout, literal, sizes

WIDTH = 120
MARGIN = 8  # columns before a field in the table of schemas

_HEADERS = {
    Collective: ("parallel/patterns.h",),
    Composite: ("dispatch/dispatch.h", "ops/kinds.h"),
    Contraction: ("einsum/contraction.h",),
    Gather: ("ops/kinds.h", "ops/size_functions.h"),
    Generator: ("ops/kinds.h", "ops/size_functions.h"),
    Native: ("ops/native.h",),
    View: ("ops/kinds.h", "ops/view_functions.h"),
}
_RESULTS = {
    ResultRule.PROMOTE: "kPromote", ResultRule.SAME: "kSame", ResultRule.FLOATING: "kFloating",
    ResultRule.BOOL: "kBool", ResultRule.INT64: "kInt64", ResultRule.ACCUMULATE: "kAccumulate",
}  # fmt: skip


def constant(op: Op) -> str:
    """Returns the name of a record in constants: kMaxDim for max.dim."""
    return "k" + pascal(identifier(op.full_name))


def accepted(op: Op, argument: Argument) -> DTypeSet:
    """Returns the dtypes that an argument accepts."""
    return op.dtype.accepts.get(argument.name, op.dtype.accepts.get("", DTypeSet.ANY))


@dataclass(frozen=True)
class Called:
    """An operator that a composite calls."""

    full_name: str
    constant: str


@dataclass(frozen=True)
class Family:
    """The records of one definition file."""

    name: str
    file: str
    ops: tuple[Op, ...]
    definitions: Definitions

    @property
    def table(self) -> str:
        """Returns the name of the table of schemas."""
        return f"k{pascal(self.name)}Operators"

    @cached_property
    def entries(self) -> list[OperatorSource]:
        """Returns an entry per record."""
        return [OperatorSource(op, self.definitions) for op in self.ops]

    @property
    def headers(self) -> list[str]:
        """Returns the headers that the file includes."""
        found = {"dispatch/operator.h", "dispatch/values.h"}
        for op in self.ops:
            found.update(_HEADERS.get(type(op.kind), ("ops/kinds.h",)))
            if isinstance(op.complex, Expression):
                found.update(_HEADERS[Composite])
            elif op.complex is Complex.PARTS:
                found.add("ops/kinds.h")
        return sorted(found)

    @property
    def called(self) -> list[Called]:
        """Returns the operators that the composites of this family call."""
        ops = {op.full_name: op for entry in self.entries for op in entry.called}
        return [Called(name, constant(op)) for name, op in sorted(ops.items())]


@dataclass(frozen=True)
class OperatorSource:
    """The C++ source of one record."""

    op: Op
    definitions: Definitions

    @property
    def constant(self) -> str:
        """Returns the name of the record in constants."""
        return constant(self.op)

    @property
    def comment(self) -> str:
        """Returns the comment with the signature."""
        return "\n".join(wrap(signatures.print_signature(self.op.signature), WIDTH, "// "))

    # -- functions --------------------------------------------------------------------------------------------------

    @cached_property
    def _function(self) -> CppDefinition | None:
        """Returns the C++ function that the rule of the kind points to, or None."""
        name = identifier(self.op.full_name)
        match self.op.kind:
            case View():
                return layout(self.op, self.op.kind, f"{name}_layout")
            case Generator():
                return sizes(self.op, self.op.kind, f"{name}_sizes")
            case Gather():
                return gather_size(self.op, self.op.kind, f"{name}_size")
            case Composite():
                return body(self.op, self.op.kind, f"{name}_body", self.definitions.overloads, constant)
        return None

    @cached_property
    def _complex_body(self) -> CppDefinition | None:
        """Returns the C++ function that computes the operator for complex operands, or None."""
        if not isinstance(self.op.complex, Expression):
            return None
        name = f"{identifier(self.op.full_name)}_of_complex"
        return body(*for_complex(self.op, self.op.complex), name, self.definitions.overloads, constant)

    @property
    def _functions(self) -> list[CppDefinition]:
        return [function for function in (self._function, self._complex_body) if function]

    @property
    def merges(self) -> list[str]:
        """Returns the initializers of a collective's merges, in the order of the matched values."""
        if not isinstance(self.op.kind, Collective):
            return []
        return [
            f'{{"{merge.by}", {string(merge.then)}, DTypeSet::k{merge.accepts.value.capitalize()}}}'
            for merge in self.op.kind.merges.values()
        ]

    @property
    def functions(self) -> list[str]:
        """Returns the definitions of the record's C++ functions."""
        return [function.text for function in self._functions]

    @property
    def called(self) -> tuple[Op, ...]:
        """Returns the operators that these functions call."""
        return tuple(op for function in self._functions for op in function.called)

    # -- tables -----------------------------------------------------------------------------------------------------

    @property
    def match_values(self) -> str:
        """Returns the initializers of the values of the attribute that the record matches on."""
        return ", ".join(f'"{value}"' for value in self._branches)

    @property
    def _branches(self) -> tuple[str, ...]:
        match self.op.kind:
            case Elementwise(expressions=expressions) | Generator(expressions=expressions):
                return tuple(value for value in expressions if value is not None)
            case Composite(bodies=bodies):
                return tuple(value for value in bodies if value is not None)
            case Collective(merges=merges):
                return tuple(merges)
        return ()

    @property
    def arguments(self) -> list[list[str]]:
        """Returns the initializers of each argument."""
        return [list(self._argument(argument)) for argument in self.op.signature.arguments]

    def _argument(self, argument: Argument) -> Iterator[str]:
        type_ = argument.type
        yield f'.name = "{argument.name}"'
        yield f'.type_text = "{type_}"'
        if argument.has_default:
            yield f".default_text = {string(signatures.print_literal(argument.default, type_))}"
            yield f".default_value = {default_value(argument)}"
        yield f".type = ArgumentType::{ENUMERATORS[type_.base]}"
        is_own_size = isinstance(self.op.kind, View | Native) and type_.base is BaseType.SIZE and type_.is_list
        flags = {
            "is_list": type_.is_list,
            "is_optional": type_.optional,
            "has_optional_items": type_.optional_members,
            "is_keyword_only": argument.keyword_only,
            "is_written": argument.alias is not None and argument.alias.written,
            "takes_any_size": is_own_size,
            "comes_from_any_device": argument.name == self.op.from_any_device,
        }
        for name, holds in flags.items():
            if holds:
                yield f".{name} = true"
        if type_.is_tensor and accepted(self.op, argument) is not DTypeSet.ANY:
            yield f".accepts = DTypeSet::k{accepted(self.op, argument).value.capitalize()}"

    @property
    def schema(self) -> list[str]:
        """Returns the initializers of the schema."""
        op = self.op
        lines = [
            f'.name = "{op.full_name}"',
            f'.function_name = "{op.name}"',
            f".signature = {literal(signatures.print_signature(op.signature), MARGIN + len('.signature = '))}",
            f".summary = {literal(op.summary, MARGIN + len('.summary = '))}",
            f'.kind = "{op.kind_name}"',
            f".hash = 0x{op.schema_hash:016x}",
            f".arguments = {self.constant}Arguments",
            f".result_count = {len(op.signature.results)}",
            *([".gives_list = true"] if op.signature.gives_list else []),
            braced(".dtype = {", self._dtype_rule()),
        ]
        if isinstance(op.kind, Elementwise | Generator | Composite | Collective) and op.kind.match:
            match = self._position(op.kind.match)
            lines.append(f".match = {{.argument = {match}, .values = {self.constant}Values}}")
        lines += [f".rule = {self._rule()}", f".run = {self._runner()}"]
        if op.takes_complex:
            lines.append(f".run_complex = {self._complex_runner()}")
        if self._complex_body:
            lines.append(f".complex_body = {self._complex_body.name}")
        if holds_for_complex(op):
            lines.append(".holds_for_complex = true")
        return lines

    def _position(self, name: str) -> int:
        return [argument.name for argument in self.op.signature.arguments].index(name)

    def _dtype_rule(self) -> list[str]:
        rule = self.op.dtype
        fields = [".results = {" + ", ".join(f"ResultRule::{_RESULTS[r]}" for r in rule.results) + "}"]
        if rule.override:
            fields.append(f".override_argument = {self._position(rule.override)}")
            if self._takes_floating_override():
                fields.append(".floating_only = true")
        if rule.holds:
            fields.append(f".held_arguments = {' | '.join(f'1 << {self._position(name)}' for name in rule.holds)}")
        compute = rule.compute
        if compute is None and rule.results[0] in (ResultRule.BOOL, ResultRule.INT64):
            compute = ResultRule.PROMOTE if self.op.signature.tensor_arguments else None
        if compute is not None:
            fields += [f".compute = ResultRule::{_RESULTS[compute]}", ".computes_result = false"]
        return fields

    def _takes_floating_override(self) -> bool:
        """Returns whether the dtype argument must be a floating-point type.

        It must if operands must be floating-point numbers, or if the results are random fractions.
        """
        kind = self.op.kind
        if isinstance(kind, Generator):
            return any(e.functions & {"uniform", "normal"} for e in kind.expressions.values())
        return self.op.dtype.converts

    def _rule(self) -> str:
        kind = self.op.kind
        match kind:
            case Elementwise():
                return "ElementwiseRule{}"
            case Generator():
                size = f".sizes = {self._function.name}" if self._function else (
                    f".size_argument = {self._position(kind.sizes.text.strip())}"
                )  # fmt: skip
                return f"GeneratorRule{{{size}{', .is_random = true' if kind.random else ''}}}"
            case Contraction():
                parts = {"addend": kind.plus, "search": kind.search, "path": kind.path, "limit": kind.limit}
                fields = [f".{part} = {self._position(name)}" for part, name in parts.items() if name]
                return f"ContractionRule{{{', '.join(['.equation = ' + string(kind.equation), *fields])}}}"
            case Reduction():
                fields = []
                if kind.dims:
                    fields.append(f".dims_argument = {self._position(kind.dims)}")
                if kind.keepdim:
                    fields.append(f".keepdim_argument = {self._position(kind.keepdim)}")
                if not kind.allows_empty:
                    fields.append(".allows_empty = false")
                return f"ReductionRule{{{', '.join(fields)}}}"
            case Scan():
                return f"ScanRule{{.dim_argument = {self._position(kind.dim)}}}"
            case Gather():
                return self._gather_rule(kind)
            case View():
                return f"ViewRule{{{self._function.name if self._function else ''}}}"
            case Composite():
                assert self._function is not None  # its body
                return f"CompositeRule{{.body = {self._function.name}{', .rounds = true' * self._rounds(kind)}}}"
            case Native():
                return f"NativeRule{{{'.is_data_dependent = true' if kind.data_dependent else ''}}}"
            case Collective():
                return f"CollectiveRule{{{f'{self.constant}Merges' if kind.merges else ''}}}"

    def _rounds(self, kind: Composite) -> bool:
        """Returns whether float16 and bfloat16 are computed in float32, so that they are rounded once.

        This holds for composites of several calls whose results may be floating-point tensors of their own memory.
        """
        expressions = (*kind.let.values(), *kind.bodies.values())
        calls = sum(isinstance(node, Invoke) for each in expressions for node in each.root.walk())
        is_fresh = all(result.alias is None for result in self.op.signature.results)
        return calls > 1 and is_fresh and self.op.dtype.results[0] not in (ResultRule.BOOL, ResultRule.INT64)

    def _gather_rule(self, kind: Gather) -> str:
        fields = [f".dims_argument = {self._position(kind.dims)}"]
        for node in kind.source.root.walk():
            if not (isinstance(node, Subscript) and isinstance(node.value, Variable)):
                continue
            argument = self.op.signature.argument(node.value.name)
            if argument is None:
                continue
            position = self._position(argument.name)
            if argument.type.is_list:
                fields.append(f".per_dim_argument = {position}")
            else:
                fields.append(f".index_argument = {position}")
                if isinstance(node.position, Ellipsis):
                    fields.append(".index_has_result_shape = true")
        order = ["dims_argument", "index_argument", "index_has_result_shape", "per_dim_argument"]
        fields = sorted(set(fields), key=lambda text: order.index(text[1:].split()[0]))
        if self._function:
            fields.append(f".size = {self._function.name}")
        return f"GatherRule{{{', '.join(fields)}}}"

    def _complex_runner(self) -> str:
        if self._complex_body:
            return "run_complex_body"
        if self.op.complex is Complex.PARTS:
            return "run_by_parts"
        return "run_complex_generator" if isinstance(self.op.kind, Generator) else self._runner()

    def _runner(self) -> str:
        match self.op.kind:
            case Native(infer=infer):
                return f"native::{infer}"
            case Collective(pattern=pattern):
                return f"collective::{pattern}"
        return f"run_{self.op.kind_name}"


def braced(head: str, fields: list[str]) -> str:
    """Returns braced initializers after `head`, on one line of the table of schemas if they fit, else one per line."""
    line = f"{head}{', '.join(fields)}}}"
    if MARGIN + len(line) < WIDTH:
        return line
    return head + (",\n" + " " * (MARGIN + len(head))).join(fields) + "}"


def default_value(argument: Argument) -> str:
    """Returns the expression for the default of an argument."""
    value = argument.default
    match value:
        case None:
            return "kNone"
        case bool():
            return f"to_value({boolean(value)})"
        case int() | float():
            return f"to_value({real(float(value) if argument.type.base is BaseType.FLOAT else value)})"
        case str():
            return f"to_value({string(value)})"
    return "kNoTensors" if argument.type.is_tensor else f"to_value(kList<{', '.join(map(str, value))}>)"
