"""Tests docs/einsum.md: the pictures match their script and the results of einsum; the programs print what is shown."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import oneflow_py as flow
from tools.einsum_pictures.drawing import svg
from tools.einsum_pictures.table import PICTURES, Picture
from tools.einsum_pictures.worked import Worked

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("OF_BUILD", ROOT / "build"))
PAGE = (ROOT / "docs" / "einsum.md").read_text(encoding="utf-8")
FOLDER = ROOT / "docs" / "einsum"

# ---------------------------------------------------------------------------------------------- pictures


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_pictures_are_up_to_date_and_correct(picture: Picture) -> None:
    worked = Worked(picture)
    result = flow.einsum(picture.equation, *map(flow.tensor, picture.operands))
    assert result.shape == worked.result.shape
    assert {index: result[index].item() for index in worked.result.values} == worked.result.values
    drawn = (FOLDER / f"{picture.name}.svg").read_text(encoding="utf-8")
    assert drawn == svg(picture), "docs/einsum is not up to date: run `make docs`"


def test_page_shows_all_pictures() -> None:
    shown = set(re.findall(r"!\[.*\]\(einsum/(.*)\.svg\)", PAGE))
    assert shown == {picture.name for picture in PICTURES} == {path.stem for path in FOLDER.iterdir()}


# ---------------------------------------------------------------------------------------------- programs

COMMANDS = {
    "python": [sys.executable, "-c"],
    "js": ["node", "-e"],
    "ruby": ["ruby", f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}", "-e"],
}
PRINTED = {"python": r"^print\(.*\)  # (.*)$", "js": r"^console\.log\(.*\);  // (.*)$", "ruby": r"^p .*? # (.*)$"}


@dataclass
class Program:
    """All blocks of a language, and their output: the comments at the ends of lines, and the text blocks below."""

    blocks: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)


def programs() -> dict[str, Program]:
    found = {language: Program() for language in COMMANDS}
    above: list[str] = []  # the languages of the directly preceding blocks
    for before, language, text in re.findall(r"(.*?)^```(\w+)\n(.*?)^```\n", PAGE, re.DOTALL | re.MULTILINE):
        if before.strip():
            above = []
        if language in found:
            above.append(language)
            found[language].blocks.append(text)
            found[language].printed += re.findall(PRINTED[language], text, re.MULTILINE)
        elif language == "text":
            for each in above:
                found[each].printed += text.splitlines()
    return found


PROGRAMS = programs()


@pytest.mark.parametrize("language", COMMANDS)
def test_programs_print_what_the_page_shows(language: str) -> None:
    program = PROGRAMS[language]
    environment = {**os.environ, "NODE_PATH": str(BUILD / "node_modules")}
    command = [*COMMANDS[language], "\n".join(program.blocks)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert len(program.printed) > 5
    assert done.stdout.splitlines() == program.printed


def test_c_program_prints_the_report(tmp_path: Path) -> None:
    """The program must also compile without warnings."""
    (block,) = re.findall(r"^```c\n(.*?)^```\n", PAGE, re.DOTALL | re.MULTILINE)
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(
        "#include <oneflow/operators.h>\n#include <stdio.h>\n\nint main(void) {\n"
        "of_tensor a = NULL, b = NULL;\n"
        "const int64_t sizes_of_a[2] = {2, 3}, sizes_of_b[2] = {3, 4};\n"
        "if (of_ones(sizes_of_a, 2, NULL, NULL, &a) || of_ones(sizes_of_b, 2, NULL, NULL, &b)) return 1;\n"
        f"{block}of_tensor_release(a);\nof_tensor_release(b);\nreturn (int)status;\n}}\n"
    )
    compiler = shutil.which("cc")
    assert compiler
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Iruntime/include", "-Iruntime/generated/include"]
    libraries = [f"-L{BUILD / 'lib'}", f"-Wl,-rpath,{BUILD / 'lib'}", "-loneflow"]
    subprocess.run([compiler, *flags, source, *libraries, "-o", program], cwd=ROOT, check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == flow.einsum_path("ij,jk->ik", [2, 3], [3, 4]).report
