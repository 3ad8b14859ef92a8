"""Classes in Node.js: the table of the addon, the classes, and their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from codegen.names import camel, in_lines, wrap
from codegen.objects.examples import Examples
from codegen.objects.model import SELF, Class, Member, Objects, ObjectType, Parameter, Record
from codegen.objects.table import ClassWords, Table
from codegen.printer import string
from codegen.targets.js.words import JS

_WORDS = {  # in error texts, of one value and of several, and in declarations of parameters and results
    "bool": ("boolean", "booleans", "boolean", "boolean"),
    "int": ("integer", "integers", "Integer", "number"),
    "word": ("integer", "integers", "Integer", "bigint"),
    "positive": ("a positive integer", "integers", "number", "number"),
    "float": ("number", "numbers", "number", "number"),
    "str": ("string", "strings", "string", "string"),
    "dtype": ("dtype", "dtypes", "DType", "DType"),
    "device": ("device", "devices", "DeviceLike", "string"),
    "Tensor": ("Tensor", "Tensors", "Tensor", "Tensor"),
    "None": ("undefined", "undefined", "void", "void"),
    "path": ("string or URL", "paths", "string | URL", "string"),
    "nested": ("Tensor, array, Map or object", "nested data", "TensorTree", "any"),
    "range": ("range", "ranges", "SizeRange", "Required<SizeRange>"),
    "function": ("function", "functions", "(...args: any[]) => any", "(...args: any[]) => any"),
    "size": ("a positive integer, {min, max, step} or the name of a size", "", "number | string | SizeRange", ""),
    "array": ("Tensor", "Tensors", "TensorLike", "Tensor"),
    "any": ("any", "any", "any", "any"),
    SELF: ("", "", "this", "this"),
}
_WIDTH = 120
_SHOWN = 100  # of signatures in the manual


class JsWords(ClassWords):
    language = "js"

    words = _WORDS
    null, list_word, map_word = "null", "array", "Map or object"

    def record_word(self, record: Record) -> str:
        return "object"

    def expected(self, type_: ObjectType, has_default: bool) -> str:
        return self.type_word(type_) if has_default else super().expected(type_, has_default)

    def case(self, name: str) -> str:
        return camel(name)

    def said_name(self, member: Member) -> str:
        said = super().said_name(member)
        return f"{said}Async" if member.is_async and member.says else said


class JsExamples(Examples):
    comment = "//"
    has_new = True

    def assignment(self, name: str, value: str) -> str:
        return f"const {name} = {value};"

    def statement(self, text: str) -> str:
        return f"{text};"

    def lambda_(self, parameters: Sequence[str], body: str) -> str:
        return f"({', '.join(parameters)}) => {body}"

    def arguments(self, positional: Sequence[str], named: Mapping[str, str]) -> str:
        return f"({', '.join([*positional, *([self.map_(named)] if named else [])])})"

    def map_(self, items: Mapping[str, str]) -> str:
        return JS.map_(items)

    def infix(self, left: str, operator: tuple[str, str], right: str) -> str:
        return f"{left}.{operator[1]}({right})"


class JsClasses:
    """The classes, constants and functions of the package."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.words = JsWords(objects)
        self.table = Table(objects, self.words, has_promises=True)
        self.say = self.words.say

    def method_row(self, member: Member) -> str:
        """Returns the initializer of a MethodRecord."""
        return f"{self.table.method(member)}, {string(member.implementation)}"

    def name(self, member: Member) -> str:
        """Returns the name of a method, a property or a function."""
        return self.words.public_name(member)

    def with_promises(self, members: Iterable[Member]) -> list[Member]:
        """Returns methods, each followed by its promise variant."""
        return [each for member in members for each in (member, member.promised) if each]

    def call(self, member: Member, args: str = "args") -> str:
        """Returns the call of the addon for a member."""
        position = self.table.position(member)
        if not member.owner:
            return f"callAsync({position}, {args})" if member.is_async else f"call({position}, {args})"
        receiver = camel(member.constant) or "this"
        function = "invokeAsync" if member.is_async else "invoke"
        return f"{function}({member.owner}, {receiver}, {position}, '{self.name(member)}', {args})"

    def within(self, member: Member) -> str:
        """Returns the call of a function whose result is the context of its last argument, a function."""
        context = self.objects.context_of(member)
        positions = self.context(context) if context else []
        made = f"() => {self.call(member)}"
        return f"within({member.result}, '{self.name(member)}', {positions}, args.pop(), {made})"

    def context(self, owner: Class) -> list[int]:
        """Returns the positions of what enters and leaves a block."""
        return [self.table.position(each) for each in owner.context]

    def registration(self, owner: Class) -> str:
        """Returns the argument that makes the special members of a class known."""
        get_state, set_state = owner.state or (None, None)
        keys, get = (owner.items.keys, owner.items.get) if owner.items else (None, None)
        special = {"getState": get_state, "setState": set_state, "text": owner.text, "keys": keys, "get": get}
        special["equality"] = owner.equality
        texts = [f"{key}: '{self.name(member)}'" for key, member in special.items() if member]
        overridden = [each for each in owner.methods if each.is_overridable]
        positions = ", ".join(f"{self.name(each)}: {self.table.position(each)}" for each in overridden)
        texts += [f"overridable: {{{positions}}}"] if positions else []
        return f", {{{', '.join(texts)}}}" if texts else ""

    def exported(self, namespace: str) -> tuple[list[Class], list[Record], list[Member]]:
        """Returns the classes, the classes of records with a text, and the functions of a namespace."""
        found = self.objects
        return (
            [each for each in found.classes if each.namespace == namespace],
            [each for each in found.records if each.namespace == namespace and each.text],
            self.with_promises(each for each in found.functions if each.namespace == namespace),
        )

    def by_hand(self, namespace: str) -> list[Member]:
        """Returns the functions of a namespace that are written by hand."""
        return [each for each in self.objects.by_hand if each.namespace == namespace]

    @property
    def exports(self) -> list[str]:
        """Returns the names that the package exports."""
        types, records, functions = self.exported("")
        names = (
            [each.name for each in types] + [each.name for each in records] + [self.name(each) for each in functions]
        )
        return [*names, *(camel(each.name) for each in self.objects.constants), *self.objects.namespaces]

    def record_name(self, record: Record) -> str:
        """Returns the name of the type of a record."""
        return record.names.get("js", record.name)

    # -- declarations -----------------------------------------------------------------------------------------------

    def declared(self, type_: ObjectType, *, is_result: bool = False) -> str:
        """Returns the type of a parameter or a result."""
        if type_.item:
            inner = self.declared(type_.item, is_result=is_result)
            many = f"({inner})[]" if " " in inner else f"{inner}[]"
            map_ = f"Record<string, {inner}>"
            text = many if type_.word == "list" else map_ if is_result else f"{map_} | Map<string, {inner}>"
        elif record := self.objects.records_by_name.get(type_.word):
            fields = [
                f"{self.words.field_name(record, each)}: {self.declared(each.type, is_result=True)}"
                for each in record.fields
            ]
            text = f"{{{'; '.join(fields)}}}" if record.is_plain and is_result else self.qualified(record)
        elif owner := next((each for each in self.objects.classes if each.name == type_.word), None):
            text = f"{owner.namespace}.{owner.name}" if owner.namespace else owner.name
        else:
            text = _WORDS[type_.word][3 if is_result else 2]
        null = "undefined" if type_.word in self.objects.records_by_name else "null"
        return f"{text} | {null}" if type_.optional else text

    def qualified(self, record: Record) -> str:
        """Returns the name of the type of a record with its namespace, where it is a class."""
        name = self.record_name(record)
        return f"{record.namespace}.{name}" if record.text and record.namespace else name

    def declaration(self, member: Member, indent: int, keyword: str = "") -> str:
        """Returns the declaration of a constructor, a method or a function."""
        name = "constructor" if member.is_create else self.name(member)
        tails: dict[str, list[str]] = {");" if member.is_create else f"): {self.result(member)};": []}
        if self.objects.context_of(member):
            result = self.result(member)
            body = f"body: ({result.lower()}: {result}) =>"
            tails = {f"): Promise<{result}>;": [f"{body} PromiseLike<unknown>"], f"): {result};": [f"{body} unknown"]}
        texts = [
            in_lines(f"{keyword}{name}(", [*self._parameters(member), *last], tail, indent, _WIDTH)
            for tail, last in tails.items()
        ]
        return f"\n{' ' * indent}".join(texts)

    def signature(self, member: Member) -> str:
        """Returns the signature of a member as the manual shows it."""
        path = self.words.path(member)
        if member.is_property:
            return f"{path}: {self.result(member)}"
        start, tail = ("new ", ")") if member.is_create else ("", f"): {self.result(member)}")
        return in_lines(f"{start}{path}(", self._parameters(member, names_options=False), tail, 0, _SHOWN)

    def _parameters(self, member: Member, *, names_options: bool = True) -> list[str]:
        """Returns the parameters of a declaration; those that are passed by name only are options."""
        texts = [self._declaration(member, each) for each in member.parameters if not self._is_option(member, each)]
        options = self.options(member)
        if not names_options:
            return [*texts, f"{{{', '.join(each.partition('?:')[0] for each in options)}}}"] if options else texts
        type_ = member.options or "{" + "; ".join(options) + "}"
        if member.is_async and member.options and member.only_here:
            type_ = f"Omit<{member.options}, {' | '.join(repr(each) for each in member.only_here)}>"
        types = [type_] * bool(options) + ["Cancellable"] * member.is_async
        return [*texts, f"options?: {' & '.join(types)}"] if types else texts

    def options(self, member: Member) -> list[str]:
        """Returns the declarations of the options of a member."""
        return [
            self._declaration(member, each)
            for each in member.parameters
            if self._is_option(member, each) and not (member.is_async and each.name in member.only_here)
        ]

    @property
    def option_types(self) -> list[Member]:
        """Returns the members whose options are a type of their own."""
        return [each for each in self.table.members if each.options and not each.is_async]

    def option_declarations(self, member: Member) -> list[tuple[str, str]]:
        """Returns what each option of a member is, and its declaration."""
        named = [each for each in member.parameters if self._is_option(member, each)]
        return [(each.summary or f"See {self.name(member)}().", self._declaration(member, each)) for each in named]

    @staticmethod
    def _is_option(member: Member, parameter: Parameter) -> bool:
        has_named = any(each.is_named for each in member.parameters)
        return parameter.is_named or (has_named and parameter.has_default and not parameter.collects)

    def _declaration(self, member: Member, parameter: Parameter) -> str:
        type_ = self.declared(parameter.type)
        if member.by_hand and parameter.collects == "*":
            return f"...{self.words.parameter_name(member, parameter.name)}: {type_}[]"
        if parameter.collects == "*":
            type_ = f"{type_} | {type_}[]"
        elif parameter.collects == "**":
            type_ = f"Record<string, {type_}> | Map<string, {type_}>"
        is_optional = parameter.has_default and parameter.collects != "***"
        null = " | null" * (self._is_option(member, parameter) and not parameter.type.optional)
        return f"{self.words.parameter_name(member, parameter.name)}{'?' * is_optional}: {type_}{null}"

    def result(self, member: Member) -> str:
        """Returns the type of the result in a declaration."""
        if member.constant and member.result.word == SELF:
            return member.owner
        text = self.declared(member.result, is_result=True)
        return f"Promise<{text}>" if member.is_async or (member.by_hand and member.work) else text

    def about(self, member: Member) -> str:
        """Returns the documentation of a member: the summary, what its arguments are, and more."""
        if member.is_async:
            return f"The promise variant of `{self.name(replace(member, name=member.method, is_async=False))}()`."
        arguments = [
            f"@param {self.words.parameter_name(member, each.name)} {each.summary}"
            for each in member.parameters
            if each.summary
        ]
        return "\n\n".join(filter(None, (member.summary, member.description.strip(), "\n\n".join(arguments))))

    def comment(self, text: str, indent: int) -> str:
        """Returns a documentation comment whose next lines are indented by `indent` columns."""
        text = self.say(text)
        margin = " " * indent
        if len(text) + indent + 7 <= _WIDTH and "\n" not in text:
            return f"/** {text} */"
        return "\n".join(["/**", *wrap(text, _WIDTH, f"{margin} * "), f"{margin} */"])
