"""Tests properties of all targets, and that no other part of the generator names a target."""

from __future__ import annotations

import ast
import io
import re
import shutil
import subprocess
import tokenize
from pathlib import Path

import pytest

from codegen import discover, emit
from codegen.definitions import Definitions, Function
from codegen.kinds.contraction import CONTRACTIONS
from codegen.language import Language
from codegen.load import load_text
from codegen.program_functions import MAPS, PROGRAM
from codegen.target import PublicTarget
from tests.codegen.conftest import REPOSITORY


def test_every_folder_is_a_target(definitions: Definitions) -> None:
    for name in discover.names():
        assert discover.target(name, definitions).name == name


def test_no_other_part_of_the_generator_names_a_target() -> None:
    targets = set(discover.names())
    for path in [*(REPOSITORY / "codegen").glob("*.py"), *(REPOSITORY / "codegen" / "kinds").glob("*.py")]:
        for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
            if token.type == tokenize.STRING:
                assert token.string.strip("\"'") not in targets, f"{path.name}:{token.start[0]} names a target"


def test_no_target_imports_another() -> None:
    for name in discover.names():
        for path in (discover.TARGETS / name).rglob("*.py"):
            imported = set(re.findall(r"codegen\.targets\.(\w+)", path.read_text()))
            assert imported <= {name}, path


@pytest.mark.parametrize("name", discover.names())
def test_names_yaml_names_records_that_exist(name: str, definitions: Definitions) -> None:
    target = discover.target(name, definitions)
    if isinstance(target, PublicTarget):
        target.names.check(definitions)
    else:
        assert not (target.folder / "names.yaml").exists()


@pytest.mark.parametrize("name", [language.name for language in discover.languages(Definitions(()))])
def test_language_describes_all_functions(name: str, definitions: Definitions) -> None:
    language = discover.target(name, definitions)
    assert isinstance(language, Language)
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


def test_manual_has_a_page_for_every_function(definitions: Definitions) -> None:
    files = emit.render(discover.target("manual", definitions), definitions)
    pages = {Path(path).stem: text for path, text in files.items()}
    for function in definitions.functions:
        page = pages[function.name]
        for op in function.overloads:
            assert op.summary in page
            for argument in op.signature.arguments:
                assert f"| `{argument.name}` |" in page
            for language in discover.languages(definitions):
                if function.name not in language.names.omitted:
                    assert_shown(language, Function(function.name, (op,)), page)


def assert_shown(language: Language, function: Function, page: str) -> None:
    """Checks that a page has the signature, the examples and the error cases of an overload in a language."""
    (signature,) = language.signature_text(function)
    (op,) = function.overloads
    assert f"```{language.fence}\n{signature}\n```" in page
    for case in (*op.examples, *op.errors):
        assert f"```{language.fence}\n{language.call_text(case.call)}\n```" in page
    for error in op.errors:
        first, *others = language.error_text(error).split("\n")
        assert re.search(rf"^((\S+, )*{re.escape(language.title)}(, \S+)*: +)?{re.escape(first)}$", page, re.MULTILINE)
        assert all(other in page for other in others)
        assert f"`{language.error_class(error)}` (" in page


def test_stubs_document_all_functions(definitions: Definitions) -> None:
    """Checks that every public function, method and class in a Python stub has a docstring."""
    files = emit.render(discover.target("python", definitions), definitions)
    stubs = {path: ast.parse(text) for path, text in files.items() if path.endswith(".pyi")}
    assert stubs
    for path, stub in stubs.items():
        for node in ast.walk(stub):
            if isinstance(node, ast.FunctionDef) and any(
                ast.unparse(d).endswith(".setter") for d in node.decorator_list
            ):
                continue  # the getter has the docstring
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                assert ast.get_docstring(node), f"{path}:{node.lineno}: {node.name}"


@pytest.mark.parametrize(("target", "suffix"), [("python", ".pyi"), ("js", ".d.ts"), ("ruby", ".rbs")])
def test_lines_of_declarations_fit(target: str, suffix: str, definitions: Definitions) -> None:
    files = emit.render(discover.target(target, definitions), definitions)
    declarations = [text for path, text in files.items() if path.endswith(suffix)]
    assert declarations
    assert max(len(line) for text in declarations for line in text.splitlines()) <= 120


def test_intrinsics_match_the_functions_of_the_runtime() -> None:
    def functions(header: str) -> set[str]:
        text = (REPOSITORY / "runtime" / header).read_text()
        return set(re.findall(r"^(?:inline )?(?:const )?[\w:<>]+&? (\w+)\(", text, re.MULTILINE))

    maps = functions("ops/index_map.h")
    assert {*MAPS} <= maps
    assert maps - {*MAPS} - {"position", "regrouped_strides"} <= {*PROGRAM}  # those of a tensor, for maps
    # `given` is a method of the call; subscripts, sums and comparisons of lists, and error texts call the others.
    helpers = {"item", "tensor_item", "joined", "same", "text_of", "to_value", "completed_sizes"}
    of_collectives = {"group_size"} & functions("parallel/processes/patterns.h")
    assert functions("ops/program_functions.h") - helpers == {*PROGRAM} - {"given"} - of_collectives
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
        ("free", "n", {"c": "x.yaml:1:3: 'of_free' is already a name of the C API"}),
    ],
)
def test_reserved_names_are_problems(name: str, argument: str, says: dict[str, str]) -> None:
    definitions = load_text(GOOD.format(name=name, argument=argument), "x.yaml")
    targets = [discover.target(target, definitions) for target in discover.names()]
    problems = [str(problem) for target in targets for problem in target.problems(definitions)]
    for text in says.values():
        assert any(problem.startswith(text) for problem in problems), problems


@pytest.mark.parametrize(("language", "name"), [("js", "typeof"), ("js", "then"), ("ruby", "send"), ("python", "self")])
def test_function_with_a_reserved_name_gets_an_underscore(language: str, name: str) -> None:
    definitions = load_text(GOOD.format(name=name, argument="n"), "x.yaml")
    (function,) = definitions.functions
    target = discover.target(language, definitions)
    assert isinstance(target, Language)
    assert target.public_name(function) == f"{name}_"


COMPILERS = {
    "operators.h": ["gcc", "-std=c11", "-x", "c"],
    "operators.hpp": ["g++", "-std=c++20", "-x", "c++"],
}


@pytest.mark.parametrize("header", COMPILERS)
def test_headers_compile_without_warnings(header: str, definitions: Definitions, tmp_path: Path) -> None:
    compiler = COMPILERS[header]
    if shutil.which(compiler[0]) is None:
        pytest.fail(f"{compiler[0]} is needed to test the C and C++ headers")
    for target in ("c", "cpp"):
        for path, text in emit.render(discover.target(target, definitions), definitions).items():
            copy = tmp_path / "oneflow" / Path(path).name
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(text)
    main = tmp_path / "main.c"
    main.write_text(f"#include <oneflow/{'oneflow.hpp' if header.endswith('hpp') else header}>\n")
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    include = ["-I", str(tmp_path), "-I", str(REPOSITORY / "runtime" / "include")]
    subprocess.run([*compiler, *flags, *include, str(main)], check=True)
