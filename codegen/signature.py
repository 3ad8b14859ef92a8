"""Parses and prints signatures: `topk(Tensor input, size k, *, bool sorted=True) -> (Tensor values, Tensor indices)`.

    signature = name "(" [argument {"," argument}] ")" "->" results
    argument  = "*" | type name ["=" literal]
    type      = word ["(" label ["!"] ")"] ["?"] ["[]"] ["?"]
    results   = type [name] | "(" [type [name] {"," type [name]}] ")"
    literal   = scalar | "[" [scalar {"," scalar}] "]"
    scalar    = None | True | False | number | 'text' | word

`parse` and `print_signature` are inverses of each other for canonical text.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from codegen import base_types
from codegen.base_types import BASE_TYPES
from codegen.dtypes import DTYPES
from codegen.errors import TextError, unknown
from codegen.types import MAXIMUM_ARGUMENTS, MAXIMUM_RESULTS, Alias, Argument, Literal, Result, Signature, Type

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<word>[A-Za-z_][A-Za-z0-9_.]*(?:\|[A-Za-z_]+)?)
      | (?P<number>-?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+|\d+(?:[eE][-+]?\d+)?|inf\b))
      | (?P<text>'(?:[^'\\]|\\.)*')
      | (?P<mark>->|\[\]|[()\[\],=?!*])
    )""",
    re.VERBOSE,
)
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")  # of arguments, results, states, ...
OPERATOR_NAME = re.compile(rf"({NAME.pattern}\.)*{NAME.pattern}_?")
_WORDS: dict[str, Literal] = {"None": None, "True": True, "False": False}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    offset: int

    def __str__(self) -> str:
        return f"'{self.text}'" if self.text else "the end"


def _tokens(text: str) -> list[_Token]:
    tokens = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            offset = position + len(text[position:]) - len(text[position:].lstrip())
            raise TextError(f"unexpected character '{text[offset]}'", offset)
        kind = match.lastgroup or ""
        tokens.append(_Token(kind, match.group(kind), match.start(kind)))
        position = match.end()
    tokens.append(_Token("end", "", len(text)))
    return tokens


