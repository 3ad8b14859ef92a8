"""Python: the function table of the extension, stubs, and tests from examples and error cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

import yaml

from codegen.definitions import Definitions, Function
from codegen.dtypes import DTYPES
from codegen.examples import ErrorCase, Example
from codegen.function_table import FunctionTable
from codegen.language import Language
from codegen.library_function import LibraryFunction
from codegen.model import Op
from codegen.names import identifier, source_files, with_parents
from codegen.objects.examples import Examples
from codegen.objects.model import Member
from codegen.printer import string
from codegen.target import Output
from codegen.targets.python import stubs, words
from codegen.targets.python.classes import PythonClasses, PythonExamples
from codegen.targets.python.documentation import help_text
from codegen.targets.python.table import PythonFunction
from codegen.targets.python.words import NAMES_OF_STUBS, PYTHON, RESERVED

FOLDER = "bindings/python/generated"


@dataclass(frozen=True)
class Test:
    """A test of an example or an error case."""

    name: str
    call: str
    expected: str  # the values that an example gives
    error: str = ""  # the class of the error that an error case raises
    says: str = ""  # the text of the error


class Python(Language):
    title = "Python"
    fence = "python"
    opening = "import oneflow_py as flow"
    forms = ("flow.add(x, y)", "x.add(y)", "x.add_(y)", "flow.add(x, y, out=z)")
    reserved = RESERVED
    words = PYTHON

    # -- files ----------------------------------------------------------------------------------------------------

    def outputs(self, definitions: Definitions) -> Iterator[Output]:
        sources = source_files(definitions.ops)
        offered = self.names.offered(definitions)
        started = [function.started for function in offered if function.started]
        entries = [self._entry(function) for function in (*offered, *started)]
        templates = self.templates.add(
            functions=stubs.functions,
            in_place_functions=stubs.in_place_functions,
            methods=stubs.methods,
            in_place_methods=stubs.in_place_methods,
            operators=stubs.operators,
            identifier=identifier,
            public=self._public_name,
            string=string,
            classes=self._classes,
            elsewhere=self.elsewhere,
        )
        shared = {
            "sources": sources,
            "dtypes": DTYPES,
            "result_types": self._result_types(entries),
            "slots": {slot: definitions.overloads[name][0] for slot, name in self._slots.items()},
        }
        yield Output(
            f"{FOLDER}/functions.cpp",
            templates.render(
                "functions.cpp.j2", entries=entries, table=FunctionTable(definitions.ops, PYTHON), **shared
            ),
        )
        yield Output(f"{FOLDER}/class_table.cpp", templates.render("class_table.cpp.j2", classes=self._classes))
        yield Output(f"{FOLDER}/tests/classes.json", self._classes.table.calls)
        text = templates.render(
            "examples.py.j2", examples=self.examples.all_lines(), sources=definitions.objects.sources
        )
        yield Output(f"{FOLDER}/tests/test_generated_class_examples.py", text)
        spaces = with_parents(({entry.module for entry in entries} | set(definitions.objects.namespaces)) - {""})
        for namespace in ("", *spaces):
            template = "namespace.pyi.j2" if namespace else "package.pyi.j2"
            members = [entry for entry in entries if entry.module == namespace]
            text = templates.render(
                template,
                entries=members,
                all_entries=entries,
                namespace=namespace,
                inner=[each.removeprefix(f"{namespace}.") for each in spaces if each.rpartition(".")[0] == namespace],
                own_result_types=self._result_types(members),
                **shared,
            )
            folder = "/".join((FOLDER, "oneflow_py", *filter(None, namespace.split("."))))
            yield Output(f"{folder}/__init__.pyi", text)
        text = templates.render("ops.pyi.j2", sources=sources)
        yield Output(f"{FOLDER}/oneflow_py/ops/__init__.pyi", text)
        for source in sources:
            ops = [op for op in definitions.ops if op.location.file == source]
            tests = [test for op in ops for test in self._tests(op)]
            name = PurePath(source).stem
            text = templates.render("test.py.j2", sources=[source], tests=tests)
            yield Output(f"{FOLDER}/tests/test_generated_{name}.py", text)

    @cached_property
    def _classes(self) -> PythonClasses:
        return PythonClasses(self.objects)

    @cached_property
    def examples(self) -> Examples:
        return PythonExamples(self.objects, self._classes.words, self.words, self.public_names)

    def _entry(self, function: Function) -> PythonFunction:
        return PythonFunction(function, self._public_name, function.name in self._attributes)

    @cached_property
    def _attributes(self) -> frozenset[str]:
        """Returns the functions that are attributes of tensors."""
        return frozenset(yaml.safe_load((self.folder / "attributes.yaml").read_text(encoding="utf-8")))

    @cached_property
    def _slots(self) -> Mapping[str, str]:
        """Returns the functions that implement the operators of Python, by special method."""
        path = self.folder / "operators.yaml"
        slots: dict[str, str] = yaml.safe_load(path.read_text(encoding="utf-8"))
        known = {function.name for function in self.names.offered(self.definitions)}
        return {slot: name for slot, name in slots.items() if name in known}

    @staticmethod
    def _result_types(entries: list[PythonFunction]) -> Mapping[str, tuple[str, ...]]:
        """Returns the named tuples that functions return, with their fields."""
        ops = [op for entry in entries for op in entry.overloads]
        return {words.result_type(op): words.named_results(op) for op in ops if words.named_results(op)}

    def _tests(self, op: Op) -> Iterator[Test]:
        name = op.full_name.replace(".", "_").strip("_")
        for number, example in enumerate(op.examples, 1):
            call = self.call_text(example.call)
            yield Test(f"test_{name}_example_{number}", call, self._expected_values(op, example))
        for number, case in enumerate(op.errors, 1):
            call = self.call_text(case.call)
            yield Test(
                f"test_{name}_error_{number}",
                call,
                "",
                self.error_class(case),
                PYTHON.literal(self.error_text(case)),
            )

    @staticmethod
    def _expected_values(op: Op, example: Example) -> str:
        several = len(op.signature.results) > 1 or op.signature.gives_list
        if not several or not isinstance(example.gives, tuple):
            return PYTHON.literal(example.gives)
        tail = "," if len(example.gives) == 1 else ""
        return f"({', '.join(map(PYTHON.literal, example.gives))}{tail})"

    # -- libraries of operators -----------------------------------------------------------------------------------

    def library_function(self, function: Function) -> LibraryFunction:
        entry = self._entry(function)
        text = help_text(self.public_names[function.name], function.overloads, self.public_names.__getitem__)
        return LibraryFunction(
            function,
            self.public_name(function),
            entry.name,
            entry.in_place,
            signature=entry.signature,
            documentation=text,
        )

    def library_stub(self, library: Definitions) -> Output:
        public = self.public_names.__getitem__
        entries = [PythonFunction(function, public, False) for function in library.functions]
        templates = self.templates.add(functions=stubs.functions, in_place_functions=stubs.in_place_functions)
        text = templates.render(
            "library.pyi.j2",
            space=library.space,
            entries=entries,
            result_types=self._result_types(entries),
            sources=source_files(library.ops),
        )
        return Output(f"{library.space}.pyi", text)

    # -- names ----------------------------------------------------------------------------------------------------

    def public_name(self, function: Function) -> str:
        return self._public_name(function.name)

    def _public_name(self, name: str) -> str:
        return self.names.of(name, reserved=RESERVED | NAMES_OF_STUBS)

    def argument_name(self, name: str) -> str:
        return name

    def signature_text(self, function: Function) -> tuple[str, ...]:
        name = self.public_name(function)
        return tuple(words.signature(name, op) for op in function.overloads)

    def member_text(self, member: Member) -> str:
        return self._classes.signature(member)

    def error_class(self, case: ErrorCase) -> str:
        return f"flow.{case.raises}"
