"""The output of the commands `list`, `explain` and `new`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from codegen import discover
from codegen.answers import Fact
from codegen.definitions import Definitions, Function, Rule
from codegen.derive.gradients import gradient_lines, saved_names
from codegen.emit import Manifest
from codegen.errors import TargetError, counted, unknown
from codegen.former import stored_text
from codegen.kinds import KINDS
from codegen.model import Op
from codegen.names import wrap
from codegen.objects.model import Class, Member
from codegen.prose import complex_text, dtype_lines, forms
from codegen.rules import explain_rule
from codegen.signature import print_signature

WIDTH = 100


def list_text(definitions: Definitions, kind: str | None = None) -> str:
    """Returns one line per record, with its name, its kind and its signature, and a line with the number of records."""
    ops = [op for op in definitions.ops if kind in (None, op.kind.key)]
    names = max((len(op.full_name) for op in ops), default=0)
    lines = [f"{op.full_name:{names}}  {op.kind.key:11}  {print_signature(op.signature)}" for op in ops]
    return "\n".join([*lines, counted(len(ops), "record")])


def by_kind_text(definitions: Definitions) -> str:
    """Returns the names of the records of each kind, wrapped, after the kind and their number."""
    lines = []
    for kind in KINDS:
        names = sorted(op.full_name for op in definitions.ops if op.kind.key == kind)
        lines += [f"{kind} ({len(names)})", *wrap(", ".join(names), WIDTH, "  ")]
    return "\n".join(lines)


def explain_text(name: str, definitions: Definitions, root: Path) -> str:
    """Returns a description of everything that is derived from a record.

    `name` is the full name of a record, or a public name, which stands for all of its overloads; or a class, one of its
    members, or a function beside operators. Raises TargetError if there is no such name.
    """
    if rules := [rule for rule in definitions.rules if rule.name == name]:
        return "\n".join(_explain_rule(rules[0]))
    if lines := list(_explain_objects(name, definitions, root)):
        return "\n".join(lines)
    if name in definitions.by_name and "." in name:
        found: tuple[Op, ...] = (definitions.by_name[name],)
    else:
        if name not in definitions.overloads:
            known = [*definitions.overloads, *definitions.by_name, *(rule.name for rule in definitions.rules)]
            known += [each.name for each in definitions.objects.classes]
            known += [each.full_name for each in definitions.objects.declared]
            raise TargetError(unknown("operator", name, known))
        found = definitions.overloads[name]
    return "\n\n".join("\n".join(_explain(op, definitions, root)) for op in found)


def _explain(op: Op, definitions: Definitions, root: Path) -> Iterator[str]:
    yield print_signature(op.signature)
    yield from wrap(op.summary, WIDTH, "  ")
    if op.description:
        yield ""
        yield from wrap(op.description, WIDTH, "  ")
    yield ""
    yield from _lines(_facts(op, definitions, root))


def _lines(facts: Iterable[Fact]) -> Iterator[str]:
    facts = list(facts)
    label = max(len(fact.what) for fact in facts) + 2
    for fact in facts:
        lines = fact.text.split("\n")
        yield f"  {fact.what:{label}}{lines[0]}"
        yield from (" " * (label + 2) + line for line in lines[1:])


def _explain_rule(rule: Rule) -> Iterator[str]:
    yield rule.name
    yield from wrap(rule.op.summary, WIDTH, "  ")
    yield ""
    yield from _lines(Fact(*each) for each in explain_rule(rule))


def _explain_objects(name: str, definitions: Definitions, root: Path) -> Iterator[str]:
    """Yields what follows from the records of classes and functions with this name; nothing if there are none."""
    found = definitions.objects
    for each in found.classes:
        if each.name == name:
            yield f"{each.namespace}.{each.name}".strip(".")
            yield from wrap(each.documentation, WIDTH, "  ")
            yield ""
            yield from _lines(_class_facts(each))
            members = [member for member in each.members if not member.is_setter_of_property]
            yield from (line for member in members for line in ("", *_explain_member(member, definitions, root)))
    members = [member for each in found.classes for member in each.methods]
    for member in (*members, *found.declared):
        if member.full_name == name:
            yield from _explain_member(member, definitions, root)


def _class_facts(each: Class) -> Iterator[Fact]:
    functions = f"{each.retain}() and {each.release}() count references"
    yield Fact("record", str(each.location))
    yield Fact("handle", f"{each.handle}, {'a class of runtime/objects' if each.is_internal else functions}")
    yield Fact("made by", each.reason or "the constructor")
    yield Fact("threads", "may share an object" if each.is_shared else "use an object one at a time")
    if each.state:
        yield Fact("state", f"{each.state[0].name} and {each.state[1].name} copy and serialise it")
    if each.text:
        yield Fact("text", f"the property {each.text.name}")


def _explain_member(member: Member, definitions: Definitions, root: Path) -> Iterator[str]:
    yield member.full_name
    yield from wrap(member.summary, WIDTH, "  ")
    yield ""
    yield from _lines(_member_facts(member, definitions, root))


def _member_facts(member: Member, definitions: Definitions, root: Path) -> Iterator[Fact]:
    yield Fact("record", str(member.location))
    if not member.by_hand:
        yield Fact("calls" if member.calls else "runs", _home(member.calls or member.runs, root))
    if member.setter:
        yield Fact("sets", _home(member.setter.runs, root))
    if member.work:
        when = "always" if member.work == "always" else f"where {_home(member.work, root)} says so"
        yield Fact("may block", f"{when}: without the lock of a language, or as a promise")
    records = definitions.objects.records_by_name
    types = [member.result, *(each.type for each in member.parameters)]
    for word in dict.fromkeys(word for type_ in types for word in type_.names if word in records):
        yield Fact(word, "\n".join(f"{field.type} {field.name}" for field in records[word].fields))
    for language in discover.languages(definitions):
        yield Fact(language.title, language.member_text(member))


def _home(function: str, root: Path) -> str:
    """Returns a C++ function with the file that defines it."""
    definition = re.compile(rf"^of_\w+ {function}\(", re.MULTILINE)
    for path in sorted([*root.glob("runtime/objects/*.cpp"), *root.glob("runtime/capi/*.cpp")]):
        if definition.search(path.read_text(encoding="utf-8")):
            return f"{function}, {path.relative_to(root).as_posix()}"
    return function


def _facts(op: Op, definitions: Definitions, root: Path) -> Iterator[Fact]:
    yield Fact("record", f"{op.full_name}, {op.location}")
    yield Fact("kind", op.kind.key)
    yield from _expressions(op)
    yield from op.kind.facts(op)
    links = op.kind.dimensions(op).links
    yield Fact("dimensions", "\n".join(link.text for link in links) or "those of no operand")
    yield Fact("sharding", "\n".join(op.kind.sharding(op)))
    yield Fact("dtypes", "\n".join(dtype_lines(op)))
    yield Fact("gradient", "\n".join(gradient_lines(op, definitions)))
    if saved := list(saved_names(op, definitions)):
        yield Fact("saved", ", ".join(saved))
    if fused := [each.full_name for each in definitions.gradients[op.full_name].fused]:
        yield Fact("fused", f"{', '.join(fused)}: by one kernel, where the device has it and nothing records the calls")
    if op.takes_complex:
        yield Fact("complex", complex_text(op))
    if op.from_any_device:
        yield Fact("devices", f"{op.from_any_device} may be on another device than the other arguments")
    yield Fact("ids", f"signature {op.signature_id:016x}, kernel {op.kernel_id:016x}")
    if op.formerly:
        yield Fact("formerly", "\n".join(map(stored_text, op.formerly)))
    yield Fact("forms", ", ".join(forms(op)))
    yield Fact("oracle", op.oracle or "none, only examples with results")
    counts = {"example": op.examples, "error case": op.errors, "further case": op.cases}
    yield Fact("tests", ", ".join(counted(len(each), what) for what, each in counts.items()))
    yield from _languages(op, definitions)
    yield Fact("files", "\n".join(_files(op, root)) or "none yet: run `python -m codegen generate`")


def _expressions(op: Op) -> Iterator[Fact]:
    for value, text in op.kind.definitions():
        yield Fact("value" if value is None else f"{op.kind.matched} {value}", text)


def _languages(op: Op, definitions: Definitions) -> Iterator[Fact]:
    """Yields the signature in each language, or the reason why the language omits the function."""
    for language in discover.languages(definitions):
        lines = []
        for function in definitions.functions:
            if op in function.overloads:
                if reason := language.names.omitted.get(function.name):
                    lines.append(f"{function.name} is omitted: {reason}")
                else:
                    lines += language.signature_text(Function(function.name, (op,)))
        yield Fact(language.title, "\n".join(lines))


def _files(op: Op, root: Path) -> Iterator[str]:
    """Yields the generated files that mention the record, each with its target."""
    mention = re.compile(rf"(?<![\w:.]){re.escape(op.full_name)}(?!\w)")
    for target, files in sorted(Manifest.read(root).outputs.items()):
        for path in sorted(files):
            try:
                text = (root / path).read_text(encoding="utf-8")
            except OSError:
                continue
            if mention.search(text):
                yield f"{path} ({target})"


def new_text(name: str, kind: str) -> str:
    """Returns a skeleton of a record; its empty strings are errors until its author completes them."""
    skeleton = KINDS[kind].skeleton
    return f"""\
- op: {name}
  signature: "{name}({skeleton.arguments}) -> {skeleton.result}"
  summary: ""
{skeleton.key}\
  dtype: {skeleton.dtype}
  oracle: torch.{name}
  examples:
    - call: "{name}({skeleton.example})"
      gives: []
  errors:
    - call: "{name}({skeleton.mistake})"
      raises: TypeMismatch
      says: "{name}: {skeleton.says}"
"""
