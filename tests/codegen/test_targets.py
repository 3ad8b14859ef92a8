"""What holds for every target, and that nothing but the target itself knows its name."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tokenize
from pathlib import Path

import pytest

from codegen import discover, emit
from codegen.intrinsics import CONTRACTIONS, GATHER, SIZES, VIEW
from codegen.load import load_text
from codegen.model import Definitions
from codegen.names import Names
from tests.codegen.conftest import REPOSITORY


def test_every_folder_is_a_target(definitions: Definitions) -> None:
    for name in discover.names():
        assert discover.language(name, definitions).name == name


def test_no_other_part_of_the_generator_names_a_target() -> None:
    targets = set(discover.names())
    for path in [*(REPOSITORY / "codegen").glob("*.py"), *(REPOSITORY / "codegen" / "kinds").glob("*.py")]:
        for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
            if token.type == tokenize.STRING:
                assert token.string.strip("\"'") not in targets, f"{path.name}:{token.start[0]} names a target"


def test_no_target_imports_another() -> None:
    for name in discover.names():
        for path in (discover.LANGUAGES / name).rglob("*.py"):
            imported = set(re.findall(r"codegen\.languages\.(\w+)", path.read_text()))
            assert imported <= {name}, path


@pytest.mark.parametrize("name", discover.names())
def test_names_yaml_speaks_of_records_that_exist(name: str, definitions: Definitions) -> None:
    language = discover.language(name, definitions)
    language.names.check(definitions)
    raw = language.folder / "names.yaml"
    assert isinstance(Names.read(raw), Names)


@pytest.mark.parametrize("name", [language.name for language in discover.speaking(Definitions(()))])
def test_a_language_has_all_the_words(name: str, definitions: Definitions) -> None:
    language = discover.language(name, definitions)
    assert language.title
    assert language.fence
    assert language.opening
    for function in definitions.functions:
        if function.name in language.names.omitted:
            continue
        assert language.public_name(function)
        assert len(language.signature_text(function)) == len(function.overloads)
        for op in function.overloads:
            for example in op.examples:
                assert language.call_text(example.call)
            for case in op.errors:
                assert language.error_class(case)
                text = language.error_text(case)
                assert "{" not in text.replace("{}", "")
                assert text


def test_the_manual_has_a_page_for_every_function(definitions: Definitions) -> None:
    files = emit.render(discover.language("manual", definitions), definitions)
    pages = {Path(path).stem: text for path, text in files.items()}
    for function in definitions.functions:
        page = pages[function.name]
        for op in function.overloads:
            assert op.summary in page
            for argument in op.signature.arguments:
                assert f"| `{argument.name}` |" in page


def test_functions_of_expressions_are_those_of_the_runtime() -> None:
    def functions(header: str) -> set[str]:
        text = (REPOSITORY / "runtime" / "ops" / header).read_text()
        return set(re.findall(r"^(?:inline )?\w+ (\w+)\(", text, re.MULTILINE))

    assert functions("view_functions.h") == {*VIEW, "member"}
    assert functions("size_functions.h") == {*SIZES, *GATHER}
    rules = (REPOSITORY / "runtime" / "einsum" / "rules.cpp").read_text()
    assert re.findall(r'\{"(\w+)", \w+\}', rules) == list(CONTRACTIONS)


GOOD = """\
- op: {name}
  signature: "{name}(Tensor input, *, int {argument}=1) -> Tensor"
  summary: Does something.
  elementwise: "input"
  dtype: {{accepts: any, result: same}}
  oracle: torch.abs
  examples: [{{call: "{name}([1])", gives: [1]}}]
  errors: [{{call: "{name}('a')", raises: TypeMismatch, says: "{name}: input must be {{Tensor}}, got {{str}}"}}]
"""


@pytest.mark.parametrize(
    ("name", "argument", "says"),
    [
        ("f", "lambda", {"python": "x.yaml:2:34: 'lambda' is a reserved word of Python"}),
        ("f", "typeof", {"js": "x.yaml:2:34: 'typeof' is a reserved word of Node.js"}),
        ("f", "register", {name: f"x.yaml:2:34: 'register' is a reserved word of {name}" for name in ("C", "C++")}),
        ("free", "n", {"c": "x.yaml:1:3: 'of_free' is a name of the C API already"}),
    ],
)
def test_names_that_a_target_cannot_have(name: str, argument: str, says: dict[str, str]) -> None:
    definitions = load_text(GOOD.format(name=name, argument=argument), "x.yaml")
    languages = [discover.language(target, definitions) for target in discover.names()]
    problems = [str(problem) for language in languages for problem in language.problems(definitions)]
    for text in says.values():
        assert any(problem.startswith(text) for problem in problems), problems


@pytest.mark.parametrize(("language", "name"), [("js", "typeof"), ("js", "then"), ("ruby", "send"), ("python", "self")])
def test_a_function_of_a_reserved_name_gets_an_underscore(language: str, name: str) -> None:
    definitions = load_text(GOOD.format(name=name, argument="n"), "x.yaml")
    (function,) = definitions.functions
    assert discover.language(language, definitions).public_name(function) == f"{name}_"


COMPILERS = {
    "operators.h": ["gcc", "-std=c11", "-x", "c"],
    "operators.hpp": ["g++", "-std=c++20", "-x", "c++"],
}


@pytest.mark.parametrize("header", COMPILERS)
def test_the_headers_compile_without_a_warning(header: str, definitions: Definitions, tmp_path: Path) -> None:
    compiler = COMPILERS[header]
    if shutil.which(compiler[0]) is None:
        pytest.fail(f"{compiler[0]} is needed to test the C and C++ headers")
    for target in ("c", "cpp"):
        for path, text in emit.render(discover.language(target, definitions), definitions).items():
            place = tmp_path / "oneflow" / Path(path).name
            place.parent.mkdir(exist_ok=True)
            place.write_text(text)
    main = tmp_path / "main.c"
    main.write_text(f"#include <oneflow/{'oneflow.hpp' if header.endswith('hpp') else header}>\n")
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    include = ["-I", str(tmp_path), "-I", str(REPOSITORY / "runtime" / "include")]
    subprocess.run([*compiler, *flags, *include, str(main)], check=True)
