"""Node.js: the tables of functions, the ES module, TypeScript declarations, and tests from examples and error cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from codegen.definitions import Definitions, Function
from codegen.dtypes import DTYPES
from codegen.examples import ErrorCase, Example
from codegen.function_table import FunctionTable
from codegen.language import Language
from codegen.library_function import LibraryFunction
from codegen.model import Op
from codegen.names import camel, identifier, known_words, source_files
from codegen.objects.examples import Examples
from codegen.objects.model import Member
from codegen.printer import boolean, string
from codegen.signature import parse_type
from codegen.target import Output
from codegen.targets.js import typescript, words
from codegen.targets.js.classes import JsClasses, JsExamples
from codegen.targets.js.words import JS, MEMBERS, RESERVED
from codegen.templates import Templates

FOLDER = "bindings/js/generated"


@dataclass(frozen=True)
class JsFunction:
    """A public function with its names in JavaScript. The in-place form is a method if the function is one."""

    function: Function
    name: str
    async_name: str | None  # of the promise variant; None: there is none
    in_place_name: str | None  # None: there is no in-place form

    @property
    def overloads(self) -> tuple[Op, ...]:
        """Returns the overloads in the order in which a call tries them."""
        return self.function.overloads

    @property
    def method_overloads(self) -> tuple[Op, ...]:
        """Returns the overloads that are methods, too."""
        return self.function.method_overloads

    @property
    def variable(self) -> str:
        """Returns the name of the array of overloads in the table of the addon."""
        return f"{identifier(self.function.name)}_overloads"

    @property
    def row(self) -> str:
        """Returns the initializer of an of_public_function."""
        names = map(string, (camel(self.function.name), self.in_place_name))
        count = str(len(self.overloads))
        flags = (self.function.takes_equation, self.function.started is not None)
        return ", ".join((*names, self.variable, count, *map(boolean, flags)))

    @property
    def leaf(self) -> str:
        """Returns the name without its namespace."""
        return self.name.rpartition(".")[2]


def top_names(functions: Sequence[JsFunction]) -> list[str]:
    """Returns the names that the module exports for these functions: those without a namespace, and the namespaces."""
    names = {part for function in functions for part in (function.name, function.async_name) if part}
    return sorted({name.partition(".")[0] for name in names})


def namespaces(functions: Sequence[JsFunction]) -> Mapping[str | None, list[JsFunction]]:
    """Returns the functions by namespace; None stands for the module itself."""
    found: dict[str | None, list[JsFunction]] = {None: []}
    for function in functions:
        found.setdefault(function.name.rpartition(".")[0] or None, []).append(function)
    return found


class Js(Language):
    title = "Node.js"
    fence = "js"
    opening = "import flow from 'oneflow-js';"
    forms = ("flow.add(x, y)", "x.add(y)", "x.add_(y)", "flow.add(x, y, {out: z})")
    words = JS
    reserved = RESERVED

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        offered = [self._offered(function) for function in self.names.offered(definitions)]
        sources = source_files(definitions.ops)
        renamed = {word: camel(word) for word in sorted(known_words(definitions))}
        for template in ("functions.js", "function_table.cpp", "index.mjs", "index.d.ts", "index.d.mts"):
            text = self._templates.render(
                f"{template}.j2",
                functions=offered,
                sources=sources,
                words=renamed,
                dtypes=DTYPES,
                language=self,
                classes=self._classes,
                table=FunctionTable(definitions.ops, JS, camel),
            )
            yield Output(f"{FOLDER}/{template}", text)
        for template in ("class_table.cpp", "classes.js", "classes.d.ts"):
            text = self._templates.render(f"{template}.j2", classes=self._classes)
            yield Output(f"{FOLDER}/{template}", text)
        yield Output(f"{FOLDER}/classes.test.json", self._classes.table.calls)
        text = self._templates.render(
            "examples.mjs.j2", examples=self.examples.all_lines(), sources=definitions.objects.sources
        )
        yield Output(f"{FOLDER}/classExamples.test.mjs", text)
        for source in sources:
            ops = [op for op in definitions.ops if op.location.file == source]
            yield Output(
                f"{FOLDER}/{PurePosixPath(source).stem}.test.mjs",
                self._templates.render("test.mjs.j2", ops=ops, sources=[source], language=self),
            )

    @cached_property
    def _classes(self) -> JsClasses:
        return JsClasses(self.objects)

    @cached_property
    def examples(self) -> Examples:
        return JsExamples(self.objects, self._classes.words, self.words, self.public_names)

    @cached_property
    def _templates(self) -> Templates:
        return self.templates.add(
            camel=camel,
            c_string=string,
            quoted=JS.string,
            literal=JS.literal,
            declare=typescript,
            top_names=top_names,
            namespaces=namespaces,
        )

    def _offered(self, function: Function) -> JsFunction:
        name = self.public_name(function)
        leaf = camel(function.name)
        return JsFunction(
            function,
            name,
            f"{leaf}Async" if all(map(typescript.is_async, function.overloads)) else None,
            f"{leaf}_" if function.in_place_overloads else None,
        )

    # -- libraries of operators -----------------------------------------------------------------------------------

    def library_function(self, function: Function) -> LibraryFunction:
        offered = self._offered(function)
        leaves = (name and name.rpartition(".")[2] for name in (offered.in_place_name, offered.async_name))
        return LibraryFunction(function, offered.name, offered.leaf, *leaves)

    def library_stub(self, library: Definitions) -> Output:
        functions = [self._offered(function) for function in library.functions]
        text = self._templates.render("library.d.ts.j2", functions=functions, sources=source_files(library.ops))
        return Output(f"{library.space}.d.ts", text)

    # -- names ----------------------------------------------------------------------------------------------------

    def public_name(self, function: Function) -> str:
        return self.names.of(function.name, camel, RESERVED | MEMBERS)

    def names_of_forms(self, function: Function) -> Iterator[str]:
        offered = self._offered(function)
        return filter(None, (offered.name, offered.async_name, offered.in_place_name))

    def argument_name(self, name: str) -> str:
        return camel(name)

    def signature_text(self, function: Function) -> tuple[str, ...]:
        return tuple(words.signature_line(self.public_name(function), op) for op in function.overloads)

    def member_text(self, member: Member) -> str:
        return "\n".join(map(self._classes.signature, self._classes.with_promises([member])))

    def error_class(self, case: ErrorCase) -> str:
        return f"flow.{case.raises}"

    def error_text(self, case: ErrorCase) -> str:
        """Returns the error text; it names the JavaScript type of a value that was found, so 1 and 1.5 are numbers."""

        def found(match: re.Match[str]) -> str:
            word = match.group(1)
            return f"got {JS.null if word == 'None' else JS.found_word(parse_type(word))}"

        replaced = re.sub(r"got \{([^{}]*)\}", found, case.says)
        return super().error_text(replace(case, says=replaced))

    # -- tests ----------------------------------------------------------------------------------------------------

    def expected_values(self, example: Example) -> str:
        """Returns the result of an example as nested arrays."""
        return JS.literal(example.gives)
