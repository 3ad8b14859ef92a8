"""The commands: generate, check, list, explain, new."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from codegen.errors import DefinitionError, TargetError

ROOT = Path(__file__).parent.parent


def main(arguments: list[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except DefinitionError as error:
        for problem in error.problems:
            print(problem.with_excerpt(options.root), file=sys.stderr)
        count = len(error.problems)
        print(f"{count} mistake{'s' * (count != 1)}; nothing was written", file=sys.stderr)
    except TargetError as error:
        print(error, file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("codegen", description="Generates everything that follows from opdefs/*.yaml.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: where codegen lies)")
    commands = parser.add_subparsers(required=True, metavar="command")

    generate = commands.add_parser("generate", help="bring all generated files up to date")
    generate.add_argument("--only", action="append", default=[], metavar="TARGET", help="only this target's files")
    generate.set_defaults(run=_generate)

    check = commands.add_parser("check", help="fail, with a diff, when a generated file is not up to date")
    check.set_defaults(run=_check)
    return parser


def _generate(options: argparse.Namespace) -> int:
    from codegen import pipeline

    start = time.monotonic()
    result = pipeline.run(options.root, options.only)
    for change in result.changes:
        print({"missing": "new", "superfluous": "removed", "stale": "changed"}[change.word], change.path)
    for target, reason in result.failures.items():
        print(f"target {target} failed: {reason}", file=sys.stderr)
    seconds = time.monotonic() - start
    print(f"{result.files} files, {len(result.changes)} changed, {seconds:.2f} s")
    return 1 if result.failures else 0


def _check(options: argparse.Namespace) -> int:
    from codegen import pipeline

    result = pipeline.run(options.root, write=False)
    for change in result.changes:
        print(change.diff() or f"{change.word}: {change.path}")
    for target, reason in result.failures.items():
        print(f"target {target} failed: {reason}", file=sys.stderr)
    if result.changes:
        print(f"{len(result.changes)} generated files are not up to date: run `python -m codegen generate`")
    return 1 if result.changes or result.failures else 0
