"""One run of the generator: definitions to files."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codegen import discover, emit
from codegen.errors import DefinitionError, Problem, TargetError, unknown
from codegen.model import Definitions


@dataclass
class Result:
    """What a run came to."""

    changes: list[emit.Change] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)  # by target: why it made no files
    files: int = 0
    was_current: bool = False


def run(root: Path, only: Sequence[str] = (), *, write: bool = True) -> Result:
    """Brings all outputs up to date, or (write=False) only says what would change.

    Raises DefinitionError when any definition is bad; nothing is written then. A target that fails writes nothing
    and leaves the others alone.
    """
    inputs = emit.fingerprint(root, Path(__file__).parent)
    manifest = emit.Manifest.read(root)
    if manifest.is_current(root, inputs):
        return Result(files=sum(map(len, manifest.outputs.values())), was_current=True)

    from codegen.load import definition_files, load

    definitions = load(definition_files(root), root)
    names = discover.names()
    if strange := [name for name in only if name not in names]:
        raise TargetError(unknown("target", strange[0], names))
    result = Result()
    rendered = _render(only or names, definitions, result)
    earlier = {target: set(files) for target, files in manifest.outputs.items()}
    for name, files in rendered.items():
        result.changes += emit.changes(root, files, earlier.get(name, ()))
        manifest.outputs[name] = {path: emit.digest(text.encode()) for path, text in files.items()}
    for gone in sorted(earlier.keys() - set(names)):
        result.changes += emit.changes(root, {}, earlier[gone])
        del manifest.outputs[gone]
    complete = not only and not result.failures
    if complete:
        known = {change.path for change in result.changes}
        wanted = {path for files in manifest.outputs.values() for path in files}
        result.changes += [change for change in emit.orphans(root, wanted) if change.path not in known]
    result.files = sum(map(len, manifest.outputs.values()))
    if write:
        for change in result.changes:
            emit.apply(root, change)
        manifest.inputs = inputs if complete else ""
        manifest.write()
    return result


def _render(names: Sequence[str], definitions: Definitions, result: Result) -> dict[str, dict[str, str]]:
    """The files of each target that did not fail. Raises DefinitionError for what a target has against a record."""
    rendered: dict[str, dict[str, str]] = {}
    owners: dict[str, str] = {}
    problems: list[Problem] = []
    for name in names:
        try:
            language = discover.language(name, definitions)
            problems += language.problems(definitions)
            language.names.check(definitions)
            files = emit.render(language, definitions)
            for path in files:
                if owners.setdefault(path, name) != name:
                    raise TargetError(f"{path} is made by {owners[path]} and by {name}")
        except TargetError as error:
            result.failures[name] = str(error)
        except Exception:
            result.failures[name] = traceback.format_exc()
        else:
            rendered[name] = files
    if problems:
        raise DefinitionError(problems)
    return rendered