class _Parser:
    def __init__(self, text: str, *, exact: bool = True) -> None:
        self.tokens = _tokens(text)
        self.position = 0
        self.exact = exact

    @property
    def next(self) -> _Token:
        return self.tokens[self.position]

    def take(self) -> _Token:
        token = self.next
        self.position += token.kind != "end"
        return token

    def accepts(self, text: str) -> bool:
        found = self.next.kind == "mark" and self.next.text == text
        self.position += found
        return found

    def expect(self, text: str) -> None:
        if not self.accepts(text):
            raise _unexpected(self.next, f"'{text}'")

    def word(self, what: str) -> _Token:
        if self.next.kind != "word":
            raise _unexpected(self.next, what)
        return self.take()

    def signature(self) -> Signature:
        name = self.name("the operator's name", OPERATOR_NAME)
        arguments = self.arguments()
        self.expect("->")
        start = self.next
        results = self.results()
        if self.next.kind != "end":
            raise _unexpected(self.next, "the end")
        if len(results) > 1 and any(result.type.is_list for result in results):
            raise self.error("a list of tensors must be the only result", start)
        if not 1 <= len(results) <= MAXIMUM_RESULTS:
            raise self.error(f"an operator must have 1 to {MAXIMUM_RESULTS} results, got {len(results)}", start)
        return Signature(name.text, arguments, results)

    def name(self, what: str, pattern: re.Pattern[str] = NAME) -> _Token:
        name = self.word(what)
        if not pattern.fullmatch(name.text):
            raise self.error(f"'{name.text}' is not a name in snake_case", name)
        return name

    def at(self, token: _Token) -> int:
        return token.offset if self.exact else 0

    def error(self, text: str, start: _Token) -> TextError:
        """Returns an error that covers everything that was read since the token `start`."""
        last = self.tokens[max(self.position - 1, 0)]
        return TextError(text, start.offset, max(last.offset + len(last.text) - start.offset, 1))

    def arguments(self) -> tuple[Argument, ...]:
        self.expect("(")
        arguments: list[Argument] = []
        keyword_only = False
        while not self.accepts(")"):
            if arguments or keyword_only:
                self.expect(",")
            star = self.next
            if self.accepts("*"):
                if keyword_only:
                    raise self.error("a second '*'", star)
                keyword_only = True
                continue
            start = self.next
            argument = self.argument(keyword_only)
            if any(a.name == argument.name for a in arguments):
                raise self.error(f"duplicate argument '{argument.name}'", start)
            if not (argument.has_default or keyword_only) and arguments and arguments[-1].has_default:
                raise self.error(f"argument '{argument.name}' needs a default, since the one before it has one", start)
            arguments.append(argument)
            if len(arguments) > MAXIMUM_ARGUMENTS:
                raise self.error(f"an operator must have at most {MAXIMUM_ARGUMENTS} arguments", start)
        if keyword_only and not (arguments and arguments[-1].keyword_only):
            raise TextError("no argument follows '*'", self.tokens[self.position - 1].offset)
        return tuple(arguments)

    def argument(self, keyword_only: bool) -> Argument:
        start = self.next
        type_, alias = self.type()
        self.check_argument(type_, alias, start)
        name = self.name("the argument's name").text
        if not self.accepts("="):
            return Argument(name, type_, None, False, keyword_only, alias, self.at(start))
        default = self.default(type_)
        return Argument(name, type_, default, True, keyword_only, alias, self.at(start))

    def check_argument(self, type_: Type, alias: Alias | None, start: _Token) -> None:
        """Raises TextError for a type that arguments cannot have."""
        if type_.is_list and not type_.base.in_lists:
            allowed = [base.word for base in BASE_TYPES.values() if base.in_lists]
            text = f"a list must be of {', '.join(allowed[:-1])} or {allowed[-1]}, not of {type_.base.word}"
            raise self.error(text, start)
        if type_.is_nested and not type_.is_list:
            raise self.error(f"a {type_.base.noun} must be an item of a list: {type_.base.word}[]", start)
        if type_.is_list and type_.optional and type_.base is base_types.TENSOR:
            raise self.error("a list of tensors cannot be optional, but it may be empty", start)
        if type_.optional_members and type_.base is not base_types.TENSOR:
            raise self.error("only the items of a list of tensors can be optional", start)
        if alias and type_.base is not base_types.TENSOR:
            raise self.error(f"only a Tensor can have an alias, not {type_}", start)

    def default(self, type_: Type) -> Literal:
        start = self.next
        default = self.literal()
        if not fits(default, type_):
            raise self.error(f"the default {print_literal(default)} is not of type {type_}", start)
        members = default if isinstance(default, tuple) else (default,)
        if any(isinstance(each, int) and not -(2**63) <= each < 2**63 for each in members):
            raise self.error(f"the default {print_literal(default)} does not fit into 64 bits", start)
        if type_.base is base_types.DEVICE and isinstance(default, tuple):
            raise self.error("the default of a list of devices must be None", start)
        if type_.base is base_types.DTYPE and isinstance(default, str) and default not in DTYPES:
            raise self.error(unknown("dtype", default, DTYPES), start)
        return default

    def type(self) -> tuple[Type, Alias | None]:
        word = self.word("a type")
        base = BASE_TYPES.get(word.text)
        if base is None:
            raise TextError(unknown("type", word.text, BASE_TYPES), word.offset, len(word.text))
        alias = None
        if self.accepts("("):
            label = self.word("the alias's label").text
            alias = Alias(label, self.accepts("!"))
            self.expect(")")
        optional = self.accepts("?")
        if not self.accepts("[]"):
            return Type(base, optional=optional), alias
        return Type(base, True, self.accepts("?"), optional), alias

    def results(self) -> tuple[Result, ...]:
        if not self.accepts("("):
            return (self.result(),)
        results: list[Result] = []
        while not self.accepts(")"):
            if results:
                self.expect(",")
            start = self.next
            results.append(self.result())
            if results[-1].name and results[-1].name in [result.name for result in results[:-1]]:
                raise self.error(f"duplicate result '{results[-1].name}'", start)
        return tuple(results)

    def result(self) -> Result:
        start = self.next
        type_, alias = self.type()
        if type_ not in (Type(base_types.TENSOR), Type(base_types.TENSOR, is_list=True)):
            raise self.error(f"a result must be Tensor or Tensor[], got {type_}", start)
        name = self.name("the result's name").text if self.next.kind == "word" else None
        return Result(type_, name, alias, self.at(start))

    def literal(self) -> Literal:
        if not self.accepts("["):
            return () if self.accepts("[]") else self.scalar()
        members = [self.scalar()]
        while not self.accepts("]"):
            self.expect(",")
            members.append(self.scalar())
        return tuple(members)

    def scalar(self) -> Literal:
        token = self.take()
        if token.kind == "word":
            return _WORDS.get(token.text, float(token.text) if token.text in ("inf", "nan") else token.text)
        if token.kind == "number":
            return self.number(token)
        if token.kind == "text":
            return self.text(token)
        raise _unexpected(token, "a value")

    def number(self, token: _Token) -> float:
        try:
            return float(token.text) if re.search(r"[.einf]", token.text, re.IGNORECASE) else int(token.text)
        except ValueError:  # Python limits the number of digits
            raise TextError("the number has too many digits", token.offset, len(token.text)) from None

    def text(self, token: _Token) -> str:
        try:
            return str(ast.literal_eval(token.text))
        except (SyntaxError, ValueError):
            raise TextError(f"{token.text} is not a string", token.offset, len(token.text)) from None


