"""Installs the packages by name in bare roots as the READMEs say, runs their examples, upgrades and uninstalls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.packages import readme
from tests.packages.languages import LANGUAGES, Language, Place
from tests.packages.packagers import OLDER
from tests.packages.report import Report
from tests.packages.roots import REPOSITORY, Root

# The plugin that the tests install: it depends on no library that a bare root lacks.
PLUGIN = "opencl"

Enter = Callable[[Place], Root]


def run_example(root: Root, place: Place, page: Path) -> float:
    """Runs the first example of a page, compares what it prints with its comments, and returns the seconds."""
    text, printed = readme.first_example(page, place.language.fences)
    name = place.language.file_name(text)
    root.write(f"{root.start}/{name}", text)
    done = root.run(f"{place.language.run} {name}")
    root.path(f"{root.start}/{name}").unlink()
    assert printed, f"the first example of {page} prints nothing"
    assert done.output.splitlines() == printed
    return done.seconds


def left(root: Root, language: Language, before: Iterable[str]) -> set[str]:
    """Returns the files that were not there before, without those that the package manager keeps for itself."""
    return {name for name in set(root.files()) - set(before) if not name.startswith(language.kept)}


def test_a_root_reaches_no_other_machine(enter: Enter, place: Place) -> None:
    root = enter(place)
    assert root.path("/etc/resolv.conf").read_text() == ""
    root.run("getent hosts example.org", fails=True)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_main_page_installs_as_the_page_of_the_language_does(language: Language) -> None:
    commands = readme.install_commands(REPOSITORY / "README.md", language.tool)
    assert commands
    assert set(commands) <= set(readme.install_commands(language.page, language.tool))


def test_install_run_and_uninstall(enter: Enter, place: Place, report: Report, version: str) -> None:
    language = place.language
    base, *others = readme.install_commands(language.page, language.tool)
    add_plugin = next(command for command in others if PLUGIN in command)
    root = enter(place)
    before = set(root.files())

    seconds = root.run(base).seconds
    installed = left(root, language, before)
    report.add(place.system, base, seconds, root.size(installed))
    assert root.run(language.version).output.strip() == version
    report.add(place.system, "first example", run_example(root, place, REPOSITORY / "README.md"))
    run_example(root, place, language.page)

    # The bare root has no driver, so the plugin has no device: the runtime finds it, and says so.
    assert PLUGIN not in root.run(language.plugins).output
    seconds = root.run(add_plugin).seconds
    report.add(place.system, add_plugin, seconds, root.size(left(root, language, before) - installed))
    assert f"{PLUGIN}.so" in root.run(language.plugins).output

    root.run(language.uninstall.format(packages=language.names(PLUGIN)))
    assert left(root, language, before) == set()


def test_upgrade(enter: Enter, place: Place, report: Report, version: str) -> None:
    language = place.language
    root = enter(place)
    root.run(language.install_version.format(package=language.package, version=OLDER))
    command = language.upgrade.format(package=language.package)
    report.add(place.system, command, root.run(command).seconds)
    assert root.run(language.version).output.strip() == version
    run_example(root, place, REPOSITORY / "README.md")
