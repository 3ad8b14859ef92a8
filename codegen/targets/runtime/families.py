"""The content of one family's file: an entry per record of a definition file."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from codegen import base_types
from codegen import signature as signatures
from codegen.answers import Enumerator, Gives, Member, Rows, RulePrograms, RuntimeRule
from codegen.definitions import Definitions
from codegen.derive.gradients import GradientInput, GradientRule, gradient_rules, reads
from codegen.dtypes import DTypeSet, ResultRule
from codegen.former import former_arguments
from codegen.kinds.composite import for_complex
from codegen.model import Complex, Op
from codegen.names import fill, identifier, pascal, wrap
from codegen.printer import boolean, real, string
from codegen.program import Program
from codegen.targets.runtime.programs import WIDTH, CppDefinition, function_of
from codegen.types import Argument

MARGIN = 8  # columns before a field in the table of schemas

_RESULTS = {
    ResultRule.PROMOTE: "kPromote", ResultRule.SAME: "kSame", ResultRule.LAST: "kLast",
    ResultRule.FLOATING: "kFloating", ResultRule.BOOL: "kBool", ResultRule.INT64: "kInt64",
    ResultRule.ACCUMULATE: "kAccumulate", ResultRule.NUMBERS: "kNumbers",
}  # fmt: skip


def constant(op: Op) -> str:
    """Returns the name of a record in constants: kMaxDim for max.dim, kIndexPutInPlace for index_put_."""
    return "k" + pascal(identifier(re.sub(r"_(?=\.|$)", "_in_place", op.full_name)))


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

    @property
    def gradient_table(self) -> str:
        """Returns the name of the table of the schemas of gradients."""
        return f"k{pascal(self.name)}Gradients"

    @cached_property
    def records(self) -> list[OperatorSource]:
        """Returns an entry per record."""
        return [OperatorSource(op, self.definitions) for op in self.ops]

    @cached_property
    def gradients(self) -> list[OperatorSource]:
        """Returns an entry per gradient."""
        found = (self.definitions.gradients[op.full_name] for op in self.ops)
        return [OperatorSource(op, self.definitions, is_gradient=True) for each in found for op in each.operators]

    @property
    def entries(self) -> list[OperatorSource]:
        """Returns all entries."""
        return self.records + self.gradients

    @property
    def headers(self) -> list[str]:
        """Returns the headers that the file includes."""
        found = {"dispatch/operator.h", "dispatch/values.h"}
        if self.has_templates:
            found.add(f"generated/{self.name}_programs.h")
        for op in (entry.op for entry in self.entries):
            found.update(op.kind.runtime_rule(op).headers, op.kind.dimensions(op).headers)
            if isinstance(op.complex, Program):
                found.update(("dispatch/program_body.h", "ops/complex.h", "ops/program_functions.h"))
            elif op.complex is Complex.PARTS:
                found.add("ops/complex.h")
        return sorted(found)

    @property
    def has_templates(self) -> bool:
        """Returns whether programs of this family are templates, which are in a header."""
        return any(entry.templates for entry in self.entries)

    @property
    def maps(self) -> list[str]:
        """Returns the names of the function templates that map the index of a view."""
        return [name for entry in self.entries for name in entry.maps]

    @property
    def called(self) -> list[Called]:
        """Returns the operators that the composites and the gradients of this family call."""
        ops = {op.full_name: op for entry in self.entries for op in (*entry.called, *entry.gradient_ops)}
        return [Called(name, constant(op)) for name, op in sorted(ops.items())]


@dataclass(frozen=True)
class OperatorSource:
    """The C++ source of one record."""

    op: Op
    definitions: Definitions
    is_gradient: bool = False

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
    def _rule(self) -> RuntimeRule:
        return self.op.kind.runtime_rule(self.op)

    @cached_property
    def _function(self) -> CppDefinition | None:
        """Returns the C++ function that the rule of the kind points to, or None."""
        found = self._rule.programs
        name = f"{identifier(self.op.full_name)}_{found.members[0]}" if found else ""
        return function_of(self.op, found, constant, name) if found else None

    @cached_property
    def _complex_body(self) -> CppDefinition | None:
        """Returns the C++ function that computes the operator for complex operands, or None."""
        if not isinstance(self.op.complex, Program):
            return None
        name = f"{identifier(self.op.full_name)}_of_complex"
        programs = RulePrograms(Gives.RESULTS, (self.op.complex,), ())
        return function_of(for_complex(self.op, self.op.complex)[0], programs, constant, name)

    @property
    def _functions(self) -> list[CppDefinition]:
        return [function for function in (self._function, self._complex_body) if function]

    @property
    def functions(self) -> list[str]:
        """Returns the definitions of the record's C++ functions that are not templates."""
        return [function.text for function in self._functions if not function.is_template]

    @property
    def body(self) -> str:
        """Returns the name of the function of a composite."""
        assert self._function
        return self._function.name

    @property
    def templates(self) -> list[str]:
        """Returns the definitions of the record's function templates."""
        return [function.text for function in self._functions if function.is_template]

    @property
    def maps(self) -> list[str]:
        """Returns the name of the record's function template if it maps the index of a view, else nothing."""
        programs = self._rule.programs
        return [self._function.name] if self._function and programs and programs.gives is Gives.MAP else []

    @property
    def called(self) -> tuple[Op, ...]:
        """Returns the operators that these functions call."""
        return tuple(op for function in self._functions for op in function.called)

    # -- gradients --------------------------------------------------------------------------------------------------

    @cached_property
    def _gradient_rules(self) -> list[GradientRule]:
        return list(gradient_rules(self.op, self.definitions))

    @property
    def gradient_ops(self) -> list[Op]:
        """Returns the operators that compute gradients of the record."""
        return [rule.op for rule in self._gradient_rules if rule.op]

    @property
    def gradient_inputs(self) -> list[tuple[str, list[str]]]:
        """Returns the array of the inputs of each gradient: its name, and its rows."""
        return [
            (self._inputs_name(rule), list(map(_input, rule.inputs)))
            for rule in self._gradient_rules
            if rule.op and rule.result == 0
        ]

    @property
    def gradient_rules(self) -> list[str]:
        """Returns the initializers of the rules."""
        return [
            f".argument = {rule.argument}, .op = &{constant(rule.op)}, .inputs = {self._inputs_name(rule)}"
            + f", .result = {rule.result}" * (rule.result > 0)
            + ", .is_transpose = true" * rule.is_transpose
            if rule.op
            else f".argument = {rule.argument}"
            for rule in self._gradient_rules
        ]

    def _inputs_name(self, rule: GradientRule) -> str:
        first = next(each for each in self._gradient_rules if each.op is rule.op)
        return f"{self.constant}InputsFor{pascal(self.op.signature.arguments[first.argument].name)}"

    # -- tables -----------------------------------------------------------------------------------------------------

    @property
    def match_values(self) -> str:
        """Returns the initializers of the values of the attribute that the record matches on."""
        return ", ".join(f'"{value}"' for value in self.op.kind.matched_values)

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
        yield f".type = ArgumentType::{type_.base.enumerator}"
        # A gradient that reads only the shape, the dtype or the device of a tensor combines no data with it.
        is_form = type_.is_tensor and self.is_gradient and not reads(self.op, argument.name)
        is_own_size = self.op.kind.checks_sizes and type_.base is base_types.SIZE and type_.is_list
        flags = {
            "is_list": type_.is_list,
            "is_optional": type_.optional,
            "has_optional_items": type_.optional_members,
            "is_keyword_only": argument.keyword_only,
            "is_written": argument.alias is not None and argument.alias.written,
            "takes_any_size": is_own_size,
            "comes_from_any_device": is_form or argument.name == self.op.from_any_device,
        }
        for name, holds in flags.items():
            if holds:
                yield f".{name} = true"
        if type_.is_tensor and (accepted := self.op.accepted(argument)) is not DTypeSet.ANY:
            yield f".accepts = DTypeSet::k{accepted.value.capitalize()}"

    @property
    def formers(self) -> list[tuple[str, list[list[str]], list[str]]]:
        """Returns, for each former signature, the name of its arguments, their initializers, and its own."""
        found = []
        for number, former in enumerate(self.definitions.formers.get(self.op.full_name, ())):
            name = f"{self.constant}FormerArguments{number}"
            rows = [list(self._argument(argument)) for argument in former_arguments(former, self.op)]
            signature = literal(signatures.print_signature(former.signature), MARGIN + len(".signature = "))
            lines = [f'.name = "{former.full_name}"', f".signature = {signature}", f".arguments = {name}"]
            found.append((name, rows, lines))
        return found

    @property
    def schema(self) -> list[str]:
        """Returns the initializers of the schema."""
        op = self.op
        lines = [
            f'.name = "{op.full_name}"',
            f'.function_name = "{op.name}"',
            f".signature = {literal(signatures.print_signature(op.signature), MARGIN + len('.signature = '))}",
            f".summary = {literal(op.summary, MARGIN + len('.summary = '))}",
            f'.kind = "{op.kind.key}"',
            f".signature_id = 0x{op.signature_id:016x}",
            f".kernel_id = 0x{op.kernel_id:016x}",
            f".arguments = {self.constant}Arguments",
            f".result_count = {len(op.signature.results)}",
            *([".gives_list = true"] if op.signature.gives_list else []),
            *self._result_aliases(),
            braced(".dtype = {", self._dtype_rule()),
        ]
        if op.kind.matched:
            match = op.position(op.kind.matched)
            lines.append(f".match = {{.argument = {match}, .values = {self.constant}Values}}")
        if not op.kind.is_long:
            lines.append(".is_quick = true")
        if op.kind.commutes(op):
            lines.append(".commutes = true")
        rule = self._rule
        lines += [f".{name} = {boolean(value)}" for name, value in rule.schema.items()]
        if rule.struct:
            lines.append(f".rule = &{self.constant}Rule")
        lines.append(f".run = {rule.run}")
        lines.append(f".dimensions = {op.kind.dimensions(op).function}")
        if op.takes_complex:
            lines.append(f".run_complex = {self._complex_runner(rule)}")
        if self._complex_body:
            lines.append(f".complex_body = {self._complex_body.name}")
        if op.kind.holds_for_complex(op):
            lines.append(".holds_for_complex = true")
        if self._gradient_rules:
            lines.append(f".gradients = {self.constant}Gradients")
        if op.kind.has_body and not op.is_detached:
            lines.append(".has_body = true")
        if rule.operations:
            lines.append(f".operations = {rule.operations}")
        if costs := op.kind.element_costs:
            sums = [sum(each.values()) for each in costs.values()]
            lines.append(f".element_operations = kList<{', '.join(map(str, sums))}>")
        if self.formers:
            lines.append(f".formerly = {self.constant}Formerly")
        return lines

    def _result_aliases(self) -> Iterator[str]:
        found = self.op.result_aliases
        if any(each is not None for each in found):
            positions = (-1 if each is None else each for each in found)
            yield f".result_aliases = {{{', '.join(map(str, positions))}}}"

    def _dtype_rule(self) -> list[str]:
        rule = self.op.dtype
        fields = [".results = {" + ", ".join(f"ResultRule::{_RESULTS[r]}" for r in rule.results) + "}"]
        if rule.override:
            fields.append(f".override_argument = {self.op.position(rule.override)}")
            if self._takes_floating_override():
                fields.append(".floating_only = true")
        if rule.holds:
            fields.append(f".held_arguments = {self._mask(rule.holds)}")
        kind = self.op.kind
        selected = {name: None for name in rule.holds if kind.only_selects(name)}
        if kind.comparison(self.op):
            selected |= {a.name: None for a in self.op.signature.arguments if a.type.base is base_types.OPERAND}
        if selected:
            fields.append(f".selected_arguments = {self._mask(selected)}")
        compute = rule.computes_in
        if compute and (rule.compute or self.op.signature.tensor_arguments):
            fields += [f".compute = ResultRule::{_RESULTS[compute]}", ".computes_result = false"]
        return fields

    def _mask(self, names: Iterable[str]) -> str:
        """Returns a bit mask of arguments."""
        return " | ".join(f"1 << {self.op.position(name)}" for name in names)

    def _takes_floating_override(self) -> bool:
        """Returns whether the dtype argument must be a floating-point type.

        It must if operands must be floating-point numbers, or if the results are random fractions.
        """
        return self.op.kind.draws_fractions or self.op.dtype.converts

    @property
    def rule(self) -> str:
        """Returns the definition of the rule of the kind; empty if the kind has no rule."""
        rule = self._rule
        if not rule.struct:
            return ""
        members = [f".{name} = {self._member(name, value)}" for name, value in rule.members.items()]
        if function := self._function:
            members += [f".{member} = {function.name}" for member in function.members]
        return fill(f"constexpr {rule.struct} {self.constant}Rule = {{", members, "};", WIDTH)

    def _member(self, name: str, value: Member) -> str:
        """Returns the initializer of a member of a rule."""
        match value:
            case Rows():
                return self._rows_name(name)
            case bool():
                return boolean(value)
            case str():
                return string(value)
            case int():
                return str(value)

    def _rows_name(self, member: str) -> str:
        return f"{self.constant}{pascal(member)}"

    @property
    def arrays(self) -> list[tuple[str, list[str]]]:
        """Returns the arrays that the rule refers to: the declaration of each, and its rows."""
        found = []
        for name, value in self._rule.members.items():
            if isinstance(value, Rows):
                rows = ["{" + ", ".join(map(_cell, row)) + "}" for row in value.rows]
                found.append((f"{value.struct} {self._rows_name(name)}[]", rows))
        return found

    def _complex_runner(self, rule: RuntimeRule) -> str:
        if self._complex_body:
            return "run_complex_body"
        if self.op.complex is Complex.PARTS:
            return rule.run_by_parts
        return rule.run_complex or rule.run


def _input(each: GradientInput) -> str:
    text = f"GradientInput::{each.source.value}, {each.position}"
    return f"{{{text}, {boolean(each.needs_elements)}}}"


def _cell(value: str | Enumerator | None) -> str:
    return value.text if isinstance(value, Enumerator) else string(value)


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
            return f"to_value({real(float(value) if argument.type.base.passed is base_types.FLOAT else value)})"
        case str():
            return f"to_value({string(value)})"
    return "kNoTensors" if argument.type.is_tensor else f"to_value(kList<{', '.join(map(str, value))}>)"


def literal(text: str, column: int) -> str:
    """Returns a string literal that begins at `column`, in several pieces if it does not fit on the line."""
    escaped = string(text)[1:-1]
    room = WIDTH - column - len('"",')
    if len(escaped) <= room:
        return f'"{escaped}"'
    lines = textwrap.wrap(escaped, room - 1, drop_whitespace=False, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * column).join(f'"{line}"' for line in lines)
