"""One run of the generator: definitions to files."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codegen import emit
from codegen.errors import TargetError


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

    from codegen import discover
    from codegen.load import definition_files, load

    definitions = load(definition_files(root), root)
    names = discover.names()
    if unknown := [name for name in only if name not in names]:
        discover.language(unknown[0], definitions)  # raises, with a suggestion
    result = Result()
    earlier = {target: set(files) for target, files in manifest.outputs.items()}
    owners: dict[str, str] = {}
    for name in only or names:
        try:
            language = discover.language(name, definitions)
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
            result.changes += emit.changes(root, files, earlier.get(name, ()))
            manifest.outputs[name] = {path: emit.digest(text.encode()) for path, text in files.items()}
    for gone in sorted(earlier.keys() - set(names)):
        result.changes += emit.changes(root, {}, earlier[gone])
        del manifest.outputs[gone]
    result.files = sum(map(len, manifest.outputs.values()))
    if write:
        for change in result.changes:
            emit.apply(root, change)
        complete = not only and not result.failures
        manifest.inputs = inputs if complete else ""
        manifest.write()
    return result
