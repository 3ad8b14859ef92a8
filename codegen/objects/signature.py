"""Parses signatures of methods: `load(str path, *, bool verify=False) -> Graph`.

    signature = name "(" [parameter {"," parameter}] ")" "->" type
    parameter = "*" | type ["*" | "**" | "***"] name ["=" literal]
    type      = word ["?"] {("[]" | "{}") ["?"]}
    literal   = None | True | False | number | 'text'

`[]` is a list, `{}` a map from names. `*` before a name collects further positional arguments, `**` named ones, `***`
both.
"""

from __future__ import annotations

import ast
import re

from codegen.errors import TextError
from codegen.objects.model import ObjectType, Parameter

_TOKEN = re.compile(r"\s*(?P<token>[A-Za-z_][\w.]*|-?\d+(?:\.\d+)?(?:e-?\d+)?|'[^'\\]*'|->|\[\]|\{\}|\*+|[(),=?])")


# What defaults of the types can be, besides None.
_LITERALS: dict[str, type | tuple[type, ...]] = {
    "bool": bool,
    "int": int,
    "word": int,
    "positive": int,
    "float": (int, float),
    "str": str,
}


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    @property
    def next(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        return match["token"] if match else self.text[self.position :].strip()[:1]

    def take(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            raise self.error("a token")
        self.position = match.end()
        return match["token"]

    def accepts(self, token: str) -> bool:
        found = self.next == token
        if found:
            self.take()
        return found

    def expect(self, token: str) -> None:
        if not self.accepts(token):
            raise self.error(f"'{token}'")

    def error(self, expected: str) -> TextError:
        rest = self.text[self.position :]
        offset = self.position + len(rest) - len(rest.lstrip())
        found = f"'{self.next}'" if self.next else "the end"
        return TextError(f"expected {expected}, got {found}", offset, max(len(self.next), 1))

    def word(self, what: str) -> str:
        if not re.match(r"[A-Za-z_]", self.next):
            raise self.error(what)
        return self.take()

    def end(self) -> None:
        if self.next:
            raise self.error("the end")

    def type(self) -> ObjectType:
        found = ObjectType(self.word("a type"), self.accepts("?"))
        while self.next in ("[]", "{}"):
            word = "list" if self.take() == "[]" else "map"
            found = ObjectType(word, self.accepts("?"), found)
        return found

    def parameters(self) -> tuple[Parameter, ...]:
        found: list[Parameter] = []
        is_named = False
        while self.next != ")":
            if found or is_named:
                self.expect(",")
            if not is_named and self.accepts("*"):
                is_named = True
                continue
            type_ = self.type()
            collects = self.take() if self.next in ("*", "**", "***") else ""
            start = self.position
            name = self.word("the parameter's name")
            if any(each.name == name for each in found):
                raise TextError(f"duplicate parameter '{name}'", start + 1, len(name))
            has_default = self.accepts("=")
            is_named = is_named or collects == "*"
            position = self.position
            default = self.literal() if has_default else None
            if default is not None and not isinstance(default, _LITERALS.get(type_.word, object)):
                raise TextError(f"{default!r} is not a default for {type_}", position, self.position - position)
            if not (has_default or collects or is_named) and any(each.has_default for each in found):
                raise TextError(f"'{name}' needs a default, like those before it", start + 1, len(name))
            found.append(
                Parameter(name, type_, default, has_default or bool(collects), is_named and not collects, collects)
            )
        return tuple(found)

    def literal(self) -> bool | int | float | str | None:
        start = self.position
        try:
            value = ast.literal_eval(self.take())
        except (SyntaxError, ValueError):
            self.position = start
            raise self.error("a literal") from None
        assert isinstance(value, bool | int | float | str | None)
        return value


def parse(text: str) -> tuple[str, tuple[Parameter, ...], ObjectType]:
    """Returns the name, the parameters and the result of a signature; raises TextError."""
    parser = _Parser(text)
    name = parser.word("a name")
    parser.expect("(")
    parameters = parser.parameters()
    parser.expect(")")
    parser.expect("->")
    result = parser.type()
    parser.end()
    return name, parameters, result


def parse_property(text: str) -> tuple[str, ObjectType]:
    """Returns the name and the type of a property: `memory -> int`; raises TextError."""
    parser = _Parser(text)
    name = parser.word("a name")
    parser.expect("->")
    type_ = parser.type()
    parser.end()
    return name, type_


def parse_field(text: str) -> Parameter:
    """Returns a field of a record: `word seed`; raises TextError."""
    parser = _Parser(text)
    type_ = parser.type()
    name = parser.word("the field's name")
    parser.end()
    return Parameter(name, type_)