def _unexpected(token: _Token, expected: str) -> TextError:
    return TextError(f"expected {expected}, got {token}", token.offset, max(len(token.text), 1))


def fits(value: Literal, type_: Type) -> bool:
    """Returns whether a literal is a value of this type; for a tensor or a pair, only None can be."""
    if value is None:
        return type_.optional
    if type_.is_list:
        member = type_.item
        return isinstance(value, tuple) and all(fits(v, member) for v in value)
    if isinstance(value, tuple):
        return False
    return type_.base.holds(value)


def parse(text: str, *, exact: bool = True) -> Signature:
    """Parses a signature; raises TextError with the offset of the first error.

    `exact` says that offsets in the text are offsets in a line of the file; if not, its parts are located at its start.
    """
    return _Parser(text, exact=exact).signature()


def parse_type(text: str) -> Type:
    """Parses a type such as `dim[]?`; raises TextError."""
    parser = _Parser(text)
    type_, _ = parser.type()
    if parser.next.kind != "end":
        raise _unexpected(parser.next, "the end")
    return type_


def print_literal(value: Literal, type_: Type | None = None) -> str:
    """Prints a default value in the grammar of signatures; dtypes and devices are bare words."""
    if isinstance(value, tuple):
        member = Type(type_.base) if type_ else None
        return "[" + ", ".join(print_literal(v, member) for v in value) + "]"
    if isinstance(value, str) and type_ and type_.base.is_bare:
        return value
    if isinstance(value, str):
        return "'" + repr('"' + value)[2:]  # repr puts a string with a double quote into single quotes
    return repr(value)


def print_type(type_: Type, alias: Alias | None = None) -> str:
    """Prints a type: `Tensor(a)`, `dim[]?`."""
    text = str(type_)
    return text.replace(type_.base.word, f"{type_.base.word}{alias}", 1) if alias else text


def print_argument(argument: Argument) -> str:
    """Prints an argument: `bool keepdim=False`."""
    default = f"={print_literal(argument.default, argument.type)}" if argument.has_default else ""
    return f"{print_type(argument.type, argument.alias)} {argument.name}{default}"


def _print_result(result: Result) -> str:
    return print_type(result.type, result.alias) + (f" {result.name}" if result.name else "")


def print_signature(signature: Signature) -> str:
    """Prints a signature in its canonical form, from which `parse` returns an equal signature."""
    parts = []
    for position, argument in enumerate(signature.arguments):
        if argument.keyword_only and (position == 0 or not signature.arguments[position - 1].keyword_only):
            parts.append("*")
        parts.append(print_argument(argument))
    results = ", ".join(map(_print_result, signature.results))
    if len(signature.results) != 1:
        results = f"({results})"
    return f"{signature.name}({', '.join(parts)}) -> {results}"
