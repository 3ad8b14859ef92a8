"""The interface of a language that people call operators in."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property

from codegen import signature as signatures
from codegen.definitions import Definitions, Function
from codegen.errors import Problem, TextError
from codegen.examples import Call, ErrorCase
from codegen.library_function import LibraryFunction
from codegen.names import known_words
from codegen.objects.examples import Examples
from codegen.objects.model import Member, Objects
from codegen.target import Output, PublicTarget
from codegen.words import Words


class Language(PublicTarget):
    """A language with a front end. It appears in the reference manual, and in the tests of examples and error cases."""

    fence: str  # the language's name in Markdown code fences
    opening: str  # the first line of a program: "import oneflow_py as flow"
    forms: tuple[str, ...]  # an example of each form of a call, in the order of prose.FORMS
    words: Words  # how it writes types, literals and calls
    libraries: str = "ops."  # the beginning of the names of functions of libraries of operators

    def problems(self, definitions: Definitions) -> Iterator[Problem]:
        """Yields the reserved words among the names, and functions that would have the same public name."""
        yield from super().problems(definitions)
        owners: dict[str, Function] = {}
        for function in self.names.offered(definitions):
            for name in self.names_of_forms(function):
                other = owners.setdefault(name, function)
                if other is not function:
                    text = f"'{function.name}' and '{other.name}' have the same name in {self.title}: {name}"
                    yield Problem(function.overloads[0].location, text)
        omitted = {each.name for each in definitions.objects.classes if self.name in each.omitted}
        users = [(each.full_name, each.location, each.type_names) for each in self.objects.members]
        users += [(each.name, each.location, {each.type}) for each in self.objects.constants]
        for user, location, types in users:
            for name in sorted(omitted & types):
                yield Problem(location, f"'{user}' needs '{name}', which {self.title} omits")
        for each in self.objects.classes:
            for program, location in each.examples:
                try:
                    list(self.examples.lines(program))
                except (TextError, SyntaxError) as error:
                    yield Problem(location, str(error))

    @abstractmethod
    def public_name(self, function: Function) -> str:
        """Returns the public name of a function, according to the case rule and `names.yaml`."""

    def names_of_forms(self, function: Function) -> Iterator[str]:
        """Yields the public names of a function and of its other forms."""
        yield self.public_name(function)

    @abstractmethod
    def argument_name(self, name: str) -> str:
        """Returns the public name of an argument."""

    def call_text(self, call: Call) -> str:
        """Returns a call as a user writes it: `flow.sum(flow.tensor([[1.0]]), dim=1)`."""
        return self.words.call(call, self.public_names.__getitem__)

    @abstractmethod
    def signature_text(self, function: Function) -> tuple[str, ...]:
        """Returns the signature of each overload, as the manual shows it; a long one has several lines."""

    @abstractmethod
    def member_text(self, member: Member) -> str:
        """Returns the signature of a member of a class, as the manual shows it; a long one has several lines."""

    @property
    @abstractmethod
    def examples(self) -> Examples:
        """Returns what writes the examples of classes."""

    @abstractmethod
    def error_class(self, case: ErrorCase) -> str:
        """Returns the class of the error, as a user writes it: `flow.ShapeError`."""

    def error_text(self, case: ErrorCase) -> str:
        """Returns the error text in this language.

        Names follow its case rule, and each `{type}` is replaced by the name of that type in error texts.
        """

        def word(match: re.Match[str]) -> str:
            type_ = match.group(1)
            if type_ is not None:
                return self.words.null if type_ == "None" else self.words.type_word(signatures.parse_type(type_))
            return self.argument_name(match.group()) if match.group() in self._known_words else match.group()

        return re.sub(r"\{([^{}]*)\}|\b[a-z][a-z0-9_]*\b", word, case.says)

    def own_name(self, name: str) -> str:
        """Returns the public name of a function, also of a hand-written one, or of a namespace."""
        function = self._functions.get(name)
        return self.public_name(function) if function else self.argument_name(name)

    def elsewhere(self, *, is_method: bool) -> dict[str, str]:
        """Returns the names that functions or methods have in other libraries, with what an error says of each.

        The name here of a function is also that of its method. Names that this language offers are left out.
        """
        found: dict[str, str] = {}
        offered = {self.public_name(function) for function in self.names.offered(self.definitions)}
        for each in self.definitions.elsewhere:
            if each.name in offered:
                continue
            here = each.here.get("", "")
            function = self._functions.get(here)
            if is_method and not each.is_method and not (function and function.is_method and "." not in each.name):
                continue
            if each.is_method and not is_method:
                continue
            if self.name not in each.here and " " in here:  # a text, with dotted names in it
                found[each.name] = re.sub(r"\b[a-z]+(\.[a-z]+)+\b", lambda match: self.own_name(match.group()), here)
            else:
                found[each.name] = f"here it is called {each.here.get(self.name) or self.own_name(here)}"
        return found

    @abstractmethod
    def library_function(self, function: Function) -> LibraryFunction:
        """Returns the names of a function of a library of operators."""

    @abstractmethod
    def library_stub(self, library: Definitions) -> Output:
        """Returns the declarations of the functions of a library, in a file beside it."""

    def library_words(self, library: Definitions) -> str | None:
        """Returns the names in texts of the runtime, each followed by that in the language, where they differ."""
        names = {word: self.argument_name(word) for word in sorted(known_words(library))}
        return " ".join(f"{word} {name}" for word, name in names.items() if name != word) or None

    @cached_property
    def objects(self) -> Objects:
        """Returns the classes that this language has, and their functions."""
        return self.definitions.objects.offered_in(self.name)

    @cached_property
    def _functions(self) -> Mapping[str, Function]:
        return {function.name: function for function in self.definitions.functions}

    @cached_property
    def public_names(self) -> Mapping[str, str]:
        """Returns the names that calls have, by function: those of a library are in a namespace of all libraries."""
        names = {name: self.public_name(function) for name, function in self._functions.items()}
        own = f"{self.definitions.space}."
        return {key: f"{self.libraries}{name}" if key.startswith(own) else name for key, name in names.items()}

    @cached_property
    def _known_words(self) -> frozenset[str]:
        """Returns the words that follow the case rule: names of operators and arguments that contain an underscore."""
        return known_words(self.definitions)
