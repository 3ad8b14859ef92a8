"""The command line: generate, build, check, list, explain, gradients, new."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.errors import DefinitionError, TargetError, counted, unknown

if TYPE_CHECKING:
    from codegen.definitions import Definitions

ROOT = Path(__file__).parent.parent


def main(arguments: list[str]) -> int:
    """Runs a command, and returns its exit status: 0, or 1 after an error or if `check` found a difference."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except DefinitionError as error:
        for problem in error.problems:
            print(problem.with_excerpt(options.root), file=sys.stderr)
        print(f"{counted(len(error.problems), 'error')}; nothing was written", file=sys.stderr)
    except BrokenPipeError:
        raise
    except (TargetError, OSError) as error:
        print(error, file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("codegen", description="Generates all files that depend on opdefs/*.yaml.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: the one of this package)")
    commands = parser.add_subparsers(required=True, metavar="command")

    generate = commands.add_parser("generate", help="bring all generated files up to date")
    generate.add_argument("--only", action="append", default=[], metavar="TARGET", help="only this target's files")
    generate.add_argument(
        "--operators",
        type=lambda text: text.split(","),
        default=[],
        metavar="NAME,...",
        help="only these operators, and what they need: for a library that runs known graphs",
    )
    generate.set_defaults(run=_generate)

    build = commands.add_parser("build", help="make a library of operators of a folder of records")
    build.add_argument("folder", type=Path, help="the folder with the records (*.yaml), whose name is the namespace")
    build.add_argument("--out", type=Path, default=Path(), help="where to write it (default: the current folder)")
    build.set_defaults(run=_build)

    check = commands.add_parser("check", help="print a diff and fail if a generated file is not up to date")
    check.set_defaults(run=_check)

    listing = commands.add_parser("list", help="print all records, one per line")
    listing.add_argument("--kind", help="only records of this kind")
    listing.add_argument("--by-kind", action="store_true", help="in groups of the same kind, with the size of each")
    listing.set_defaults(run=_list)

    explain = commands.add_parser("explain", help="print everything that is derived from a record")
    explain.add_argument("op", help="an operator, an overload, a rule, a class or a member: max, max.dim, silu, Graph")
    explain.set_defaults(run=_explain)

    gradients = commands.add_parser("gradients", help="print how the gradient of each record is known")
    gradients.set_defaults(run=_gradients)

    new = commands.add_parser("new", help="print the skeleton of a record")
    new.add_argument("op", help="the name of the operator")
    new.add_argument("--kind", default="elementwise", help="elementwise (the default), reduction, view, ...")
    new.set_defaults(run=_new)
    return parser


def _definitions(options: argparse.Namespace) -> Definitions:
    from codegen.load import definition_files, load

    return load(definition_files(options.root), options.root)


def _generate(options: argparse.Namespace) -> int:
    from codegen import pipeline

    start = time.monotonic()
    result = pipeline.run(options.root, options.only, operators=options.operators)
    for change in result.changes:
        print({"missing": "new", "superfluous": "removed", "stale": "changed"}[change.word], change.path)
    for target, reason in result.failures.items():
        print(f"target {target} failed: {reason}", file=sys.stderr)
    seconds = time.monotonic() - start
    print(f"{result.files} files, {len(result.changes)} changed, {seconds:.2f} s")
    return 1 if result.failures else 0


def _build(options: argparse.Namespace) -> int:
    from codegen.library.build import build

    for path in build(options.folder, options.out, options.root.resolve()):
        print(path)
    return 0


def _check(options: argparse.Namespace) -> int:
    from codegen import pipeline

    result = pipeline.run(options.root, write=False)
    for change in result.changes:
        print(change.diff() or f"{change.word}: {change.path}")
    for target, reason in result.failures.items():
        print(f"target {target} failed: {reason}", file=sys.stderr)
    if result.changes:
        files = counted(len(result.changes), "generated file") + (" is" if len(result.changes) == 1 else " are")
        print(f"{files} not up to date: run `python -m codegen generate`")
    return 1 if result.changes or result.failures else 0


def _list(options: argparse.Namespace) -> int:
    from codegen.explain import by_kind_text, list_text

    _check_kind(options.kind)
    definitions = _definitions(options)
    print(by_kind_text(definitions) if options.by_kind else list_text(definitions, options.kind))
    return 0


def _explain(options: argparse.Namespace) -> int:
    from codegen.explain import explain_text

    print(explain_text(options.op, _definitions(options), options.root))
    return 0


def _gradients(options: argparse.Namespace) -> int:
    from codegen.derive.report import report

    print("\n".join(report(_definitions(options))))
    return 0


def _new(options: argparse.Namespace) -> int:
    from codegen.explain import new_text
    from codegen.signature import OPERATOR_NAME

    _check_kind(options.kind)
    if not OPERATOR_NAME.fullmatch(options.op):
        raise TargetError(f"'{options.op}' is not a name in snake_case")
    print(new_text(options.op, options.kind), end="")
    return 0


def _check_kind(kind: str | None) -> None:
    from codegen.kinds import KINDS

    if kind is not None and kind not in KINDS:
        raise TargetError(unknown("kind", kind, KINDS))
