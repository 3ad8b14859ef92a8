"""Tests that all operators of released versions are still known, so that graph files of these versions load."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

import pytest

from codegen.definitions import Definitions
from codegen.former import operators, stored_text
from tests.codegen.conftest import REPOSITORY

GRAPHS = REPOSITORY / "tests" / "data" / "graphs"
RELEASES = sorted(GRAPHS.glob("*/signatures.txt"))


def unknown_in(signatures: list[str], definitions: Definitions) -> list[str]:
    """Returns what is to be done about each operator that is neither a present nor a former one."""
    present = {stored_text(op): op for op in operators(definitions)}
    former = {stored_text(each) for op in definitions.ops for each in op.formerly}
    records = {op.full_name: op for op in definitions.ops}
    found = []
    for text in signatures:
        if text in present or text in former:
            continue
        name = text.split(":")[0]
        base = name.partition("gradient_")[0].rstrip("._") or name
        close = get_close_matches(base, records, 1, 0)
        place = f"{records[close[0]].location} ({close[0]})" if close else "a record"
        found.append(
            f"{text}\n    no operator has this signature any more. Write in {place}, or where it is now:\n"
            f'      formerly: [{{operator: "{text}"}}]\n'
        )
    return found


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.parent.name)
def test_operators_of_a_release_are_known(path: Path, definitions: Definitions) -> None:
    missing = unknown_in(path.read_text().splitlines(), definitions)
    assert not missing, (
        f"Graph files of version {path.parent.name} would not load. docs/reference/records.md says what `formerly` may "
        "have besides. Before that version is released, run python -m tools.graph_fixtures instead.\n"
        + "".join(missing)
    )


def test_there_is_a_folder_for_each_version_of_the_changelog() -> None:
    lines = (REPOSITORY / "CHANGELOG.md").read_text().splitlines()
    versions = [line.removeprefix("## [").rstrip("]") for line in lines if line.startswith("## [")]
    assert set(versions) - {"Unreleased"} == {path.parent.name for path in RELEASES}


def test_an_unknown_operator_is_reported_with_what_to_write(definitions: Definitions) -> None:
    text = "gelu: gelu(Tensor input, int digits=3) -> Tensor"
    known = stored_text(definitions.by_name["gelu"])
    (found,) = unknown_in([known, text], definitions)
    assert f'formerly: [{{operator: "{text}"}}]' in found
    assert f"{definitions.by_name['gelu'].location} (gelu)" in found
