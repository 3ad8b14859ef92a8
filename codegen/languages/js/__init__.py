"""The Node.js front end: table of functions, ES module, declarations for TypeScript, tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from codegen.language import Language, Output
from codegen.languages.js import typescript, words
from codegen.model import DTYPES, Call, Definitions, ErrorCase, Example, Function, Literal, Op, Type
from codegen.names import camel, known_words, source_files
from codegen.signature import parse_type
from codegen.templates import Templates

FOLDER = "bindings/js/generated"


@dataclass(frozen=True)
class Offered:
    """A public function with its names: as function, promise variant and in-place form, None where there is none.

    The in-place form is a method where the function is one.
    """

    function: Function
    name: str
    async_name: str | None
    in_place_name: str | None

    @property
    def overloads(self) -> tuple[Op, ...]:
        return self.function.overloads

    @property
    def method_overloads(self) -> tuple[Op, ...]:
        return tuple(op for op in self.overloads if op.receiver)

    @property
    def leaf(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition(".")[2]


def top_names(functions: Sequence[Offered]) -> list[str]:
    """What the module exports for these functions: names without a namespace, and the namespaces."""
    names = {part for function in functions for part in (function.name, function.async_name) if part}
    return sorted({name.partition(".")[0] for name in names})


def namespaces(functions: Sequence[Offered]) -> Mapping[str | None, list[Offered]]:
    """The functions by namespace; None stands for the module itself."""
    found: dict[str | None, list[Offered]] = {None: []}
    for function in functions:
        found.setdefault(function.name.rpartition(".")[0] or None, []).append(function)
    return found


class Js(Language):
    title = "Node.js"
    fence = "js"
    opening = "import flow from 'oneflow-js';"
    forms = ("flow.add(x, y)", "x.add(y)", "x.add_(y)", "flow.add(x, y, {out: z})")
    speaks = True
    none_word = "null"
    reserved = words.RESERVED

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        offered = [self._offered(function) for function in self.names.offered(definitions)]
        sources = source_files(definitions.ops)
        renamed = {word: camel(word) for word in sorted(known_words(definitions))}
        for template in ("functions.js", "index.mjs", "index.d.ts", "index.d.mts"):
            text = self._templates.render(
                f"{template}.j2", functions=offered, sources=sources, words=renamed, dtypes=DTYPES
            )
            yield Output(f"{FOLDER}/{template}", text)
        for source in sources:
            ops = [op for op in definitions.ops if op.location.file == source]
            yield Output(
                f"{FOLDER}/{PurePosixPath(source).stem}.test.mjs",
                self._templates.render("test.mjs.j2", ops=ops, sources=[source], language=self),
            )

    @cached_property
    def _templates(self) -> Templates:
        return self.templates.add(
            camel=camel,
            quoted=words.quoted,
            literal=words.literal_text,
            expected_word=words.expected_word,
            declare=typescript,
            top_names=top_names,
            namespaces=namespaces,
        )

    def _offered(self, function: Function) -> Offered:
        name = self.public_name(function)
        leaf = camel(function.name)
        return Offered(
            function,
            name,
            f"{leaf}Async" if all(map(typescript.is_async, function.overloads)) else None,
            f"{leaf}_" if any(op.has_in_place for op in function.overloads) else None,
        )

    # -- words ----------------------------------------------------------------------------------------------------

    @cached_property
    def _public_names(self) -> Mapping[str, str]:
        return {function.name: self.public_name(function) for function in self.definitions.functions}

    def public_name(self, function: Function) -> str:
        return self.names.of(function.name, camel, words.RESERVED | words.MEMBERS)

    def argument_name(self, name: str) -> str:
        return camel(name)

    def type_word(self, type_: Type) -> str:
        return words.expected_word(type_)

    def call_text(self, call: Call) -> str:
        return words.call_text(call, self._public_names)

    def signature_text(self, function: Function) -> tuple[str, ...]:
        return tuple(words.signature_line(self.public_name(function), op) for op in function.overloads)

    def error_class(self, case: ErrorCase) -> str:
        return f"flow.{case.raises}"

    def error_text(self, case: ErrorCase) -> str:
        """What was found is named by its JavaScript type: 1 and 1.5 are both numbers."""

        def found(match: re.Match[str]) -> str:
            word = match.group(1)
            return f"got {self.none_word if word == 'None' else words.found_word(parse_type(word))}"

        replaced = re.sub(r"got \{([^{}]*)\}", found, case.says)
        return super().error_text(replace(case, says=replaced))

    def literal_text(self, value: Literal) -> str:
        return words.literal_text(value)

    # -- tests ----------------------------------------------------------------------------------------------------

    def expected_values(self, example: Example) -> str:
        """What an example gives, as nested arrays."""
        return words.literal_text(example.gives)
