"""The reference manual: one page per function, in every language that people write, and an index by family."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePath

from codegen import discover, prose
from codegen.kinds import KINDS
from codegen.language import Language, Output
from codegen.model import Definitions, Example, Function, Generator, Op, View
from codegen.names import source_files
from codegen.signature import print_literal, print_signature, print_type

FOLDER = "docs/generated/reference"


class Manual(Language):
    title = "Reference manual"

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        self.templates.add(
            cell=_cell,
            code=_code,
            definitions=prose.definitions,
            dtype_lines=prose.dtype_lines,
            forms=prose.forms,
            meaning=prose.meaning,
            gives=_gives,
            print_literal=print_literal,
            print_signature=print_signature,
            print_type=print_type,
            shape=_shape,
            single=lambda op, function: Function(function.name, (op,)),
        )
        for function in definitions.functions:
            text = self.templates.render(
                "function.md.j2",
                function=function,
                offered=[language for language in self._languages if function.name not in language.names.omitted],
                left_out={
                    language.title: language.names.omitted[function.name]
                    for language in self._languages
                    if function.name in language.names.omitted
                },
                sources=source_files(function.overloads),
            )
            yield Output(f"{FOLDER}/{function.name}.md", text)
        yield Output(f"{FOLDER}/README.md", self._index(definitions))

    @cached_property
    def _languages(self) -> list[Language]:
        return discover.speaking(self.definitions)

    def _index(self, definitions: Definitions) -> str:
        """Families are definition files, in their order; a function stands where its first record does."""
        families: dict[str, list[Function]] = {}
        for function in definitions.functions:
            family = PurePath(function.overloads[0].location.file).stem
            families.setdefault(family.replace("_", " ").capitalize(), []).append(function)
        return self.templates.render(
            "index.md.j2",
            families=dict(sorted(families.items())),
            languages=self._languages,
            forms=prose.FORMS,
            sources=source_files(definitions.ops),
        )


def _code(language: Language, lines: str | tuple[str, ...]) -> str:
    text = lines if isinstance(lines, str) else "\n".join(lines)
    return f"```{language.fence}\n{text}\n```"


def _gives(op: Op, example: Example) -> str:
    """`[5.0, 7.0]`, or `values` and `indices` with theirs."""
    if len(op.signature.results) == 1 or not isinstance(example.gives, tuple):
        return f"`{print_literal(example.gives)}`"
    named = zip(op.signature.results, example.gives, strict=True)
    return ", ".join(f"{result.name or 'a result'} `{print_literal(value)}`" for result, value in named)


def _shape(op: Op) -> str:
    """The rule that gives the result's shape, as the kind says it."""
    text = next((fact.text for fact in KINDS[op.kind_name].facts(op, op.kind) if fact.what == "shape"), "")
    return f"`{text}`" if isinstance(op.kind, View | Generator) else text


def _cell(text: str) -> str:
    """Text inside a table: a bar would end the cell."""
    return text.replace("|", "\\|").replace("\n", " ")
