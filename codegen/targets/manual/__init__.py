"""The reference manual: pages of functions, with signatures, examples and errors in every language, and an index.

The classes and functions of a definition file share a page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePath

from codegen import discover, prose
from codegen.definitions import Definitions, Function
from codegen.examples import ErrorCase, Example
from codegen.language import Language
from codegen.model import Op
from codegen.names import source_files
from codegen.objects.model import Objects
from codegen.target import Output, PublicTarget
from codegen.types import Argument

FOLDER = "docs/generated/reference"


class Manual(PublicTarget):
    title = "Reference manual"

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        self.templates.add(
            argument_row=_argument_row,
            code=_code,
            definitions=prose.definitions,
            dtype_lines=prose.dtype_lines,
            error_classes=_error_classes,
            error_texts=_error_texts,
            forms=prose.forms,
            gives=_gives,
            heading=_heading,
            offered=_offered,
            page_title=_page_title,
            stem=lambda source: PurePath(source).stem,
            shape=lambda op: op.kind.shape_text(op),
            single=lambda op, function: Function(function.name, (op,)),
        )
        for function in definitions.functions:
            text = self.templates.render(
                "function.md.j2",
                function=function,
                offered=[language for language in self._languages if function.name not in language.names.omitted],
                omitted={
                    language.title: language.names.omitted[function.name]
                    for language in self._languages
                    if function.name in language.names.omitted
                },
                sources=source_files(function.overloads),
            )
            yield Output(f"{FOLDER}/{function.name}.md", text)
        for source in definitions.objects.sources:
            text = self.templates.render(
                "classes.md.j2", source=source, objects=definitions.objects, languages=self._languages
            )
            yield Output(f"{FOLDER}/{PurePath(source).stem}.md", text)
        yield Output(f"{FOLDER}/README.md", self._index(definitions))

    @cached_property
    def _languages(self) -> list[Language]:
        return discover.languages(self.definitions)

    def _index(self, definitions: Definitions) -> str:
        """Renders the index, which groups the functions by the definition file of their first record."""
        families: dict[str, list[Function]] = {}
        for function in definitions.functions:
            families.setdefault(_page_title(function.overloads[0].location.file), []).append(function)
        return self.templates.render(
            "index.md.j2",
            families=dict(sorted(families.items())),
            languages=self._languages,
            forms=prose.FORMS,
            sources=source_files(definitions.ops),
            objects=definitions.objects,
        )


def _offered(objects: Objects, source: str) -> list[str]:
    """Returns the names of the classes and functions of a definition file, as code."""
    classes = [each.name for each in objects.classes if each.location.file == source]
    functions = [each.full_name for each in objects.declared if each.location.file == source]
    return [f"`{name}`" for name in (*classes, *functions)]


def _page_title(source: str) -> str:
    return PurePath(source).stem.replace("_", " ").capitalize()


def _heading(op: Op, function: Function) -> str:
    """Returns the heading of an overload: its required arguments, with types if overloads differ in nothing else."""
    required = {each.full_name: _required(each) for each in function.overloads}
    same = [each for each in function.overloads if _names(required[each.full_name]) == _names(required[op.full_name])]
    types = Counter((argument.name, argument.type) for each in same for argument in required[each.full_name])
    texts = (
        argument.name if types[argument.name, argument.type] == len(same)
        else f"{argument.name}: {prose.type_words(argument.type)}"
        for argument in required[op.full_name]
    )  # fmt: skip
    return f"{function.name}({', '.join(texts)})"


def _required(op: Op) -> tuple[Argument, ...]:
    return tuple(argument for argument in op.signature.arguments if not argument.has_default)


def _names(arguments: Iterable[Argument]) -> tuple[str, ...]:
    return tuple(argument.name for argument in arguments)


def _argument_row(op: Op, argument: Argument, languages: Sequence[Language]) -> str:
    """Returns a row of the table of arguments: the name, the type, and what the record says about it."""
    type_ = prose.type_words(argument.type)
    if argument.type.optional or argument.has_default:
        type_ += "; optional"
    if argument.keyword_only:
        type_ += "; keyword-only"
    renamed = [
        f"`{name}` in {language.title}"
        for language in languages
        if (name := language.argument_name(argument.name)) != argument.name
    ]
    meaning = "; ".join(filter(None, (prose.meaning(op, argument), *renamed)))
    return f"| `{argument.name}` | {type_} |{f' {meaning}' if meaning else ''} |"


def _code(language: Language, lines: str | tuple[str, ...]) -> str:
    """Returns a block of code."""
    text = lines if isinstance(lines, str) else "\n".join(lines)
    return f"```{language.fence}\n{text}\n```"


def _gives(op: Op, example: Example) -> str:
    """Returns the result of an example: `[5.0, 7.0]`, or the named results with their values."""
    if len(op.signature.results) == 1 or not isinstance(example.gives, tuple):
        return f"`{prose.value_text(example.gives)}`"
    named = zip(op.signature.results, example.gives, strict=True)
    return ", ".join(f"{f'`{r.name}` = ' if r.name else ''}`{prose.value_text(value)}`" for r, value in named)


def _error_classes(languages: Sequence[Language], case: ErrorCase) -> str:
    """Returns the class of an error in all languages: "`flow.ShapeError` (Python) or `OneFlow::ShapeError` (Ruby)"."""
    titles: dict[str, list[str]] = {}
    for language in languages:
        titles.setdefault(language.error_class(case), []).append(language.title)
    return " or ".join(f"`{name}` ({', '.join(group)})" for name, group in titles.items())


def _error_texts(languages: Sequence[Language], case: ErrorCase) -> str:
    """Returns the text of an error, or, where languages differ, each text after the titles of its languages."""
    titles: dict[str, list[str]] = {}
    for language in languages:
        titles.setdefault(language.error_text(case), []).append(language.title)
    if len(titles) == 1:
        return next(iter(titles))
    labels = {text: f"{', '.join(group)}: " for text, group in titles.items()}
    width = max(map(len, labels.values()))
    return "\n".join(f"{label:{width}}" + text.replace("\n", "\n" + " " * width) for text, label in labels.items())
