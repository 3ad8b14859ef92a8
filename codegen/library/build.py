"""Builds a library of operators: records -> sources -> a shared library, and declarations for each language."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codegen import discover
from codegen.definitions import Definitions
from codegen.emit import replace_text
from codegen.errors import DefinitionError, Problem, TargetError
from codegen.function_table import FunctionTable
from codegen.language import Language
from codegen.library.fingerprint import fingerprint
from codegen.library_function import LibraryFunction
from codegen.load import Library, load_library
from codegen.model import Op
from codegen.names import identifier, pascal, source_files
from codegen.printer import string
from codegen.target import LibraryPart, Output, Unit
from codegen.targets.runtime.families import Family
from codegen.templates import Templates

_COMPILE = (
    "-std=c++20", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-fno-semantic-interposition",
    "-DNDEBUG", "-w",
)  # fmt: skip
_LINK = ("-shared", "-Wl,--no-undefined", "-Wl,-z,now,-z,nodelete", "-Wl,--gc-sections", "-s")
_EXPORTS = "{ global: oneflow_operator_library; oneflow_open_operator_library; local: *; };\n"
_FOLDERS = ("runtime", "runtime/include")  # with headers, for all parts
_CONTENTS = "runtime/generated/library/contents.cpp"


@dataclass(frozen=True)
class _LanguageTable:
    """What the table of a language is printed from."""

    name: str
    space: str
    words: str | None
    functions: tuple[LibraryFunction, ...]
    table: FunctionTable


def build(folder: Path, out: Path, root: Path, compiler: Sequence[str] = ()) -> list[Path]:
    """Builds the library of the records in a folder, and returns the files that it wrote to `out`.

    `root` is the repository, and `compiler` the command of a C++ compiler: by default that of CXX, or c++. Raises
    DefinitionError if a record is invalid, and TargetError if the sources cannot be compiled; then nothing is written.
    """
    library = load_library(folder, root)
    definitions = library.definitions
    if not definitions.ops:
        raise TargetError(f"{folder} has no records of operators")
    check_targets(library)
    parts = {name: part for name in discover.names() if (part := _part(name, library, root))}
    languages = discover.languages(library.whole)
    contents = Output(_CONTENTS, _contents(library, languages, parts))
    stubs = [language.library_stub(definitions) for language in languages]
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(temporary)
        for output in (contents, *(output for part in parts.values() for output in part.outputs)):
            path = sources / output.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(output.text, encoding="utf-8")
        made = _compile(library.space, list(parts.values()), sources, root, compiler or _compiler())
        out.mkdir(parents=True, exist_ok=True)
        written = [out / f"{library.space}.so"]
        # A process may have the former file loaded: it is replaced, not overwritten.
        shutil.copy(made, out / f".{made.name}.new")
        os.replace(out / f".{made.name}.new", written[0])
    for stub in stubs:
        replace_text(out / stub.path, stub.text)
        written.append(out / stub.path)
    return written


def _part(name: str, library: Library, root: Path) -> LibraryPart | None:
    return discover.target(name, library.definitions).library_part(library.space, root)


def check_targets(library: Library) -> None:
    """Raises DefinitionError if a target rejects a record or the namespace."""
    problems: list[Problem] = []
    for name in discover.names():
        target = discover.target(name, library.definitions)
        problems += target.problems(library.definitions)
        if library.space in target.reserved:
            text = f"'{library.space}' is a reserved word of {target.title or target.name}"
            problems.append(Problem(library.location, text))
    if problems:
        raise DefinitionError(problems)


# ------------------------------------------------------------------------------------------------ sources


def _contents(library: Library, languages: Sequence[Language], parts: dict[str, LibraryPart]) -> str:
    definitions = library.definitions
    templates = Templates(Path(__file__).parent).add(identifier=identifier, pascal=pascal, string=string)
    return templates.render(
        "contents.cpp.j2",
        space=library.space,
        family=Family(library.space, "opdefs", definitions.ops, definitions),
        called=called_operators(library),
        kernels=[(name, part.kernels) for name, part in parts.items() if part.kernels],
        languages=[_language_table(language, definitions) for language in languages],
        sources=source_files(definitions.ops),
    )


def called_operators(library: Library) -> list[Op]:
    """Returns the operators outside the library that its operators call, in the order of their names."""
    definitions = library.definitions
    own = {op.full_name for op in definitions.ops}
    own |= {op.full_name for each in definitions.gradients.values() for op in each.operators}
    family = Family(library.space, "opdefs", definitions.ops, definitions)
    found = {op.full_name: op for entry in family.entries for op in (*entry.called, *entry.gradient_ops)}
    return [op for name, op in sorted(found.items()) if name not in own]


def _language_table(language: Language, library: Definitions) -> _LanguageTable:
    functions = tuple(map(language.library_function, library.functions))
    table = FunctionTable(library.ops, language.words, language.argument_name)
    words = language.library_words(library)
    return _LanguageTable(language.name, language.own_name(library.space), words, functions, table)


# ------------------------------------------------------------------------------------------------ compilation


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CXX", "")) or ["c++"]


def _compile(space: str, parts: list[LibraryPart], sources: Path, root: Path, compiler: Sequence[str]) -> Path:
    """Returns the shared library of these parts, whose generated sources are in a folder."""
    defined = f'-DONEFLOW_FINGERPRINT="{fingerprint(root)}"'

    def run(unit: Unit, folders: tuple[str, ...]) -> str:
        source = unit.source if (sources / unit.source).exists() else str(root / unit.source)
        made = f"{unit.object}.o"
        # Generated headers come first: a library may have the name of a file of records of oneflow.
        both = (*folders, *_FOLDERS)
        includes = ["-I.", *(f"-I{folder}" for folder in both), *(f"-I{root / folder}" for folder in both)]
        _run([*compiler, *_COMPILE, *unit.options, defined, *includes, "-c", source, "-o", made], sources)
        return made

    units = [(unit, part.folders) for part in parts for unit in part.units]
    units.append((Unit(_CONTENTS, "contents", ("-Os",)), ()))
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        objects = list(threads.map(run, *zip(*units, strict=True)))
    (sources / "exports.map").write_text(_EXPORTS, encoding="utf-8")
    linked = [str(library) for part in parts for library in part.libraries]
    name = f"{space}.so"
    _run([*compiler, *_LINK, "-Wl,--version-script=exports.map", *objects, *linked, "-o", name], sources)
    return sources / name


def _run(command: Sequence[str], folder: Path) -> None:
    """Runs a command. Raises TargetError with what it says if it fails, or if there is no such program."""
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except FileNotFoundError:
        text = f"a library of operators needs a C++ compiler, and there is no program '{command[0]}': set CXX to one"
        raise TargetError(text) from None
    if done.returncode:
        raise TargetError(f"{shlex.join(command)}\n{done.stdout}")
