"""Ruby: the function table of the extension, RBS signatures, documentation, and tests of examples and error cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, partial
from itertools import groupby
from pathlib import PurePath

from codegen.definitions import Definitions, Function
from codegen.examples import ErrorCase
from codegen.function_table import FunctionTable
from codegen.language import Language
from codegen.library_function import LibraryFunction
from codegen.names import identifier, pascal, source_files, with_parents
from codegen.objects.examples import Examples
from codegen.objects.model import Member
from codegen.printer import string
from codegen.target import Output
from codegen.targets.ruby import documentation, table, testing, words
from codegen.targets.ruby.classes import RubyClasses, RubyExamples
from codegen.targets.ruby.words import RUBY

FOLDER = "bindings/ruby/generated"


def marked(name: str) -> str:
    """Converts the name of what changes an argument: index_put_ -> index_put!."""
    return f"{name.removesuffix('_')}!" if name.endswith("_") else name


class Ruby(Language):
    title = "Ruby"
    fence = "ruby"
    opening = 'require "oneflow"'
    forms = ("OneFlow.add(x, y)", "x.add(y)", "x.add!(y)", "OneFlow.add(x, y, out: z)")
    words = RUBY
    libraries = "Ops::"

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        sources = source_files(definitions.ops)
        templates = self.templates.add(
            identifier=identifier,
            pascal=pascal,
            string=string,
            definition=table.definition,
            function_types=table.function_types,
            method_types=table.method_types,
            in_place_types=table.in_place_types,
            in_place_function_types=table.in_place_function_types,
            function_lines=table.function_lines,
            method_lines=table.method_lines,
            rdoc=documentation.rdoc,
            rbs_comment=partial(documentation.rbs_comment, ruby=self),
        )
        for name in ("class_table.cpp", "classes.rbs"):
            text = templates.render(f"{name}.j2", classes=self._classes)
            yield Output(f"{FOLDER}/{name}", text)
        for name in ("functions.cpp", "functions.rbs", "documentation.rb"):
            text = templates.render(
                f"{name}.j2",
                entries=self.entries,
                name_spaces=self.name_spaces,
                ops=definitions.ops,
                sources=sources,
                language=self,
                table=FunctionTable(definitions.ops, RUBY),
            )
            yield Output(f"{FOLDER}/{name}", text)
        yield Output(f"{FOLDER}/test_classes.json", self._classes.table.calls)
        text = templates.render(
            "examples.rb.j2", examples=self.examples.all_lines(), sources=definitions.objects.sources
        )
        yield Output(f"{FOLDER}/test_class_examples.rb", text)
        for file, ops in groupby(definitions.ops, key=lambda op: op.location.file):
            family = PurePath(file).stem
            tests = [t for op in ops if op.name not in self.names.omitted for t in testing.tests(op, self)]
            text = templates.render("test.rb.j2", tests=tests, family=family, sources=[file])
            yield Output(f"{FOLDER}/test_{family}.rb", text)

    def library_function(self, function: Function) -> LibraryFunction:
        entry = self._entry(function)
        return LibraryFunction(function, self.public_name(function), entry.name, entry.in_place)

    def library_stub(self, library: Definitions) -> Output:
        templates = self.templates.add(
            definition=table.definition,
            function_types=table.function_types,
            in_place_function_types=table.in_place_function_types,
            rbs_comment=partial(documentation.rbs_comment, ruby=self),
        )
        text = templates.render(
            "library.rbs.j2",
            name_space=words.module_name(library.space),
            entries=[self._entry(function) for function in library.functions],
            sources=source_files(library.ops),
        )
        return Output(f"{library.space}.rbs", text)

    @cached_property
    def _classes(self) -> RubyClasses:
        return RubyClasses(self.objects)

    @cached_property
    def examples(self) -> Examples:
        return RubyExamples(self.objects, self._classes.words, self.words, self.public_names)

    @cached_property
    def entries(self) -> tuple[table.RubyFunction, ...]:
        """Returns all functions."""
        offered = self.names.offered(self.definitions)
        started = [function.started for function in offered if function.started]
        return tuple(self._entry(function) for function in (*offered, *started))

    @property
    def name_spaces(self) -> dict[str | None, list[table.RubyFunction]]:
        """Returns the functions by module, also those that contain a module alone; None stands for OneFlow itself."""
        spaces = with_parents({entry.function.namespace for entry in self.entries if entry.function.namespace})
        modules = (None, *map(words.module_name, spaces))
        return {module: [entry for entry in self.entries if entry.name_space == module] for module in modules}

    def _entry(self, function: Function) -> table.RubyFunction:
        name = self.public_name(function).rpartition(".")[2]
        space = function.namespace
        method = name if function.is_method and not space and function.name not in words.WITHOUT_METHOD else None
        return table.RubyFunction(
            function,
            name,
            words.module_name(space) if space else None,
            method,
            words.OPERATORS.get(function.name),
            f"{name}!" if function.in_place_overloads else None,
        )

    # -- names --------------------------------------------------------------------------------------------------------

    def public_name(self, function: Function) -> str:
        space, _, name = self.names.of(function.name, marked, reserved=words.MEMBERS).rpartition(".")
        return f"{words.module_name(space)}.{name}" if space else name

    def own_name(self, name: str) -> str:
        if name in self._functions:
            return super().own_name(name)
        if name in with_parents(function.namespace for function in self.definitions.functions if function.namespace):
            return words.module_name(name)
        space, _, leaf = name.rpartition(".")
        return f"{words.module_name(space)}.{leaf}" if space else name

    def argument_name(self, name: str) -> str:
        return name

    def signature_text(self, function: Function) -> tuple[str, ...]:
        name = self.public_name(function)
        return tuple(table.signature(words.qualified(name), op) for op in function.overloads)

    def member_text(self, member: Member) -> str:
        return self._classes.signature(member)

    def error_class(self, case: ErrorCase) -> str:
        return f"OneFlow::{case.raises}"

    def error_text(self, case: ErrorCase) -> str:
        """Returns the error text with the names that functions have in Ruby: `optim.sgd_` becomes `Optim.sgd!`."""
        text = super().error_text(case)
        return re.sub(r"\b[a-z][\w.]*\w", lambda match: self.public_names.get(match.group(), match.group()), text)
